"""Comments that silence findings, baselines, settings, and confirmed assumptions."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.check import baseline
from firstcause.check.confirmed import confirm, confirmed, without_confirmed
from firstcause.check.pipeline import check
from firstcause.check.report import Report
from firstcause.check.settings import is_excluded, read_settings
from firstcause.errors import InputError
from firstcause.schema.finding import Finding
from firstcause.schema.site import Site

LOOP = """import torch
{head}
w = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
{above}
for step in range(100):
    w(torch.randn(8, 4)).pow(2).mean().backward()
    opt.step(){line}
"""


def found(folder: Path, **comments: str) -> Report:
    text = LOOP.format(**{"head": "", "above": "", "line": "", **comments})
    (folder / "train.py").write_text(comments.get("file", "") + text)
    return check([str(folder / "train.py")], str(folder))


def slugs(report: Report) -> list[str]:
    return [f.slug for f in report.findings]


@pytest.mark.parametrize(
    "comments",
    [
        {"line": "  # firstcause: ignore[missing-zero-grad] accumulated on purpose"},
        {"line": "  # firstcause: ignore"},
        {"line": "  # firstcause: ignore[other, missing-zero-grad]"},
        {"above": "# firstcause: ignore[missing-zero-grad] accumulated on purpose"},
        {"file": "# firstcause: ignore[missing-zero-grad]\n"},
    ],
)
def test_a_comment_silences_its_line_its_block_or_its_file(comments: dict[str, str], tmp_path: Path) -> None:
    assert "missing-zero-grad" in slugs(found(tmp_path))
    report = found(tmp_path, **comments)
    assert slugs(report) == []
    assert report.notes == ("1 kept by a comment",)


@pytest.mark.parametrize(
    "comments",
    [
        {"line": "  # firstcause: ignore[another-rule]"},
        {"head": "# firstcause: ignore[missing-zero-grad]"},
        {"line": '\n    print("# firstcause: ignore[missing-zero-grad]")'},
    ],
)
def test_a_comment_elsewhere_or_of_another_rule_silences_nothing(
    comments: dict[str, str], tmp_path: Path
) -> None:
    report = found(tmp_path, **comments)
    assert "missing-zero-grad" in slugs(report)
    assert ("unused-ignore" in slugs(report)) == ("print" not in str(comments))


def test_a_baseline_knows_a_finding_after_lines_have_moved(tmp_path: Path) -> None:
    path = str(tmp_path / "base.json")
    baseline.write(path, found(tmp_path).findings)
    moved = found(tmp_path, file="\n\n", line="   # another comment").findings
    assert baseline.without_known(path, moved) == ([], 1)
    again = [*moved, *moved]
    assert len(baseline.without_known(path, again)[0]) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2, "findings": []}', '{"version": 1}'])
def test_a_damaged_baseline_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "base.json").write_text(text)
    with pytest.raises(InputError) as error:
        baseline.without_known(str(tmp_path / "base.json"), [])
    assert error.value.slug == "baseline-unreadable"


def test_settings_choose_rules_and_paths(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.firstcause.check]\nignore = ["warning", "removed-argument-"]\nexclude = ["examples/*"]\n'
    )
    (tmp_path / "inner").mkdir()
    settings = read_settings(str(tmp_path / "inner"))
    assert not settings.wants(Finding("x", "warning", Site("a.py", 1), ""))
    assert not settings.wants(Finding("removed-argument-tokenizer", "critical", Site("a.py", 1), ""))
    assert settings.wants(Finding("x", "critical", Site("a.py", 1), ""))
    assert is_excluded(str(tmp_path / "examples" / "deep" / "a.py"), str(tmp_path), settings.exclude)
    assert not is_excluded(str(tmp_path / "src" / "a.py"), str(tmp_path), settings.exclude)


@pytest.mark.parametrize("line", ["select = 3", 'other = ["x"]', "select = [1]"])
def test_a_setting_that_is_none_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.firstcause.check]\n{line}\n")
    with pytest.raises(InputError) as error:
        read_settings(str(tmp_path))
    assert error.value.slug == "setting-invalid"


def test_a_confirmed_value_is_not_asked_again_until_it_changes(tmp_path: Path) -> None:
    def assumed(value: str) -> Finding:
        return Finding("assumption-lr", "assumption", Site("a.py", 1), "", got=value, key="learning_rate")

    assert confirm(str(tmp_path), "learning_rate", [assumed("0.1")]) == "0.1"
    known = confirmed(str(tmp_path))
    assert without_confirmed([assumed("0.1")], known) == ([], 1)
    assert without_confirmed([assumed("0.2")], known) == ([assumed("0.2")], 0)
    with pytest.raises(InputError) as error:
        confirm(str(tmp_path), "epochs", [assumed("0.1")])
    assert error.value.slug == "confirm-unknown"
    (tmp_path / ".firstcause" / "confirmed.json").write_text("[]")
    with pytest.raises(InputError) as error:
        confirmed(str(tmp_path))
    assert error.value.slug == "confirmed-unreadable"

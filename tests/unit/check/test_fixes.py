"""Fixes: each makes what the rule's page shows, compiles, ends the finding, and has nothing left to do afterwards."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from firstcause.check.code import Code
from firstcause.check.engine import run_rules
from firstcause.check.fixes import UNSAFE, fix_all, fix_for
from firstcause.check.fixes.edits import Edit, applied
from firstcause.check.rule import MAIN, Example, Rule
from firstcause.check.rules import rules
from firstcause.source.project import Project

FIXABLE = [
    pytest.param(r, e, id=f"{r.SLUG}-{i}")
    for r in rules()
    if fix_for(r.SLUG, unsafe=True) is not None
    for i, e in enumerate(r.BAD)
    if not e.files
]
SHOWN = [pytest.param(r, e, id=f"{r.SLUG}-{i}") for r in rules() for i, e in enumerate(r.BAD) if e.fixed]


def written(example: Example, folder: Path) -> Code:
    folder.mkdir(exist_ok=True)
    for name, text in {MAIN: example.source, **example.files}.items():
        (folder / name).write_text(text)
    return Code(Project(str(folder), [MAIN, *[n for n in example.files if n.endswith(".py")]]))


def fixed_text(rule: Rule, example: Example, folder: Path) -> tuple[int, str]:
    code = written(example, folder)
    findings = run_rules(code, [rule]).findings
    fixed = fix_all(findings, str(folder), [str(folder / MAIN)], unsafe=True)
    raw = fixed.files.get(str(folder / MAIN))
    return fixed.count, raw.decode() if raw is not None else example.source


@pytest.mark.parametrize(("rule", "example"), SHOWN)
def test_a_fix_makes_what_the_page_shows(rule: Rule, example: Example, tmp_path: Path) -> None:
    assert fixed_text(rule, example, tmp_path)[1] == example.fixed


@pytest.mark.parametrize(("rule", "example"), FIXABLE)
def test_a_fixed_program_compiles_and_is_not_fixed_again(
    rule: Rule, example: Example, tmp_path: Path
) -> None:
    count, text = fixed_text(rule, example, tmp_path)
    ast.parse(text)
    assert (count == 0) == (text == example.source)
    (tmp_path / MAIN).write_text(text)
    again = fixed_text(rule, Example(text), tmp_path)
    assert again == (0, text)


@pytest.mark.parametrize(
    "slug", ["unregistered-submodules", "tensor-attribute-not-a-buffer", "loss-arguments-swapped"]
)
def test_unsafe_fixes_are_made_only_when_asked_for(slug: str, tmp_path: Path) -> None:
    assert slug in UNSAFE
    rule = next(r for r in rules() if slug == r.SLUG)
    counts = []
    for number, example in enumerate(rule.BAD):
        folder = tmp_path / str(number)
        findings = run_rules(written(example, folder), [rule]).findings
        assert fix_all(findings, str(folder), [], unsafe=False).files == {}
        counts.append(fix_all(findings, str(folder), [], unsafe=True).count)
    assert sum(counts) > 0


def test_a_fix_keeps_line_ends_and_marks(tmp_path: Path) -> None:
    rule = next(r for r in rules() if r.SLUG == "missing-zero-grad")
    source = "\ufeff" + rule.BAD[0].source.replace("\n", "\r\n")
    (tmp_path / MAIN).write_bytes(source.encode())
    findings = run_rules(Code(Project(str(tmp_path), [MAIN])), [rule]).findings
    fixed = fix_all(findings, str(tmp_path), [])
    raw = fixed.files[str(tmp_path / MAIN)]
    assert raw.startswith(b"\xef\xbb\xbf")
    assert raw.count(b"\xef\xbb\xbf") == 1
    assert raw.count(b"\n") == raw.count(b"\r\n") == source.count("\n") + 1


def test_edits_that_overlap_are_refused() -> None:
    assert applied("abcdef", [Edit(1, 2, "X"), Edit(4, 4, "Y")]) == "aXcdYef"
    with pytest.raises(ValueError, match="overlap"):
        applied("abcdef", [Edit(1, 3, ""), Edit(2, 4, "")])

"""What a dry run does to the findings of a reading."""

from __future__ import annotations

from pathlib import Path

from firstcause.check.dry.commands import Command
from firstcause.check.dry.process import Dry
from firstcause.check.dry.verdicts import CONFIRMED, joined, notes
from firstcause.schema import Site
from firstcause.schema.finding import Finding

ROOT = "/project"
SCRIPT = ROOT + "/train.py"


def read(slug: str, line: int) -> Finding:
    return Finding(slug, "critical", Site("train.py", line), "read")


def dry(findings: list[tuple[str, int]], judged: list[tuple[str, int]] = ()) -> Dry:
    made = [
        {"slug": s, "category": "critical", "message": "run", "place": [SCRIPT, n], "related": []}
        for s, n in findings
    ]
    return Dry(Command(SCRIPT, (), ROOT), made, [{"slug": s, "place": [SCRIPT, n]} for s, n in judged])


def slugs(found: list[Finding]) -> list[tuple[str, int, bool]]:
    return [(f.slug, f.site.line, f.message.endswith(CONFIRMED)) for f in found]


def test_the_same_fault_is_told_once_and_confirmed() -> None:
    assert slugs(joined([read("missing-zero-grad", 9)], [dry([("missing-zero-grad", 9)])], ROOT)) == [
        ("missing-zero-grad", 9, True)
    ]


def test_two_names_of_one_fault_are_one() -> None:
    found = joined([read("tensor-attribute-not-a-buffer", 4)], [dry([("device-mismatch", 7)])], ROOT)
    assert slugs(found) == [("tensor-attribute-not-a-buffer", 4, True)]


def test_what_was_looked_at_and_is_in_order_disappears() -> None:
    run = dry([], [("missing-zero-grad", 9)])
    assert joined([read("missing-zero-grad", 9)], [run], ROOT) == []
    assert slugs(joined([read("missing-zero-grad", 10)], [run], ROOT)) == [("missing-zero-grad", 10, False)]


def test_a_block_is_in_order_where_a_line_in_it_is() -> None:
    whole = Finding("missing-eval-mode", "critical", Site("train.py", 5), "read", end_line=8)
    assert joined([whole], [dry([], [("missing-eval-mode", 7)])], ROOT) == []
    assert joined([whole], [dry([], [("missing-eval-mode", 9)])], ROOT) == [whole]


def test_what_only_a_run_shows_is_added() -> None:
    found = joined([read("not-shuffled", 3)], [dry([("shape-mismatch", 2)])], ROOT)
    assert slugs(found) == [("shape-mismatch", 2, False), ("not-shuffled", 3, False)]


def test_an_end_is_said_with_its_place(tmp_path: Path) -> None:
    run = Dry(
        Command(SCRIPT, (), ROOT),
        end={"outcome": "error", "place": [SCRIPT, 5], "why": "it raises KeyError: 'x'"},
    )
    assert notes(run, ROOT) == [
        "train.py could not be dry-run past train.py:5, because it raises KeyError: 'x'"
    ]


def test_an_end_without_training_is_said() -> None:
    run = Dry(
        Command(SCRIPT, (), ROOT),
        end={"outcome": "finished", "place": ["", 0], "why": "", "forwards": 4, "backwards": 0, "steps": 0},
    )
    assert notes(run, ROOT) == [
        "dry run of train.py: to its end, and nothing was trained, since no optimizer stepped "
        "(forward passes: 4, backward passes: 0)"
    ]
    run.end["steps"] = 6
    assert notes(run, ROOT) == ["dry run of train.py: 6 optimizer steps, to its end"]

"""Each rule speaks on the marked lines of its bad examples, and is silent on the good ones."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from firstcause.check.code import Code
from firstcause.check.engine import run_rules
from firstcause.check.rule import MAIN, MARK, Example, Rule
from firstcause.check.rules import rules
from firstcause.schema import Instruction
from firstcause.source.project import Project


def written(example: Example, folder: Path) -> Code:
    for name, text in {MAIN: example.source, **example.files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    names = [MAIN, *[n for n in example.files if n.endswith((".py", ".ipynb"))]]
    asked = tuple(
        value if isinstance(value, Instruction) else Instruction(key, value, "")
        for key, value in example.asked.items()
    )
    return Code(Project(str(folder), names), instructions=asked)


def lines_of(rule: Rule, example: Example, folder: Path) -> set[tuple[str, int]]:
    outcome = run_rules(written(example, folder), [rule])
    assert outcome.failed == []
    assert {f.slug for f in outcome.findings} <= {rule.SLUG} or rule.SLUG.endswith("-")
    return {(f.site.file, f.site.line) for f in outcome.findings}


def marked(example: Example) -> set[tuple[str, int]]:
    files = {MAIN: example.source, **example.files}
    return {
        (name, number)
        for name, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if line.rstrip().endswith(MARK)
    }


BAD = [pytest.param(r, e, id=f"{r.SLUG}-{i}") for r in rules() for i, e in enumerate(r.BAD)]
GOOD = [pytest.param(r, e, id=f"{r.SLUG}-{i}") for r in rules() for i, e in enumerate(r.GOOD)]


@pytest.mark.parametrize(("rule", "example"), BAD)
def test_a_rule_finds_its_bad_example(rule: Rule, example: Example, tmp_path: Path) -> None:
    assert marked(example)
    assert lines_of(rule, example, tmp_path) == marked(example)


@pytest.mark.parametrize(("rule", "example"), GOOD)
def test_a_rule_is_silent_on_a_good_example(rule: Rule, example: Example, tmp_path: Path) -> None:
    assert lines_of(rule, example, tmp_path) == set()


@pytest.mark.parametrize("rule", rules(), ids=lambda r: r.SLUG)
def test_a_rule_says_why_and_what_refutes_it(rule: Rule) -> None:
    page = rule.__doc__ or ""
    assert [h for h in ("Why:", "Refuted by:", "Holds for:") if h not in page] == []
    assert len(rule.BAD) >= 2
    assert len(rule.GOOD) >= 3
    for example in (*rule.BAD, *rule.GOOD):
        ast.parse(example.source)

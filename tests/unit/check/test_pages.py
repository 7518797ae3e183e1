"""A page for every rule, as docs/rules has it and ``explain`` shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.check.pages import index, name_of, page, rule_named, titles
from firstcause.check.rule import Rule
from firstcause.check.rules import rules

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "rules"


@pytest.mark.parametrize("rule", rules(), ids=lambda r: r.SLUG)
def test_a_page_says_what_its_rule_says(rule: Rule) -> None:
    text = page(rule)
    for heading in ("## Why", "## Refuted by", "## Holds for", "## Found in", "## Not found in"):
        assert heading in text
    assert titles()[name_of(rule)] in text
    assert rule_named(name_of(rule)) is rule


def test_the_pages_on_disk_are_those_of_the_rules() -> None:
    wanted = {f"{name_of(r)}.md": page(r) for r in rules()} | {"README.md": index()}
    assert {p.name: p.read_text(encoding="utf-8") for p in FOLDER.glob("*.md")} == wanted, (
        "run scripts/rule_pages.py"
    )

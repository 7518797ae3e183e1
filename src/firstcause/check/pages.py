"""The page of a rule: its docstring, its category, and its examples; ``docs/rules`` is written from these."""

from __future__ import annotations

import functools
import re

from firstcause.check.rule import MAIN, MARK, Example, Rule
from firstcause.check.rules import rules

_HEADINGS = ("Why", "Refuted by", "Holds for")


@functools.cache
def titles() -> dict[str, str]:
    """The first sentence of each rule, by name."""
    return {name_of(rule): (rule.__doc__ or "").strip().partition("\n")[0] for rule in rules()}


def name_of(rule: Rule) -> str:
    """A rule's slug; its file's name where the slug is only how its findings' begin."""
    return rule.__name__.rpartition(".")[2].replace("_", "-") if rule.SLUG.endswith("-") else rule.SLUG


def rule_named(slug: str) -> Rule | None:
    """The rule of a slug, or of a finding's slug where the rule's own is only its beginning."""
    exact = next((r for r in rules() if slug in (name_of(r), r.SLUG)), None)
    beginning = (r for r in rules() if r.SLUG.endswith("-") and slug.startswith(r.SLUG))
    return exact or next(beginning, None)


def page(rule: Rule) -> str:
    """A rule's page in Markdown."""
    lines = [f"# {name_of(rule)}", "", titles()[name_of(rule)], "", f"Category: {rule.CATEGORY}.", ""]
    for heading, text in _parts(rule.__doc__ or ""):
        lines += [f"## {heading}", "", text, ""]
    bad, good = rule.BAD[0], rule.GOOD[0]
    lines += ["## Found in", "", *_example(bad), "", "## Not found in", "", *_example(good), ""]
    if bad.fixed:
        lines += ["## Corrected by --fix", "", *_code(bad.fixed, MAIN), ""]
    lines += [f"To keep it on a line: `# firstcause: ignore[{rule.SLUG}] reason`", ""]
    return "\n".join(lines)


def _parts(doc: str) -> list[tuple[str, str]]:
    pieces = re.split(rf"^({'|'.join(_HEADINGS)}):", doc, flags=re.MULTILINE)
    return [(pieces[i], " ".join(pieces[i + 1].split())) for i in range(1, len(pieces) - 1, 2)]


def _example(example: Example) -> list[str]:
    lines = _code(example.source, MAIN)
    for name, text in example.files.items():
        lines += ["", f"`{name}`:", "", *_code(text, name)]
    return lines


def _code(text: str, name: str) -> list[str]:
    language = "python" if name.endswith(".py") else name.rpartition(".")[2]
    marked = [
        line.replace(MARK, "# <- here") if line.rstrip().endswith(MARK) else line
        for line in text.splitlines()
    ]
    return [f"```{language}", *"\n".join(marked).strip("\n").split("\n"), "```"]


def index() -> str:
    """The index of all rules in Markdown, by family."""
    families: dict[str, list[Rule]] = {}
    for rule in rules():
        families.setdefault(rule.__name__.split(".")[-2], []).append(rule)
    lines = ["# The rules of check", "", "Written by scripts/rule_pages.py from the rules themselves.", ""]
    for family, members in families.items():
        lines += [f"## {family.replace('_', ' ')}", ""]
        lines += [
            f"- [{name_of(r)}]({name_of(r)}.md) ({r.CATEGORY}): {titles()[name_of(r)]}" for r in members
        ]
        lines.append("")
    return "\n".join(lines)

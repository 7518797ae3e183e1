"""The pages beside a SKILL.md, read where they are needed: causes, patterns, and beliefs that are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from firstcause.catalog.load import load
from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.sayings import misbeliefs
from firstcause.schema import Cause, Pattern
from firstcause.skills.knowledge import SYSTEMATIC, Skill
from firstcause.skills.page import table


def references(skill: Skill) -> dict[str, str]:
    """The pages of a skill by their path below its folder."""
    made: dict[str, list[str]] = {}
    if skill.specialist:
        causes = (cause for cause in load().values() if cause.specialist == skill.slug)
        patterns = (pattern for pattern in load_patterns().values() if pattern.specialist == skill.slug)
        made["references/causes.md"] = ["# Causes", *chain.from_iterable(map(_cause, causes))]
        made["references/patterns.md"] = [
            "# Errors and symptoms",
            *chain.from_iterable(map(_pattern, patterns)),
        ]
    if skill.slug == SYSTEMATIC:
        made["references/beliefs.md"] = [*_beliefs()]
    return {path: "\n".join(lines) + "\n" for path, lines in made.items()}


def _cause(cause: Cause) -> Iterator[str]:
    yield from ("", f"## {cause.slug}", "", f"**{cause.title}.** {cause.mechanism}", "")
    yield f"- Seen: {' '.join(cause.symptoms)}"
    yield f"- Confirmed by: {' '.join(cause.confirms)}"
    yield f"- Refuted by: {' '.join(cause.refutes)}"
    yield f"- Fix: {cause.fix}"
    yield f"- Not fixed by it: {cause.fix_does_not}"
    yield f"- Taken for it: {' '.join(cause.decoys)}"


def _pattern(pattern: Pattern) -> Iterator[str]:
    yield from ("", f"## {pattern.slug}", "", f"**{pattern.title}.** {pattern.definition}", "")
    yield from (f"- Gather: {text}" for text in pattern.gather)
    yield from (f"- {text}" for text in pattern.do_not)
    if pattern.causes:
        yield f"- Leads to: {', '.join(pattern.causes)}."


def _beliefs() -> Iterator[str]:
    yield from ("# Often repeated, and wrong", "")
    yield from table(
        ("claim", "what is so"), ((belief.claim, belief.fact) for belief in misbeliefs().values())
    )

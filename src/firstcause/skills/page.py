"""One SKILL.md: what an agent reads when it takes up a skill."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from firstcause import __version__
from firstcause.catalog.load import load
from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.sayings import excuses, red_flags
from firstcause.skills.knowledge import PITFALL, Skill


def page(skill: Skill) -> str:
    """The whole text of a skill's SKILL.md."""
    lines = [*_front(skill), "", f"# {skill.title}", "", f"**{skill.principle}**"]
    for part in (
        _steps(skill),
        _evidence(skill),
        _tables(skill),
        _flags(skill),
        _excuses(skill),
        _pitfalls(skill),
    ):
        lines += part
    for part in (_edges(skill), _checks(skill), _known(skill)):
        lines += part
    return "\n".join(lines) + "\n"


def _front(skill: Skill) -> Iterator[str]:
    # A JSON string is a YAML string, whatever colons and quotes stand in it.
    yield from (
        "---",
        f"name: {skill.name}",
        f"description: {json.dumps(skill.description, ensure_ascii=False)}",
    )
    yield from ("license: Apache-2.0", "metadata:", "  made-by: firstcause skills export")
    yield from (f'  firstcause-version: "{__version__}"', "---")


def _steps(skill: Skill) -> Iterator[str]:
    yield from ("", "## Steps", "", *(f"{n}. {step}" for n, step in enumerate(skill.steps, 1)))


def _evidence(skill: Skill) -> Iterator[str]:
    yield from ("", "## How to get evidence", "")
    yield from table(("command", "shows"), ((f"`{command}`", shows) for command, shows in skill.commands))
    tools = ", ".join(f"`{tool}`" for tool in skill.tools)
    yield from (
        "",
        f"With the server `firstcause mcp`: {tools}. A refusal names what is missing and the next call.",
    )
    yield "No tool approves a fix: a person does, at a terminal, with `firstcause case approve`."


def _tables(skill: Skill) -> Iterator[str]:
    for one in skill.tables:
        yield from ("", f"## {one.title}", "", *table(one.columns, one.rows))


def _flags(skill: Skill) -> Iterator[str]:
    flags = [flag for flag in red_flags().values() if flag.topic in skill.topics]
    if flags:
        yield from ("", "## Red flags", "")
        yield from table(
            ("thought", "reality", "do instead"), ((f.sign, f.reality, f.instead) for f in flags)
        )


def _excuses(skill: Skill) -> Iterator[str]:
    said = [excuse for excuse in excuses().values() if excuse.topic in skill.topics]
    if said:
        yield from ("", "## Excuses", "", *table(("said", "answer"), ((e.says, e.counter) for e in said)))


def _pitfalls(skill: Skill) -> Iterator[str]:
    if skill.pitfalls:
        rows = ((*pitfall[:3], link(pitfall[3])) for pitfall in skill.pitfalls)
        yield from ("", "## Pitfalls", "", *table(PITFALL, rows))


def link(more: str) -> str:
    """Where a pitfall is told at length: an address, or the command that shows the catalogue's entry."""
    return f"<{more}>" if more.startswith("https://") else f"`firstcause explain {more}`"


def _edges(skill: Skill) -> Iterator[str]:
    if skill.edges:
        yield from ("", "## Edge cases", "", *(f"- **{case}**: {what}" for case, what in skill.edges))


def _checks(skill: Skill) -> Iterator[str]:
    yield from ("", "## Ask yourself", "", *(f"- {question}" for question in skill.checks))


def _known(skill: Skill) -> Iterator[str]:
    if not skill.specialist:
        return
    causes = [f"`{c.slug}`: {c.title}" for c in load().values() if c.specialist == skill.slug]
    patterns = [f"`{p.slug}`" for p in load_patterns().values() if p.specialist == skill.slug]
    yield from ("", "## Causes that firstcause knows here", "")
    yield from ("What confirms and refutes each: [references/causes.md](references/causes.md).", "")
    yield from (f"- {text}" for text in causes)
    yield from ("", "## Errors and symptoms that lead here", "")
    yield f"What to gather and what not to do: [references/patterns.md](references/patterns.md). {', '.join(patterns)}."


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table of Markdown; a bar within a cell does not end it."""
    yield f"| {' | '.join(columns)} |"
    yield "| " + " | ".join("---" for _ in columns) + " |"
    yield from ("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)

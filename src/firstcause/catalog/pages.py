"""The catalogue as pages of the documentation, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstcause.catalog.defects import Defect, load_defects
from firstcause.catalog.load import load
from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.sayings import excuses, misbeliefs, red_flags
from firstcause.catalog.specialists import ROUTES, SPECIALISTS
from firstcause.schema import Cause, Pattern

_MADE = "<!-- Made by `python -m firstcause.catalog.compile` from the catalogue. -->"


def pages() -> dict[str, str]:
    """Every page by its file name: an index, one page for each specialist, patterns, defects, and what people say."""
    made = {f"{slug}.md": _specialist(slug) for slug in SPECIALISTS}
    made |= {
        "README.md": _index(),
        "patterns.md": _patterns(),
        "defects.md": _defects(),
        "sayings.md": _sayings(),
    }
    return {name: "\n".join([_MADE, *lines]) + "\n" for name, lines in made.items()}


def _index() -> list[str]:
    causes, patterns = load(), load_patterns()
    lines = [
        "# The catalogue",
        "",
        f"{len(causes)} causes, {len(patterns)} [patterns of errors and symptoms](patterns.md), {len(load_defects())} "
        "[known defects](defects.md) of libraries, and [what is said instead of looking](sayings.md).",
        "`firstcause explain SLUG` shows an entry in the terminal.",
        "",
        "| specialist | looks at | causes | patterns |",
        "| --- | --- | ---: | ---: |",
    ]
    for slug, looks_at in ROUTES.items():
        own = sum(c.specialist == slug for c in causes.values())
        first = sum(p.specialist == slug for p in patterns.values())
        name = f"[{slug}]({slug}.md)" if slug in SPECIALISTS else slug
        lines.append(f"| {name} | {looks_at} | {own} | {first} |")
    return lines


def _specialist(slug: str) -> list[str]:
    lines = [f"# {slug}", "", f"Looks at {SPECIALISTS[slug]}."]
    for entry in load().values():
        if entry.specialist == slug:
            lines += ["", *_cause(entry)]
    return lines


def _cause(entry: Cause) -> Iterator[str]:
    yield from (f"## {entry.slug}", "", f"**{_text(entry.title)}.** {_text(entry.mechanism)}")
    parts: tuple[tuple[str, Sequence[str]], ...] = (
        ("Symptoms", entry.symptoms),
        ("Confirmed by", entry.confirms),
        ("Refuted by", entry.refutes),
        ("Experiment", [entry.experiment]),
        ("Fix", [entry.fix, entry.fix_changes]),
        ("What the fix does not fix", [entry.fix_does_not]),
        ("Often taken for it", entry.decoys),
    )
    for name, texts in parts:
        yield from ("", f"{name}:", "", *(f"- {_text(text)}" for text in texts))
    yield from ("", f"Proof: {entry.proof if '://' not in entry.proof else f'<{entry.proof}>'}")


def _patterns() -> list[str]:
    lines = ["# Patterns of errors and symptoms"]
    for entry in load_patterns().values():
        lines += ["", *_pattern(entry)]
    return lines


def _pattern(entry: Pattern) -> Iterator[str]:
    yield from (f"## {entry.slug}", "", f"**{_text(entry.title)}.** {_text(entry.definition)}", "")
    first = (
        f"[{entry.specialist}]({entry.specialist}.md)"
        if entry.specialist in SPECIALISTS
        else entry.specialist
    )
    wrapper = "; it reports another failure, which goes before it" if entry.wrapper else ""
    yield f"First looked at by {first}; criticality {entry.criticality} of 6{wrapper}."
    causes = load()
    if entry.causes:
        links = (f"[{slug}]({causes[slug].specialist}.md#{slug})" for slug in entry.causes)
        yield from ("", f"Leads to: {', '.join(links)}.")
    if entry.look_alikes:
        yield from ("", f"Mistaken for: {', '.join(f'[{slug}](#{slug})' for slug in entry.look_alikes)}.")
    yield from ("", "Gather:", "", *(f"- {_text(text)}" for text in entry.gather))
    if entry.do_not:
        yield from ("", "Do not:", "", *(f"- {_text(text)}" for text in entry.do_not))
    if entry.messages:
        yield from ("", "| wording | versions | source |", "| --- | --- | --- |")
        for message in entry.messages:
            yield f"| {_text(message.text)} | {_text(message.versions)} | {_text(message.source)} |"


def _defects() -> list[str]:
    lines = ["# Known defects and changes by version"]
    for entry in load_defects().values():
        lines += ["", *_defect(entry)]
    return lines


def _defect(entry: Defect) -> Iterator[str]:
    versions = f"{entry.library} {entry.versions}".strip()
    yield from (f"## {entry.slug}", "", f"**{_text(entry.title)}** ({_text(versions)}). {_text(entry.what)}")
    yield from ("", "How to tell:", "", *(f"- {_text(text)}" for text in entry.tell))
    yield from ("", f"{_text(entry.remedy)} Source: <{entry.source}>")


def _sayings() -> list[str]:
    lines = [
        "# What is said instead of looking",
        "",
        "## Excuses",
        "",
        "| topic | said | answer |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {e.topic} | {_text(e.says)} | {_text(e.counter)} |" for e in excuses().values()]
    lines += ["", "## Red flags", "", "| topic | sign | reality | instead |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {f.topic} | {_text(f.sign)} | {_text(f.reality)} | {_text(f.instead)} |"
        for f in red_flags().values()
    ]
    lines += [
        "",
        "## Often repeated, and wrong",
        "",
        "| claim | what is so | shown by |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {_text(m.claim)} | {_text(m.fact)} | {m.proof} |" for m in misbeliefs().values()]
    return lines


def _text(text: str) -> str:
    """A text in which Markdown and HTML read nothing of their own."""
    for char in "\\`*_[]<>|":
        text = text.replace(char, "\\" + char)
    return text

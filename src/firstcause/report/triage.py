"""The first step for a text as a person reads it: what was seen, where it belongs, what to do next, what not to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from firstcause.catalog import SPECIALISTS
from firstcause.catalog.advice import load_advice
from firstcause.report.frame import body, columns, heading, next_line, title
from firstcause.report.plain import cropped, harmless, one_line
from firstcause.report.style import Style, style_on
from firstcause.schema.triage import Seen, Triage

_STATUS = {
    "route": ("routed", "green"),
    "clarify": ("one question is open", "yellow"),
    "need-error": ("the error's text is missing", "yellow"),
    "out-of-scope": ("not a PyTorch failure", "yellow"),
}
_ELSEWHERE = {
    "dry-debugging": "the code against what was asked for, before it runs",
    "out-of-scope": "somebody else",
}
_RECORD = "firstcause run python train.py"
# A pattern's line is quoted up to here.
QUOTED = 300


def render_triage(
    triage: Triage, out: TextIO, color: bool = False, width: int = 80, why: bool = False
) -> None:
    """Write the first step for a text; ``why`` adds the features and weights that led to it."""
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _triage(triage, style, why))


def _triage(triage: Triage, style: Style, why: bool) -> Iterator[str]:
    yield from title(_name(triage), *_STATUS[triage.action], style)
    if triage.answered:
        yield from body(triage.answered, style)
    if triage.seen:
        yield from heading("Seen", style)
        for message in _in_order(triage):
            yield from _seen(message, style)
    if triage.handover:
        yield from heading("Better asked", style)
        yield from body(triage.handover + ".", style)
    if triage.question and triage.action == "clarify":
        yield from heading("Question", style)
        yield from body(triage.question, style)
    if triage.question and triage.action == "need-error":
        yield from heading("Paste", style)
        yield from body(triage.question + ".", style)
    if triage.action == "route":
        yield from heading("Where it belongs", style)
        yield from columns(
            [(f"{at}. {name}", looks_at(name)) for at, name in enumerate(triage.routes, 1)], style
        )
    yield from _suspicions(triage, style)
    yield from _listed("Do first", _texts(triage.advice), style)
    yield from _listed("Gather", triage.gather, style)
    yield from _listed("Leave alone", _texts(triage.warned), style)
    if triage.stop_gap:
        yield from heading("Until then", style)
        yield from body(triage.stop_gap, style)
    if why and triage.why:
        yield from _listed("Why", triage.why, style)
    yield from next_line(next_command(triage), style)


def next_command(triage: Triage) -> str:
    """The one command to type next; empty where an answer or a paste comes first."""
    if triage.action != "route":
        return ""
    if "dry-debugging" in triage.routes:
        return "firstcause check train.py"
    return next((s.command.partition(" && ")[0] for s in triage.suspicions), _RECORD)


def looks_at(specialist: str) -> str:
    """What a specialist looks at."""
    return SPECIALISTS.get(specialist) or _ELSEWHERE.get(specialist, "")


def place(message: Seen) -> str:
    """Where a pattern was seen: its line, its rank, how often."""
    # Words beside a traceback have lost their line; a message has its own.
    parts = [f"line {message.line}"] if message.wording else ["in your words"]
    parts += [f"rank {message.rank}"] if message.rank is not None else []
    parts += [f"{message.count} times"] if message.count > 1 else []
    return ", ".join(parts)


def _name(triage: Triage) -> str:
    return ", ".join(triage.order) if triage.order else "no pattern seen"


def _in_order(triage: Triage) -> list[Seen]:
    rank = {pattern: at for at, pattern in enumerate(triage.order)}
    return sorted(triage.seen, key=lambda message: (rank.get(message.pattern, len(rank)), message.line))


def _seen(message: Seen, style: Style) -> Iterator[str]:
    yield f"  {style.bold(one_line(message.pattern))}  {style.dim(place(message))}"
    yield "    " + style.dim(
        cropped(one_line(message.text)[:QUOTED], style.width - 4, style.glyph("…", "..."))
    )


def _suspicions(triage: Triage, style: Style) -> Iterator[str]:
    if not triage.suspicions:
        return
    yield from heading("Suspicions, none of them proven", style)
    before = ""
    for at, suspicion in enumerate(triage.suspicions, 1):
        yield f"  {at}. {style.bold(one_line(suspicion.cause))}  {style.dim(one_line(suspicion.title))}"
        rows = [("for it", suspicion.why)] if suspicion.why != before else []
        before = suspicion.why
        rows += [("confirms", suspicion.confirms), ("refutes", suspicion.refutes)]
        yield from (
            "   " + line for line in columns(rows, Style(style.color, style.width - 3, style.unicode))
        )
    yield from body(f"What tells: {triage.suspicions[0].command}", style)


def _texts(ids: tuple[str, ...]) -> list[str]:
    known = load_advice()
    return [(known.recommended.get(name) or known.warned[name]).says for name in ids]


def _listed(name: str, lines: list[str] | tuple[str, ...], style: Style) -> Iterator[str]:
    if lines:
        yield from heading(name, style)
        for line in lines:
            yield from body("- " + one_line(line), style)


def triage_to_markdown(triage: Triage, why: bool = False) -> str:
    """The first step for a text as Markdown, for an issue or a chat; markup of others disarmed."""
    return "\n".join(_markdown(triage, why)) + "\n"


def _markdown(triage: Triage, why: bool) -> Iterator[str]:
    yield f"# {_safe(_name(triage))}: {_STATUS[triage.action][0]}"
    if triage.answered:
        yield from ("", _safe(triage.answered))
    if triage.seen:
        yield from _section(
            "Seen",
            [f"**{_safe(m.pattern)}** ({place(m)}): {_safe(m.text[:QUOTED])}" for m in _in_order(triage)],
        )
    if triage.handover:
        yield from ("", f"Better asked: {_safe(triage.handover)}.")
    if triage.question:
        yield from ("", f"**{_safe(triage.question)}**")
    if triage.action == "route":
        yield from _section("Where it belongs", [f"{name}: {looks_at(name)}" for name in triage.routes])
    if triage.suspicions:
        yield from (
            "",
            "## Suspicions",
            "",
            "| cause | for it | confirms | refutes |",
            "| --- | --- | --- | --- |",
        )
        yield from (
            "| "
            + " | ".join(_safe(v).replace("|", "\\|") for v in (s.cause, s.why, s.confirms, s.refutes))
            + " |"
            for s in triage.suspicions
        )
    yield from _section("Do first", _texts(triage.advice))
    yield from _section("Gather", [_safe(line) for line in triage.gather])
    yield from _section("Leave alone", _texts(triage.warned))
    if triage.stop_gap:
        yield from ("", f"Until then: {_safe(triage.stop_gap)}")
    if why:
        yield from _section("Why", [_safe(line) for line in triage.why])
    if next_command(triage):
        yield from ("", f"Next: `{next_command(triage)}`")


def _section(name: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"## {name}", "", *(f"- {line}" for line in lines))


def _safe(text: str) -> str:
    return one_line(harmless(text)).replace("&", "&amp;").replace("<", "&lt;").replace("`", "\\`")

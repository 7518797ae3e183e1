"""A case or a run as a comment of a pull request: one that can be found again, and never too long."""

from __future__ import annotations

from firstcause.case import Progress, describe
from firstcause.report.markdown import case_to_markdown
from firstcause.report.plain import harmless, one_line
from firstcause.report.terminal import ending, following
from firstcause.schema import Run

# By this a bot finds its comment of the last time.
MARKER = "<!-- firstcause -->"
# GitHub takes 65,536 characters; the rest is for what a bot adds.
LIMIT = 60_000


def case_comment(progress: Progress) -> str:
    """The case in the form of the gate, at most ``LIMIT`` bytes."""
    return cropped(f"{MARKER}\n{case_to_markdown(progress)}")


def run_comment(run: Run) -> str:
    """What was run, how it ended and what was seen, at most ``LIMIT`` bytes."""
    lines = [
        MARKER,
        f"# Run {_text(run.id)}",
        "",
        *([f"`{one_line(' '.join(run.command)).replace('`', '')}`", ""] if run.command else []),
    ]
    lines += [_text(ending(run)), ""]
    lines += [f"- **{s.kind}**: {_text(describe(s))}" for s in run.symptoms] or ["No symptom was seen."]
    if run.notes:
        lines += ["", "## Notes", "", *(f"- {_text(note)}" for note in run.notes)]
    if run.symptoms:
        lines += ["", f"Next: `{one_line(following(run))}`"]
    return cropped("\n".join(lines) + "\n")


def cropped(text: str, limit: int = LIMIT) -> str:
    """The text cut at the end of a line, a fence that was open there closed, and a line that says so."""
    if len(text.encode()) <= limit:
        return text
    kept: list[str] = []
    fence, size = "", 0
    for line in text.split("\n"):
        size += len(line.encode()) + 1
        # Room for a fence and the last line.
        if size > limit - 200:
            break
        kept.append(line)
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if len(ticks) >= 3 and (not fence or line == fence):
            fence = "" if fence else ticks
    left = text.count("\n") - len(kept)
    kept += [fence] if fence else []
    return "\n".join([*kept, "", f"{left} more lines were left out: a comment takes {limit} bytes.", ""])


def _text(text: str) -> str:
    return harmless(one_line(text)).replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;")

"""What a profile shows, as a person reads it at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from firstcause.diagnose.speed import Profile
from firstcause.report.frame import body, columns, heading, title
from firstcause.report.plain import one_line
from firstcause.report.style import Style, style_on

UTILISATION = (
    "A utilisation figure is no evidence of speed: it says that some kernel ran at the time, not that it did useful work. "
    "What counts is that the same steps take less time with one thing changed."
)


def render_profile(found: Profile, out: TextIO, color: bool = False, width: int = 80) -> None:
    """Write the baseline, where the time goes, and the change that was measured."""
    style = style_on(out, color, width)
    out.writelines(line.rstrip() + "\n" for line in _page(found, style))


def _page(found: Profile, style: Style) -> Iterator[str]:
    if found.why:
        yield from title("profile", "not measured", "yellow", style)
        yield from body(found.why, style)
        return
    proven = found.diagnosis is not None
    yield from title(
        f"profile: {found.kind}",
        "established" if proven else "no change proven",
        "green" if proven else "yellow",
        style,
    )
    yield from heading("Baseline", style)
    yield from body(
        f"{found.steps} steps, {found.step_ms:.2f} ms of processor time each; two measurements differ by "
        f"{100 * found.spread:.1f} %",
        style,
    )
    yield from heading("Where the time goes", style)
    yield from columns([(name, f"{100 * share:.0f} %") for name, share in found.parts], style)
    yield from columns([(f"{100 * share:.0f} %", one_line(text)) for text, share in found.lines], style)
    if found.diagnosis is not None:
        yield from heading("Proven", style)
        site = f" at {found.diagnosis.site}" if found.diagnosis.site else ""
        yield from body(f"{found.diagnosis.cause}{site}: {found.diagnosis.sections['Symptom']}", style)
        yield from body(
            f"With the {'patch' if found.with_patch else 'change'} the same steps take {found.after_ms or 0:.2f} ms each: "
            f"{found.gain or 0:.1f} times as fast, with the same losses.",
            style,
        )
        yield from heading("Proposed Fix", style)
        yield from body(found.diagnosis.sections["Proposed Fix"], style)
        for line in found.diagnosis.fix.diff.splitlines() if found.diagnosis.fix else ():
            yield f"    {line}"
    else:
        yield from heading("Not established", style)
        for text in found.tried or (
            "No line of the program takes a part of the time that a change could be tried on.",
        ):
            yield from body(text, style)
    yield ""
    yield from body(UTILISATION, style)

"""launch-bound: a model is called sample by sample, and each of its many operations takes no longer for all samples at once."""

from __future__ import annotations

from firstcause.schema import Site
from firstcause.source.batched import batched
from firstcause.source.loops import loops_around
from firstcause.source.vectorised import together
from firstcause.specialists import speeds
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.slow import Change, Slow

CAUSE = "launch-bound"
# The pass of a model alone; that of its gradient, which is as split up, is spent in no line of the program.
LEAST_SHARE = 0.2
WAYS = {"batched": batched, "together": together}
WORDS = {
    "batched": "with the model called once for all samples",
    "together": "with the same operations for all samples at once (torch.vmap)",
}
TRAINS = (".backward(", ".step(", ".zero_grad(")


def _mine(examination: Examination) -> Facts:
    measured = speeds.pace(examination)
    if not measured.get("stacks") or examination.project is None or speeds.repeated(examination):
        return {}
    found: list[Facts] = []
    for row in speeds.lines(measured):
        module = examination.project.module(row["file"])
        # Loops within a model's own pass are asked by python-loop-over-elements.
        if module is None or row["called"] <= 0.5 * row["share"]:
            continue
        for statement in loops_around(module, row["line"]):
            last = statement.end_lineno or statement.lineno
            share = speeds.share_of(measured, row["file"], statement.lineno, last)
            text = module.segment(statement)
            ways = [w for w, make in WAYS.items() if make(statement) is not None]
            if share < LEAST_SHARE or any(t in text for t in TRAINS) or not ways:
                continue
            found.append(
                {
                    "file": row["file"],
                    "line": statement.lineno,
                    "column": statement.col_offset,
                    "last": last,
                    "kind": "run",
                    "hot": row["line"],
                    "share": share,
                    "ways": ways,
                }
            )
    return max(found, key=lambda f: (f["share"], f["last"] - f["line"])) if found else {}


def _told(examination: Examination, loop: Facts) -> str:
    place = _site(examination, loop)
    return (
        f"`{place.text if place else ''}` calls the model for one sample after the other, and its small operations take "
        f"{100 * loop['share']:.0f} % of the steps' time without their gradients"
    )


def _site(examination: Examination, loop: Facts) -> Site | None:
    return speeds.site_at(examination, loop["file"], loop["line"])


def _changes(examination: Examination, loop: Facts) -> list[Change]:
    keys = ("file", "line", "column", "last", "kind")
    return [Change(WORDS[w], ({k: loop[k] for k in keys} | {"number": 0, "how": w},)) for w in loop["ways"]]


def _known(examination: Examination, loop: Facts) -> Facts:
    return {k: v for k, v in loop.items() if k != "share"}


_FORM = Slow(CAUSE, _mine, _told, _site, _changes, _known)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts

"""recompiles-every-step: ``torch.compile`` compiles again and again, long after its first steps."""

from __future__ import annotations

import ast

from firstcause.lab.counterfactual import Arm
from firstcause.schema import Site
from firstcause.source.feeds import LOOPS
from firstcause.source.module import Module
from firstcause.specialists import speeds
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.slow import Change, Slow

CAUSE = "recompiles-every-step"
# The first shapes, training and evaluation, and a shape that turns out to vary are compiled once each.
WARM_STEPS, LEAST_LATER = 3, 4
EAGER = (Arm("eager", settings={"eager": True}), Arm("eager again", settings={"eager": True}))


def _mine(examination: Examination) -> Facts:
    measured = speeds.pace(examination)
    later = [c for c in measured.get("compiled") or [] if c["step"] >= WARM_STEPS]
    steps = {c["step"] for c in later}
    if len(steps) < LEAST_LATER or sum(c["seconds"] for c in later) < 0.3 * measured["seconds"]:
        return {}
    last = later[-1]
    again = [c for c in later if (c["file"], c["line"]) == (last["file"], last["line"])]
    reasons = [r for c in again for r in c["reasons"]]
    return {
        "name": last["name"],
        "file": last["file"],
        "defined": last["line"],
        "called": last["site"],
        "times": len(again),
        "steps": measured["steps"],
        "share": sum(c["seconds"] for c in later) / measured["seconds"],
        "reason": reasons[-1] if reasons else None,
    }


def _told(examination: Examination, found: Facts) -> str:
    reason = found["reason"]
    why = f"; a guard failed: {reason['text']}" if reason else ""
    return (
        f"torch.compile compiled `{found['name']}` {found['times']} times more after step {WARM_STEPS} of {found['steps']} "
        f"steps, which is {100 * found['share']:.0f} % of their time{why}"
    )


def _site(examination: Examination, found: Facts) -> Site | None:
    """The call of ``torch.compile`` in a loop; else the line whose guard fails; else the call of what is compiled."""
    if examination.project is None:
        return None
    for module in examination.project.modules:
        for call in module.nodes(ast.Call):
            if _compiles(module, call) and any(isinstance(a, LOOPS) for a in module.ancestors(call)):
                return module.site(call)
    reason = found["reason"] or {}
    at_guard = speeds.site_at(examination, reason["file"], reason["line"]) if reason.get("file") else None
    return at_guard or examination.site(found["called"])


def _compiles(module: Module, call: ast.Call) -> bool:
    return module.segment(call.func) in ("torch.compile", "compile") and bool(call.args)


def _changes(examination: Examination, found: Facts) -> list[Change]:
    return [Change("without compiling (torch.compiler.set_stance('force_eager'))", (), EAGER)]


def _known(examination: Examination, found: Facts) -> Facts:
    site = _site(examination, found)
    return examination.place(vars(site) if site else None) | {"name": found["name"]}


_FORM = Slow(CAUSE, _mine, _told, _site, _changes, _known)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts

"""eval-mode-in-training: an evaluation leaves the model in its mode, and training goes on in it."""

from __future__ import annotations

import ast

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.source import Module
from firstcause.specialists import audits
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "eval-mode-in-training"
# Fewer steps may lie between an evaluation and the end.
LEAST = 5


def left(found: Ran, examination: Examination) -> Facts | None:
    """The steps that ran in the mode of an evaluation before them, with the line that had switched it."""
    modes: Facts = found.facts.get("modes") or {}
    if modes.get("left"):
        one: Facts = modes["left"][0]
        steps = sum(o["steps"] for o in modes["left"]) + modes["without_switch"]
        return one | {"steps": steps} if steps >= LEAST and modes["last"] else None
    # Switched before the first step, and never again: the source must show that an evaluation did it.
    if modes.get("without_switch", 0) >= LEAST and not modes["trained"] and not modes["asked_to_train"]:
        place = _only_evaluation(examination)
        return {"site": place, "steps": modes["without_switch"]} if place is not None else None
    return None


def _only_evaluation(examination: Examination) -> Facts | None:
    """The one ``eval()`` of the program, where it stands in a function that evaluates without gradients."""
    project = examination.project
    modules: list[Module] = project.modules if project is not None else []
    calls = [
        (m, c)
        for m in modules
        for c in m.nodes(ast.Call)
        if isinstance(c.func, ast.Attribute) and c.func.attr == "eval" and not c.args
    ]
    if len(calls) != 1:
        return None
    module, call = calls[0]
    function = module.function(call)
    text = module.segment(function) if isinstance(function, ast.FunctionDef) else ""
    decorators = [module.segment(d) for d in getattr(function, "decorator_list", [])]
    without = any(w in text or any(w in d for d in decorators) for w in ("no_grad", "inference_mode"))
    if not without or ".backward(" in text or ".train(" in text:
        return None
    return {
        "file": module.path,
        "line": call.lineno,
        "function": getattr(function, "name", ""),
        "text": module.line(call.lineno),
    }


def seen(found: Ran, examination: Examination) -> str | None:
    one = left(found, examination)
    if one is None:
        return None
    modes = found.facts["modes"]
    return (
        f"{', '.join(modes['kinds'])} ran in evaluation mode before {one['steps']} of {modes['steps']} steps, as "
        f"{examination.site(one['site'])} had left them after an evaluation"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    return found is not None and left(found, examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = audits.audit(examination)
    one = left(found, examination) if found is not None else None
    if found is None or one is None:
        return inconclusive(CAUSE, "steps in the mode that an evaluation had left")
    modes, site = found.facts["modes"], examination.site(one["site"])
    text = f"{seen(found, examination)}; {modes['trained']} steps ran in training mode"
    values = {k: modes[k] for k in ("steps", "trained", "kinds")} | {"evaluated": one["steps"]}
    return confirmed(CAUSE, site, Evidence("observation", True, text, values, site))


def facts(examination: Examination) -> Facts:
    found = audits.audit(examination)
    one = left(found, examination) if found is not None else None
    if found is None or one is None:
        return {}
    return {
        "switch": examination.place(one["site"]),
        "backward": examination.place(found.rows[0].get("site")),
    }

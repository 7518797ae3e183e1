"""grad-mode-left-disabled: gradient mode is off where the loss is computed, so it has no graph."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import backward_calls, gradient_paths
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay, inconclusive

CAUSE = "grad-mode-left-disabled"


def propose(examination: Examination) -> bool:
    return backward_calls.raised(examination, backward_calls.NO_GRADIENT)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    graph = backward_calls.graph(examination)
    if graph is None:
        return backward_calls.no_graph(hypothesis, examination)
    op = gradient_paths.loss_op(examination, graph)
    if op is None:
        return inconclusive(
            hypothesis.cause, "what backward started from was not computed in the failing step"
        )
    site = examination.site(op["site"])
    if op["grad"]:
        text = f"gradient mode was on at {site}, where {op['op']} made the loss"
        return by_replay(hypothesis, examination, False, text, {"grad": True}, None)
    ops = gradient_paths.behind(examination, op)
    parameters = gradient_paths.trained(ops)
    if not parameters:
        return inconclusive(
            hypothesis.cause,
            "gradient mode was off, but no parameter with requires_grad stands behind the loss",
        )
    off = sum(not o["grad"] for o in ops)
    found = where(examination, graph)
    since = f"switched off at {examination.site(found)}" if found else "off already when the step began"
    text = f"gradient mode was off in {off} of {len(ops)} ops behind the loss of {site}, {since}; "
    text += f"{len(parameters)} uses of parameters with requires_grad stand behind it"
    return by_replay(
        hypothesis, examination, True, text, {"off": off, "ops": len(ops)}, examination.site(found) or site
    )


def where(examination: Examination, graph: Facts) -> Facts | None:
    """The switch that was in force at the loss, if the failing pass made it."""
    root: Facts = next((r for r in graph["backwards"][-1]["roots"] if not r["requires_grad"]), {})
    found = gradient_paths.switch_before(graph, root.get("made_by", 0))
    return found["site"] if found is not None and not found["on"] else None


def facts(examination: Examination) -> Facts:
    graph = backward_calls.graph(examination) or {}
    found = where(examination, graph)
    mode = graph["mode"]
    return {
        "switch": examination.place(found) if found else {},
        "decorator": bool(found and found.get("decorator")),
        "around": [examination.place(p) | {"decorator": p["decorator"]} for p in mode["around"]],
        "inference": mode["inference"],
    }

"""detached-encoder: detach, no_grad, argmax or a way through Python numbers cuts the loss off from parameters."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import audits, backward_calls, cut_parts, gradient_paths
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay, inconclusive

CAUSE = "detached-encoder"


def seen(found: Ran, examination: Examination) -> str | None:
    without = found.facts.get("without_gradient") or []
    if not audits.cuts(found):
        return None
    return (
        f"{len(without)} of {found.facts['held']} parameters of the optimizer "
        f"had no gradient at any of {len(found.rows)} steps"
    )


def propose(examination: Examination) -> bool:
    found = audits.audit(examination)
    if found is not None:
        return bool(audits.cuts(found))
    return backward_calls.raised(examination, backward_calls.NO_GRADIENT)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    audited = audits.audit(examination)
    if audited is not None:
        return cut_parts.settle(CAUSE, examination, audited)
    graph = backward_calls.graph(examination)
    if graph is None:
        return backward_calls.no_graph(hypothesis, examination)
    op = gradient_paths.loss_op(examination, graph)
    if op is None:
        return inconclusive(
            hypothesis.cause, "what backward started from was not computed by an op of the failing step"
        )
    if not op["grad"]:
        text = (
            f"gradient mode itself was off where {op['op']} made the loss at {examination.site(op['site'])}"
        )
        return by_replay(hypothesis, examination, False, text, {"grad": False}, None)
    found = gradient_paths.cut(examination, op)
    back = gradient_paths.round_trip(examination, graph, op) if found is None else None
    if back is not None:
        site, again = examination.site(back["left_at"]), examination.site(back["back_at"])
        text = f"{back['op']} at {site} took {back['elements']} values out of a tensor with a graph, and the same values came "
        text += f"back at {again} in a new tensor without one, which the loss is made from"
        return by_replay(
            hypothesis, examination, True, text, {"op": back["op"], "elements": back["elements"]}, site
        )
    if found is None:
        missing = (
            "no op behind the loss had an input with a graph: nothing trainable leads to it in this step"
        )
        return inconclusive(hypothesis.cause, missing)
    site = examination.site(found["site"])
    how = "ran with gradient mode off" if found["grad"] is False else "gives a result without a graph"
    text = f"{found['op']} at {site} {how}, though its input came from parameters with requires_grad; the loss has no other path"
    return by_replay(hypothesis, examination, True, text, {"op": found["op"], "grad": found["grad"]}, site)


def facts(examination: Examination) -> Facts:
    audited = audits.audit(examination)
    parted = cut_parts.parted(examination, audited) if audited is not None else None
    if parted is not None:
        place = parted.cut
        off = place["kind"] == "gradient mode off"
        where: Facts = examination.place(place["site"]) | {"op": place["kind"], "grad": not off}
        return where | ({"switch": examination.place(place["site"])} if off else {})
    graph = backward_calls.graph(examination) or {}
    op = gradient_paths.loss_op(examination, graph)
    found = (gradient_paths.cut(examination, op) if op is not None else None) or {}
    if op is not None and not found:
        found = gradient_paths.round_trip(examination, graph, op) or {}
        return examination.place(found.get("left_at")) | {"op": found.get("op"), "grad": True}
    given: Facts = examination.place(found.get("site")) | {
        "op": found.get("op"),
        "grad": found.get("grad", True),
    }
    if found and not found["grad"]:
        switch = gradient_paths.switch_before(graph, found["number"])
        given["switch"] = examination.place(switch["site"]) if switch is not None and not switch["on"] else {}
    return given

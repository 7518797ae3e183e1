"""optimizer-step-before-backward: weights change between a forward that saved them and its backward."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import backward_calls
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay, inconclusive

CAUSE = "optimizer-step-before-backward"


def propose(examination: Examination) -> bool:
    return backward_calls.raised(examination, backward_calls.MODIFIED)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    facts = backward_calls.graph(examination)
    if facts is None or not facts["node"]:
        return backward_calls.no_graph(hypothesis, examination)
    if facts["node"]["age"] != backward_calls.THIS_PASS:
        text = f"{facts['node']['name']} was made in {facts['node']['age']}: the graph outlived its own step"
        return inconclusive(hypothesis.cause, text)
    write = backward_calls.first_write(facts)
    if write is None:
        return inconclusive(
            hypothesis.cause, "no op of the replayed step wrote into what the graph had saved"
        )
    where = examination.site((write["step"] or write)["site"])
    saved = backward_calls.tell_saved(examination, facts)
    if not backward_calls.is_update(write):
        text = f"{saved}, and {write['op']} at {where} wrote into it: no update of the weights"
        return by_replay(hypothesis, examination, False, text, write, where)
    who = f"{write['step']['optimizer']}.step()" if write["step"] else f"{write['op']} of a gradient"
    again = examination.site(facts["backwards"][-1]["site"])
    text = f"{saved}; {who} at {where} then changed it, and backward at {again} needs the old value"
    return by_replay(hypothesis, examination, True, text, write, where)


def facts(examination: Examination) -> Facts:
    facts = backward_calls.graph(examination) or {}
    write = backward_calls.first_write(facts) or {}
    stale = facts.get("stale") or {}
    return {
        "step": examination.place((write.get("step") or write).get("site")),
        "stale": examination.place(stale.get("site")),
        "backward": examination.place(facts["backwards"][-1]["site"]),
    }

"""recurrent-state-keeps-graph: a state that goes from one step to the next takes the graph of all steps with it."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Hypothesis
from firstcause.specialists import backward_calls, carried, growth
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay, inconclusive

CAUSE = "recurrent-state-keeps-graph"


def _mine(found: Ran) -> Facts:
    seen = growth.growth(found)
    if not seen or growth.belongs_elsewhere(seen, found):
        return {}
    return seen if seen["kind"] == "graph" and growth.is_state(seen) else {}


# Where backward never walks the state, nothing is raised: memory grows.
_FORM = growth.form(CAUSE, _mine)
seen = _FORM.seen


def propose(examination: Examination) -> bool:
    return _FORM.propose(examination) or any(
        backward_calls.raised(examination, words)
        for words in (backward_calls.SECOND, backward_calls.MODIFIED)
    )


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    if _FORM.propose(examination):
        return _FORM.settle(hypothesis, examination)
    facts = backward_calls.graph(examination)
    if facts is None or not facts["node"]:
        return backward_calls.no_graph(hypothesis, examination)
    node, held = facts["node"], carried.borrowed(facts)
    if carried.is_state(facts) and held is not None:
        site = examination.site(held["site"])
        text = f"{carried.tell(examination, facts)}, and the pass had bound that name to a new tensor by then"
        return by_replay(
            hypothesis, examination, True, text, {"age": node["age"], "shape": held["shape"]}, site
        )
    if node["age"] == backward_calls.THIS_PASS:
        text = f"{node['name']}, the node that refused, was made in this very pass"
    elif held is None:
        return inconclusive(
            hypothesis.cause, f"{carried.tell(examination, facts)}, and no tensor that leads there was seen"
        )
    else:
        text = f"{carried.tell(examination, facts)}: no state that each pass makes anew"
    return by_replay(hypothesis, examination, False, text, {"age": node["age"]}, None)


def facts(examination: Examination) -> Facts:
    if _FORM.propose(examination):
        return {"growth": _FORM.facts(examination)}
    return carried.facts(examination, backward_calls.graph(examination) or {})

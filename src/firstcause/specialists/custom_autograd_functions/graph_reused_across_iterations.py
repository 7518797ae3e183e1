"""graph-reused-across-iterations: backward walks a part of the graph that an earlier backward has already freed."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import backward_calls, carried
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay

CAUSE = "graph-reused-across-iterations"


def propose(examination: Examination) -> bool:
    return any(
        backward_calls.raised(examination, words)
        for words in (backward_calls.SECOND, backward_calls.MODIFIED)
    )


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    facts = backward_calls.graph(examination)
    if facts is None or not facts["node"]:
        return backward_calls.no_graph(hypothesis, examination)
    node = facts["node"]
    if node["age"] == backward_calls.THIS_PASS:
        made = made_before_the_loop(facts)
        # Where the graph was kept and a write is refused, the write is what is wrong.
        if made is not None and backward_calls.raised(examination, backward_calls.SECOND):
            text = (
                f"{node['name']}, reached from {examination.site(made)}, was made once in {made['function']} and is walked "
                f"again by each backward at {examination.site(node['walked_at'])}"
            )
            return by_replay(
                hypothesis, examination, True, text, {"age": node["age"]}, examination.site(made)
            )
        first = examination.site(node["walked_at"])
        text = f"{node['name']} was made in this very pass"
        text += f" and had been walked by backward at {first}" if first else ""
        return by_replay(hypothesis, examination, False, text, {"age": node["age"]}, None)
    if carried.is_state(facts):
        text = f"{carried.tell(examination, facts)}: a state that each pass makes from the one before"
        return by_replay(hypothesis, examination, False, text, {"age": node["age"]}, None)
    again = examination.site(facts["backwards"][-1]["site"])
    text = f"{carried.tell(examination, facts)}; backward at {again} walks into it again"
    held = carried.borrowed(facts) or {}
    return by_replay(
        hypothesis, examination, True, text, {"age": node["age"], "shape": held.get("shape")}, again
    )


def made_before_the_loop(facts: Facts) -> Facts | None:
    """Where the pass made what one backward call, the same line each time, walks twice; None for two lines.

    Two losses that share a graph are walked from two lines, and are another matter.
    """
    node, again = facts["node"], facts["backwards"][-1]["site"] or {}
    walked, made = node["walked_at"] or {}, node.get("made_in")
    here = (again.get("file"), again.get("line"))
    if made is None or None in here or (walked.get("file"), walked.get("line")) != here:
        return None
    return dict(made) if made["line"] < again["line"] else None


def facts(examination: Examination) -> Facts:
    graph = backward_calls.graph(examination)
    made = (
        made_before_the_loop(graph)
        if graph is not None and graph["node"]["age"] == backward_calls.THIS_PASS
        else None
    )
    if graph is not None and made is not None:
        return {
            "made": examination.place(made),
            "backward": examination.place(graph["backwards"][-1]["site"]),
        }
    return carried.facts(examination, backward_calls.graph(examination) or {})

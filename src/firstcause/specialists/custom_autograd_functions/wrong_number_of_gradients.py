"""wrong-number-of-gradients: a backward returns more or fewer gradients than its forward has inputs."""

from __future__ import annotations

import re

from firstcause.schema import Hypothesis
from firstcause.specialists import backward_calls
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay, inconclusive

CAUSE = "wrong-number-of-gradients"
WORDS = "returned an incorrect number of gradients"
_COUNTS = re.compile(
    r"function (\w+) returned an incorrect number of gradients \(expected (\d+), got (\d+)\)"
)


def propose(examination: Examination) -> bool:
    return backward_calls.raised(examination, WORDS)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    graph = backward_calls.graph(examination)
    said = _COUNTS.search(examination.symptom.message)
    if graph is None or not graph["node"] or said is None:
        return backward_calls.no_graph(hypothesis, examination)
    node = graph["node"]
    name, expected, got = said[1], int(said[2]), int(said[3])
    defined = node["defined"]
    if defined is None or node["name"] != name:
        missing = f"the node that failed in the replay is {node['name']}, no function of the program's own"
        return inconclusive(hypothesis.cause, missing)
    site = examination.site(defined)
    used = examination.site(node["site"])
    text = f"{defined['class']}.backward at {site} returned {got} gradients, its forward at {used} was given {expected} inputs"
    text += f", {sum(node['needs'])} of which need one"
    return by_replay(hypothesis, examination, expected != got, text, {"expected": expected, "got": got}, site)


def facts(examination: Examination) -> Facts:
    graph = backward_calls.graph(examination) or {}
    said = _COUNTS.search(examination.symptom.message)
    node = graph["node"]
    counts = {"expected": int(said[2]), "got": int(said[3])} if said else {}
    return (
        examination.place(node["defined"])
        | counts
        | {"class": node["defined"]["class"], "needs": node["needs"]}
    )

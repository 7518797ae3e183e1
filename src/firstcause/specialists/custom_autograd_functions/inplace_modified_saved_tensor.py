"""inplace-modified-saved-tensor: an op kept a tensor for its backward, and another op wrote into it before."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import backward_calls
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay, inconclusive

CAUSE = "inplace-modified-saved-tensor"


def propose(examination: Examination) -> bool:
    return backward_calls.raised(examination, backward_calls.MODIFIED)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    facts = backward_calls.graph(examination)
    if facts is None or not facts["node"]:
        return backward_calls.no_graph(hypothesis, examination)
    if facts["node"]["age"] != backward_calls.THIS_PASS:
        text = f"{facts['node']['name']} was made in {facts['node']['age']}, so the write is not this pass's alone"
        return inconclusive(hypothesis.cause, text)
    write = backward_calls.first_write(facts)
    if write is None:
        return inconclusive(
            hypothesis.cause, "no op of the replayed step wrote into what the graph had saved"
        )
    site = examination.site(write["site"])
    text = f"{backward_calls.tell_saved(examination, facts)}, and {write['op']} at {site} wrote into it"
    if backward_calls.is_update(write):
        return by_replay(
            hypothesis,
            examination,
            False,
            f"{text}: an update of the weights, no op of the model",
            write,
            site,
        )
    modified = facts["modified"]
    text += f": version {modified['version']} at backward, {modified['expected']} when it was saved"
    return by_replay(hypothesis, examination, True, text, write | {"saved": modified["slot"]}, site)


def facts(examination: Examination) -> Facts:
    facts = backward_calls.graph(examination) or {}
    write = backward_calls.first_write(facts) or {}
    running = write.get("running") or {}
    given = examination.place(write.get("site")) | {"op": write.get("op"), "grad": write.get("grad")}
    given |= {"saved_at": examination.place((facts.get("node") or {}).get("site"))}
    if running.get("settings", {}).get("inplace") is True and str(running["defined_in"]).startswith(
        "torch.nn"
    ):
        given |= examination.owner(running["path"]) | {"module_class": running["class"]}
    return given

"""inplace-modified-saved-tensor: an op kept a tensor for its backward, and another op wrote into it before."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import walks
from firstcause.specialists.examination import Examination, Facts

CAUSE = "inplace-modified-saved-tensor"


def propose(examination: Examination) -> bool:
    return walks.raised(examination, walks.MODIFIED)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    facts = walks.graph(examination)
    if facts is None or not facts["node"]:
        return walks.no_graph(hypothesis, examination)
    if facts["node"]["age"] != walks.THIS_PASS:
        text = f"{facts['node']['name']} was made in {facts['node']['age']}, so the write is not this pass's alone"
        return walks.open_question(hypothesis, text)
    write = walks.first_write(facts)
    if write is None:
        return walks.open_question(
            hypothesis, "no op of the replayed step wrote into what the graph had saved"
        )
    site = examination.site(write["site"])
    text = f"{walks.tell_saved(examination, facts)}, and {write['op']} at {site} wrote into it"
    if walks.is_update(write):
        return walks.settled(
            hypothesis,
            examination,
            False,
            f"{text}: an update of the weights, no op of the model",
            write,
            site,
        )
    modified = facts["modified"]
    text += f": version {modified['version']} at backward, {modified['expected']} when it was saved"
    return walks.settled(hypothesis, examination, True, text, write | {"saved": modified["slot"]}, site)


def facts(examination: Examination) -> Facts:
    facts = walks.graph(examination) or {}
    write = walks.first_write(facts) or {}
    running = write.get("running") or {}
    given = examination.place(write.get("site")) | {"op": write.get("op"), "grad": write.get("grad")}
    if running.get("settings", {}).get("inplace") is True and str(running["defined_in"]).startswith(
        "torch.nn"
    ):
        given |= examination.owner(running["path"]) | {"module_class": running["class"]}
    return given

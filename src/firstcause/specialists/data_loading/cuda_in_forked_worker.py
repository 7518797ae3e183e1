"""cuda-in-forked-worker: a worker that was forked after CUDA had begun is told by CUDA that it cannot."""

from __future__ import annotations

import re

from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import loading
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "cuda-in-forked-worker"
# torch's own words since 0.4, and what the driver says where a library calls it without torch.
SAYS = re.compile(r"Cannot re-initialize CUDA in forked subprocess|CUDA error: initialization error")


def propose(examination: Examination) -> bool:
    return loading.failed(examination) and SAYS.search(loading.message(examination)) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    said = SAYS.search(loading.message(examination))
    worker = loading.WORKER.search(loading.message(examination))
    frames = loading.told_by_worker(examination)
    if said is None:
        return inconclusive(CAUSE, "a worker that is refused by CUDA")
    if worker is None:
        return refuted(
            CAUSE, Evidence("observation", False, "it was raised in the program's own process", {})
        )
    if not frames:
        return inconclusive(CAUSE, "the line of the program that asks a worker for CUDA")
    site = examination.site(frames[-1])
    text = (
        f"worker {worker.group(2)} of the loader was refused at {site}: {said.group(0)}; the program's process had begun with "
        "CUDA before it forked its workers"
    )
    values = {"worker": int(worker.group(2)), "said": said.group(0), "line": frames[-1]["text"]}
    return confirmed(CAUSE, site, Evidence("observation", True, text, values, site))


def facts(examination: Examination) -> Facts:
    frames = loading.told_by_worker(examination)
    return examination.place(frames[-1]) if frames else {}

"""worker-killed: a sample ends or stops the process that asks for it, each time; the loader only tells that a worker is gone."""

from __future__ import annotations

import re

from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import loading
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "worker-killed"
# What the main process raises when a worker is gone: by torch's own handler, by a queue that is torn, or by a timeout.
GONE = re.compile(
    r"DataLoader worker|exited unexpectedly|killed by signal|timed out after|Connection reset|ConnectionReset|EOFError|"
    r"BrokenPipe|Bus error|unable to (open|mmap|write)"
)
# Where the batch of a worker is received: under spawn the files of one that is gone are looked for in vain.
RECEIVING = re.compile(r"multiprocessing[/\\](connection|queues|reduction|reductions|resource_sharer)\.py$")


def propose(examination: Examination) -> bool:
    if not loading.failed(examination):
        return False
    return loading.shows(examination, "deaths") or _gone(examination)


def _gone(examination: Examination) -> bool:
    """Whether the main process lost a worker, by what was raised or by where."""
    said = GONE.search(f"{examination.symptom.message}\n{loading.message(examination)}") is not None
    frames = [f for e in loading.chain(examination) for f in e.get("frames") or ()]
    return said or any(RECEIVING.search(f["file"]) for f in frames)


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    message = f"{examination.symptom.message}\n{loading.message(examination)}"
    if loading.WORKER.search(message):
        return refuted(CAUSE, Evidence("observation", False, "the worker raised an exception of its own", {}))
    deaths: list[Facts] = loading.walk(examination).get("deaths") or []
    if not deaths:
        return inconclusive(
            CAUSE, loading.missing(examination, "a sample that ends the process which asks for it")
        )
    one = deaths[0]
    if one["index"] is None or not _alike(one["alone"], one["ended"]):
        return inconclusive(
            CAUSE,
            f"a sample that ends its process alone: batch {one['at'][0]} ended it ({_how(one['ended'])})",
        )
    if examination.symptom.kind == "exception" and not _gone(examination):
        return inconclusive(
            CAUSE, f"the same failure: {loading.name(one)} ends its process ({_how(one['ended'])})"
        )
    site = examination.site(one["site"])
    walk = loading.walk(examination)
    values = {k: one[k] for k in ("index", "who", "ended", "alone")} | {
        "asked": walk["asked"],
        "memory": walk.get("memory"),
    }
    return confirmed(CAUSE, site, loading.experiment(_told(one, walk["asked"], len(deaths)), values, site))


def _alike(one: Facts | None, other: Facts | None) -> bool:
    return one is not None and other is not None and one == other


def _how(ended: Facts) -> str:
    if ended.get("hung"):
        return "it did not come back"
    return f"signal {ended['signal']}, {ended['name']}" if "signal" in ended else f"exit code {ended['exit']}"


def _told(one: Facts, asked: int, deaths: int) -> str:
    what = "never comes back to" if one["ended"].get("hung") else "ends"
    where = f", at `{one['site']['text']}`" if one["site"] else ""
    return (
        f"{loading.name(one)} {what} the process that asks for it ({_how(one['ended'])}{where}), and does so again alone in a "
        f"process of its own; {deaths} of {asked} samples asked for do"
    )


def facts(examination: Examination) -> Facts:
    deaths: list[Facts] = loading.walk(examination).get("deaths") or []
    return examination.place(deaths[0]["site"]) | {"ended": deaths[0]["ended"]} if deaths else {}

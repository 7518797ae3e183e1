"""file-handle-shared-by-forked-workers: a worker's read moves a position that is every worker's, and reads come out mixed."""

from __future__ import annotations

import re

from firstcause.lab.counterfactual import Ran
from firstcause.lab.loading.ask import ask
from firstcause.lab.loading.wrong import has_failed
from firstcause.schema import Hypothesis, Site
from firstcause.source.held import made_at
from firstcause.specialists import loading
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "file-handle-shared-by-forked-workers"
# What keeps a file open; without a word of it in the source, a run that raises nothing is not looked at.
KEEPS = re.compile(
    r"\w+\s*=\s*[\w.]*\b(open|load|File|ZipFile|TarFile|fdopen|FileIO|BufferedReader|GzipFile)\("
)


def seen(found: Ran, examination: Examination) -> str | None:
    handle = _handle(examination)
    return _told(handle) if handle is not None else None


def propose(examination: Examination) -> bool:
    return _handle(examination) is not None


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    handle = _handle(examination)
    if handle is None:
        return inconclusive(CAUSE, loading.missing(examination, "a file whose position the workers share"))
    walk = {} if examination.symptom.kind == "invariant" else loading.walk(examination)
    if has_failed(walk):
        return inconclusive(CAUSE, f"{_told(handle)}; but something else fails without that too")
    site = _site(examination, handle)
    values = {k: handle[k] for k in ("path", "held", "before", "after")} | handle["read"]
    return confirmed(CAUSE, site, loading.experiment(_told(handle), values, site))


def _handle(examination: Examination) -> Facts | None:
    """The shared file whose sharing was seen to change what is read."""
    if examination.symptom.kind == "invariant":
        return examination.once("shared handle", lambda: _of_a_silent_run(examination))
    if not loading.failed(examination):
        return None
    found = loading.asked(examination)
    handle: Facts = {} if isinstance(found, str) else found.get("handle") or {}
    return handle if handle.get("read") else None


def _of_a_silent_run(examination: Examination) -> Facts | None:
    project = examination.project
    if examination.lab is None or project is None or not loading.has_workers(examination):
        return None
    if not any(KEEPS.search(module.text) for module in project.modules):
        return None
    found = ask(examination.lab, silent=True)
    every = [s["handle"] for s in found["seen"] if s.get("handle")] if not isinstance(found, str) else []
    return next((h for h in every if h.get("read")), None)


def _site(examination: Examination, handle: Facts) -> Site | None:
    if handle["opened"] is not None:
        return examination.site(handle["opened"])
    made = made_at(examination.project, handle["held"]) if examination.project and handle["held"] else None
    return made[0].site(made[1]) if made is not None else None


def _told(handle: Facts) -> str:
    read = handle["read"]
    beside = read["beside"]
    error = beside.get("raised")
    how = (
        f"raises {error['type']}: {error['message'].splitlines()[0] if error['message'] else ''}"
        if error
        else "hangs or dies"
        if beside.get("ended")
        else "gives other values"
    )
    held = f" (`{handle['held']['path']}` of {handle['held']['owner']})" if handle["held"] is not None else ""
    return (
        f"the file {handle['path']}{held} is open before the workers begin, and a read in one moves its position for all "
        f"(from {handle['before']} to {handle['after']}): sample {read['index']} {how} where another worker reads sample "
        f"{read['other']} in between, and comes out as alone where each worker has opened the file for itself"
    )


def facts(examination: Examination) -> Facts:
    handle = _handle(examination)
    if handle is None:
        return {}
    return examination.place(handle["opened"]) | {"held": handle["held"]}

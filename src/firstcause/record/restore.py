"""The states of a run's steps that are held, and one of them as a checkpoint, made by a child with the program's torch."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import Any

from firstcause.errors import InputError, RecordError
from firstcause.record.folder import RunFolder
from firstcause.record.supervise import launch
from firstcause.record.whole import check_snapshot

SECONDS = 600.0
# Our package last: it may live in another environment, whose packages must not hide the program's.
CHILD = (
    "import sys; sys.path[:] = [p for p in sys.path if p] + [{home!r}]; "
    "from firstcause.record.observe.checkpoint import main; main()"
)


@dataclass(frozen=True)
class Held:
    """The state before one step, and why it was kept."""

    step: int
    kind: str
    snapshot: str


def held(folder: RunFolder) -> list[Held]:
    """The steps whose state is held, in their order, one of each; raises ``RecordError`` where all are damaged."""
    found: dict[int, Held] = {}
    damaged: RecordError | None = None
    for failure in folder.failures():
        name, step = failure.get("snapshot"), failure.get("step")
        if step is None or not name or os.path.isabs(name) or ".." in name.split("/"):
            continue
        try:
            state = _state(folder, name)
        except RecordError as error:
            damaged = damaged or error
            continue
        if state.get("models"):
            # Of several ranks the first: they hold the same.
            found.setdefault(step, Held(step, failure["kind"], folder.file(name)))
    if damaged is not None and not found:
        raise damaged
    return [found[step] for step in sorted(found)]


def chosen(folder: RunFolder, step: int | None) -> Held:
    """The state to restore: that of ``step``, or the last one; raises ``RecordError`` with those that are held."""
    states = held(folder)
    if not states:
        failures = [f.get("not_saved") or f.get("left_out") for f in folder.failures()]
        why = next((w for w in failures if w), "no failing step was met inside a training loop")
        raise RecordError(
            "no-state-held",
            f"{folder.path} holds the state of no step: {why}",
            "record a run that fails in its loop; --snapshot-size raises the limit",
        )
    if step is None:
        return states[-1]
    for one in states:
        if one.step == step:
            return one
    listed = ", ".join(str(s.step) for s in states)
    raise RecordError(
        "step-not-held",
        f"the state before step {step} is not held; held are: {listed}",
        f"firstcause restore {os.path.basename(folder.path)} --step {states[-1].step} -o FILE",
    )


def checkpoint(folder: RunFolder, state: Held, out: str, forced: bool) -> dict[str, Any]:
    """Write a checkpoint and give what is in it; raises ``RecordError`` where it cannot be made.

    ``bad`` of the answer names values that are not finite; with any, nothing is written unless ``forced``.
    """
    check_snapshot(state.snapshot)
    python = interpreter(folder)
    request = {"snapshot": state.snapshot, "out": os.path.abspath(out), "forced": forced}
    child = [python, "-c", CHILD.format(home=os.path.dirname(launch.PACKAGE))]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTCAUSE_")}
    try:
        done = subprocess.run(
            child,
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RecordError("restore-failed", f"{python} could not make it: {error}", "see doctor") from error
    answer = _answer(done.stdout)
    if "error" in answer or not answer:
        said = answer.get("error") or (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        raise RecordError(
            "restore-failed",
            f"{python} could not make the checkpoint: {said}",
            "activate the environment of the run, in which torch is installed",
        )
    return answer


def interpreter(folder: RunFolder) -> str:
    """The Python that ran the program, else the one that is active now."""
    events = (e for r in folder.journals().values() for e in r.events)
    ran = next((e["executable"] for e in events if e.get("event") == "start" and e.get("executable")), None)
    return ran if isinstance(ran, str) and os.access(ran, os.X_OK) else launch.python()


def refuse_existing(path: str, force: bool) -> None:
    """Raise ``InputError`` where the file is there already and may not be replaced, or cannot be made."""
    if os.path.exists(path) and not force:
        raise InputError(
            "output-exists", f"{path} exists", "choose another file with -o, or -f to replace it"
        )
    above = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path) or not os.path.isdir(above) or not os.access(above, os.W_OK):
        raise InputError("output-unwritable", f"{path} cannot be made", "choose another file with -o")


def _state(folder: RunFolder, name: str) -> dict[str, Any]:
    found = folder.read_json(name, "state.json")
    return found if isinstance(found, dict) else {}


def _answer(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

"""Replay a recorded step or call in a fresh sealed process: started, watched and read from here, without torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from firstcause.lab.counterfactual import Lab
from firstcause.lab.sealed import Ended, command_of, failing_step, run_sealed, unsaved
from firstcause.record.folder import RunFolder

Facts = dict[str, Any]
LAUNCHERS = ("torchrun", "accelerate", "deepspeed")


def replay_fresh(
    folder: RunFolder, failure: Facts, seconds: float, device: str | None = None, copy: str | None = None
) -> Facts:
    """Run the program again, sealed, up to its unit's first mark (or to a call's model), and what failed from there.

    ``device`` leads every other device of the program there. ``copy`` is a folder with the program as it is to be
    run, where that is not the one that was recorded. An error of CUDA's is looked for with each launch waited for, so
    that it is raised where it is made. Returns what the replay says of itself (``status``, ``exact``, ``why``,
    ``trace``); ``status`` is ``lost`` where the process ended without a word.
    """
    run = folder.run()
    if unsaved(failure):
        return _lost(unsaved(failure))
    if "alone" not in failure and len(run.command) and os.path.basename(run.command[0]) in LAUNCHERS:
        return _lost("the command starts several processes; how a rank was started was not recorded")
    extra = failing_step(folder, failure)
    if "call" in failure:
        extra["FIRSTCAUSE_CALL"] = "as recorded" if copy is None else "changed"
    if device is not None:
        # Also where there is another device: the program must not find it.
        extra |= {"FIRSTCAUSE_DEVICE": device, "CUDA_VISIBLE_DEVICES": ""}
    elif "CUDA error" in _message(failure):
        extra["CUDA_LAUNCH_BLOCKING"] = "1"
    try:
        found = _read(run_sealed(folder, extra, {}, seconds, copy, command_of(failure)), seconds)
    except OSError as error:
        return _lost(f"the fresh process could not be started: {error}")
    if "alone" in failure and found["status"] != "lost" and not found["exact"]:
        # What other ranks have a part in, sharded weights for one, is computed from values that nobody had.
        return _lost(found["why"])
    return found


def with_replay(folder: RunFolder, failure: Facts | None, lab: Lab | None) -> Facts | None:
    """A failure that could not be replayed when it happened, replayed now if that is allowed, and kept so in the run."""
    if failure is None or "replay" in failure or unsaved(failure):
        return failure
    if lab is None or not lab.allowed():
        return failure
    # What an assertion on the device meant, only another device can tell. Torch's advice names assertions under each error.
    device = "cpu" if "device-side assert triggered" in _message(failure) else None
    whole = failure | {"replay": replay_fresh(folder, failure, lab.seconds_left, device)}
    if whole["replay"]["status"] != "lost":
        # What a longer budget might still give is asked for again the next time.
        folder.write_json(os.path.join("failures", failure["name"] + ".json"), whole)
    return whole


def meant(failures: Sequence[Facts]) -> Facts:
    """The failure that a run is about: its first; of ranks that failed together, one whose own loss is bad."""
    own = (f for f in failures if "alone" in f and f.get("bad_losses") and f["step"] == failures[0]["step"])
    return next(own, failures[0])


def _message(failure: Facts) -> str:
    return str((failure.get("exception") or [{}])[0].get("message", ""))


def endless_call(folder: RunFolder) -> Facts | None:
    """The failing call of a program that serves: it has no end by which another run could be judged."""
    found = (
        f for f in folder.failures() if "call" in f and f.get("not_replayable") and not f.get("not_saved")
    )
    return next(found, None)


def _read(ended: Ended, seconds: float) -> Facts:
    for result in ended.results:
        return result
    said = f"; it said: {ended.said}" if ended.said else ""
    if ended.code is None:
        return _lost(f"the fresh process did not reach the step within {seconds:.0f} s{said}")
    return _lost(f"the fresh process ended with code {ended.code} before the step{said}")


def _lost(why: str) -> Facts:
    return {"status": "lost", "exact": False, "why": why}

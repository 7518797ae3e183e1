"""Replay a recorded step in a fresh sealed process: started, watched and read from here, without torch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from typing import Any

from firstcause.record.folder import RunFolder
from firstcause.record.supervise import launch

ENOUGH = 1 << 20


def replay_fresh(folder: RunFolder, failure: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Run the program again, sealed, up to its unit's first mark, and the failing step from there.

    Returns what the replay says of itself (``status``, ``exact``, ``why``, ``trace``); ``status`` is ``lost``
    where the process ended without a word.
    """
    run = folder.run()
    if failure.get("not_saved") or not failure.get("snapshot"):
        return _lost(failure.get("not_saved") or "the state of the step was not kept")
    if len(run.command) and os.path.basename(run.command[0]) in ("torchrun", "accelerate", "deepspeed"):
        return _lost("the command starts several processes; a replay of one rank alone is not built yet")
    scratch = tempfile.mkdtemp(prefix="firstcause-")
    result = os.path.join(scratch, "result.json")
    extra = {
        "FIRSTCAUSE_REPLAY": result,
        "FIRSTCAUSE_SCRATCH": os.path.join(scratch, "overlay"),
        "FIRSTCAUSE_SNAPSHOT": folder.file(failure["snapshot"]),
        "FIRSTCAUSE_FAILURE": folder.file("failures", failure["name"] + ".json"),
    }
    os.makedirs(extra["FIRSTCAUSE_SCRATCH"])
    try:
        with open(os.path.join(scratch, "output"), "w+b") as output:
            process = subprocess.Popen(
                list(run.command),
                cwd=run.folder,
                env=launch.environment(folder.path, extra),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                return _lost(f"the fresh process did not reach the step within {seconds:.0f} s")
            output.seek(0)
            said = output.read(ENOUGH).decode(errors="replace").strip().splitlines()
        return _read(result, code, said[-1] if said else "")
    except OSError as error:
        return _lost(f"the fresh process could not be started: {error}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _read(path: str, code: int, last: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.endswith("\n"):
            result: dict[str, Any] = json.loads(text)
            return result
    except (OSError, ValueError):
        last = last or "its result cannot be read"
    return _lost(
        f"the fresh process ended with code {code} before the step{f'; it said: {last}' if last else ''}"
    )


def _lost(why: str) -> dict[str, Any]:
    return {"status": "lost", "exact": False, "why": why}

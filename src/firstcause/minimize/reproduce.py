"""From a recorded failure to a script: the step replayed with a tape, made smaller, and tried in an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from firstcause.errors import RecordError
from firstcause.lab.sealed import failing_step, run_sealed, unsaved
from firstcause.record.folder import RunFolder

TAPE = "firstcause.minimize.tape:Tape"
# Of the budget, for the program itself to come to the step that failed.
ARRIVAL = 30.0
TRIED = 60.0


@dataclass(frozen=True)
class Reproduction:
    """A script that fails as the run did, and what it took: calls of the step, calls left, programs tried."""

    script: str
    calls: int
    left: int
    tried: int
    ends: str

    def lines(self) -> int:
        """Lines that are neither empty nor comments."""
        return sum(
            1 for line in self.script.splitlines() if line.strip() and not line.startswith(("#", '"""'))
        )


def reproduce(folder: RunFolder, failure: dict[str, Any], seconds: float) -> Reproduction:
    """The smallest script found for a failing step.

    Raises ``RecordError`` where the step cannot be replayed, does not fail in a call of torch's, or where the script
    does not fail in an empty folder as the step did.
    """
    if unsaved(failure):
        raise RecordError(
            "nothing-to-replay", unsaved(failure), "record the run again with a larger snapshot budget"
        )
    extra = failing_step(folder, failure) | {
        "FIRSTCAUSE_DEEP": TAPE,
        "FIRSTCAUSE_MINIMIZE_SECONDS": str(max(seconds - ARRIVAL, seconds / 2)),
    }
    ended = run_sealed(folder, extra, {}, seconds + ARRIVAL)
    facts = _read(ended.lines)
    trace = facts.get("trace") or {}
    if not trace.get("script"):
        why = trace.get("why") or facts.get("why") or ended.said or "the replay ended without a word"
        raise RecordError(
            "not-reproduced", f"the step cannot be made smaller: {why}", "firstcause replay shows how it goes"
        )
    script = "\n".join(trace["script"]) + "\n"
    ends = tried_alone(script)
    if not ends:
        message = "the script that was left does not fail in an empty folder"
        raise RecordError(
            "not-reproduced", message, "firstcause replay shows whether the step replays exactly"
        )
    return Reproduction(script, trace["calls"], trace["left"], trace["tried"], ends)


def tried_alone(script: str) -> str:
    """The last line that a script says in an empty folder with a Python of its own; empty where it comes to its end."""
    with tempfile.TemporaryDirectory(prefix="firstcause-") as empty:
        path = os.path.join(empty, "repro.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("FIRSTCAUSE", "PYTHONPATH"))}
        done = subprocess.run(
            [_python(), path], cwd=empty, env=kept, capture_output=True, text=True, timeout=TRIED, check=False
        )
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return (said[-1] if said else f"exit code {done.returncode}") if done.returncode else ""


def _python() -> str:
    active = os.environ.get("VIRTUAL_ENV")
    inside = os.path.join(active, "bin", "python") if active else ""
    return inside if inside and os.path.exists(inside) else sys.executable


def _read(lines: tuple[str, ...]) -> dict[str, Any]:
    for line in lines:
        try:
            found: dict[str, Any] = json.loads(line)
        except ValueError:
            # Cut short as the process was ended.
            continue
        return found
    return {}

"""The dry run of a check: every program of the paths, one after the other, within one budget."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Sequence

from firstcause.check.dry.commands import commands
from firstcause.check.dry.process import WALL, Dry, run_dry
from firstcause.check.dry.verdicts import joined, notes
from firstcause.schema.finding import Finding

# Below this no program gets as far as a step.
LEAST = 5.0


def dry_run(
    findings: Sequence[Finding], root: str, files: Sequence[str], command: str = "", home: str | None = None
) -> tuple[list[Finding], list[str]]:
    """Findings of a reading with what running the programs on tensors without data says, and notes on how far they ran.

    ``files`` are those of the check; ``command`` starts one program where theirs is not found by itself. Paths are written
    from ``root``, and programs that were found are started in ``home``, by default there too.
    Raises ``InputError`` where ``command`` starts no script.
    """
    home = root if command else home or root
    chosen = commands(home, files, command)
    if importlib.util.find_spec("torch") is None:
        why = "no dry run: torch is not installed beside firstcause; install firstcause into the program's environment"
        return list(findings), [why]
    end = time.monotonic() + WALL
    runs: list[Dry] = []
    left: list[str] = []
    said: list[str] = []
    for one in chosen:
        rest = end - time.monotonic()
        if runs and rest < LEAST:
            left.append(str(one))
            continue
        try:
            runs.append(run_dry(one, _folder(home, one.script), max(rest, LEAST)))
        except OSError as error:
            said.append(f"{one} could not be dry-run: its process could not be started: {error}")
    said += [line for run in runs for line in notes(run, root)]
    if left:
        said.append(
            f"not dry-run, since {WALL:.0f} s were used up: {', '.join(left)}; give --command for one of them"
        )
    if not chosen:
        said.append(
            "no dry run: no file here does anything when it is run; give --command 'python train.py …'"
        )
    return joined(findings, runs, root), said


def _folder(root: str, script: str) -> str:
    """What counts as the user's own code: the folder of the check, or the script's, where that lies elsewhere."""
    script = os.path.dirname(os.path.abspath(script))
    return root if script == root or script.startswith(root + os.sep) else script

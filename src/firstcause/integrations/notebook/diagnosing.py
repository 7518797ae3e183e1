"""Where a cell has failed: the cells as a script, recorded, and what a diagnosis of that run says."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence

from firstcause.errors import InputError
from firstcause.integrations.again import diagnosed, recorded
from firstcause.integrations.notebook.cells import NAME, Cell, Script

USAGE = "%%firstcause [--audit] [--budget SECONDS] [--theory TEXT]"


def options(line: str) -> argparse.Namespace:
    """The options of ``%%firstcause``; raises ``InputError`` where they are none."""
    parser = argparse.ArgumentParser(
        prog="%%firstcause", add_help=False, exit_on_error=False, allow_abbrev=False
    )
    parser.add_argument("--audit", action="store_true")
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--theory", action="append", default=[])
    try:
        asked, left = parser.parse_known_args(shlex.split(line))
    except (argparse.ArgumentError, ValueError) as error:
        raise InputError("magic-options", f"%%firstcause {line}: {error}", USAGE) from error
    if left:
        raise InputError("magic-options", f"%%firstcause takes no {left[0]!r}", USAGE)
    return asked


def answer(
    cells: Sequence[Cell], folder: str, asked: argparse.Namespace, error: BaseException | None, bad: str
) -> str:
    """What the diagnosis of the cells says, run once more from their start as a script in a process of its own.

    ``folder`` is where the first of them ran; ``error`` and ``bad`` are what the last cell showed in the kernel. Raises
    ``InputError`` where the script cannot be written.
    """
    script = Script(cells, folder)
    script.write()
    # A backend of the notebook is none of a script's.
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    run = recorded([sys.executable, script.path], folder, environment)
    if run is None:
        return f"firstcause: the cells could not be recorded; next: firstcause run python {script.path}"
    seen = run["symptoms"][0]["message"] if run["symptoms"] else "nothing"
    otherwise = not seen.startswith(type(error).__name__) if error is not None else bad and seen == "nothing"
    if otherwise and not any(s["kind"] == "nan" for s in run["symptoms"]):
        return (
            f"firstcause: here the cell shows {bad or repr(error)}, and run again from their start the cells show {seen}: "
            f"what a failed cell left, or chance, is missing there; next: firstcause run python {script.path}"
        )
    theories = [word for theory in asked.theory for word in ("--theory", theory)]
    text = diagnosed(run["id"], folder, environment, asked.budget, *theories)
    legend = script.legend(text)
    if "firstcause case approve" in text:
        legend.append(f"an approved fix changes {NAME} and not the notebook: change the cell by hand")
    return "\n".join([text, "", *legend]).rstrip()

"""A step put on a tape and made small, for the tests of this folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from firstcause.minimize.said import last_exception
from firstcause.minimize.tape import Tape


def facts_of(step: Any, parameters: Any = ()) -> dict[str, Any]:
    """What is made of the tape of a step that may raise."""
    tape, error = Tape(), None
    try:
        with tape:
            step()
    except Exception as raised:  # noqa: BLE001
        error = raised
    return tape.facts(list(parameters), error)


def ends_of(facts: dict[str, Any], folder: Path) -> tuple[str, str, str]:
    """How the script ends in a Python of its own: type, plain message, first line."""
    assert "scripts" in facts, facts
    path = folder / "repro.py"
    path.write_text("\n".join(facts["scripts"][0]) + "\n")
    done = subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return last_exception(done.stderr)


def lines_of(facts: dict[str, Any]) -> list[str]:
    return [line for line in facts["scripts"][0] if line.strip()]

"""A program recorded now, for a verb that needs its run: the newest run may be another's."""

from __future__ import annotations

import json
from collections.abc import Sequence

from firstcause.errors import RecordError
from firstcause.record.folder import RunFolder
from firstcause.record.supervise import afterwards


def words(program: Sequence[str], answer: str) -> list[str]:
    """The words of firstcause that record ``program`` and write its run into the file ``answer``."""
    return ["run", "-q", "--json", answer, *program]


def run_of(answer: str, cwd: str) -> RunFolder:
    """The run that ``answer`` tells of; raises ``RecordError`` where the recording left none."""
    try:
        with open(answer, encoding="utf-8") as file:
            name = str(json.load(file)["id"])
    except (OSError, ValueError, KeyError) as error:
        raise RecordError(
            "not-recorded",
            f"the program could not be recorded: {error}",
            "firstcause doctor tells what is in the way",
        ) from error
    return afterwards.found(name, cwd)

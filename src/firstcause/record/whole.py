"""Whether a snapshot on disk is as it was written: looked at without torch, before a process is started to load it."""

from __future__ import annotations

import os
import zipfile

from firstcause.errors import RecordError
from firstcause.record import checked


def check_snapshot(path: str) -> None:
    """Read all of the snapshot in folder ``path`` once; raises ``RecordError`` where a part is missing or damaged."""
    for name, damage in (("state.json", _json), ("state.pt", _archive)):
        file = os.path.join(path, name)
        why = damage(file)
        if why:
            raise RecordError(
                "snapshot-damaged", f"{file} is not as it was written: {why}", "record the run again"
            )


def _json(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            checked.loads(file.read())
    except (OSError, ValueError) as error:
        return str(error)
    return ""


def _archive(path: str) -> str:
    """What is wrong with a zip archive; each of its entries carries a checksum."""
    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
    except Exception as error:  # noqa: BLE001
        # What a damaged archive raises is listed nowhere, and is never ours.
        return str(error) or type(error).__name__
    return f"{bad} does not fit its checksum" if bad else ""

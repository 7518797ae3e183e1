"""The figures of a run as one table of comma-separated values, every row that was recorded."""

from __future__ import annotations

import csv
import json
import os
from array import array
from typing import TextIO

from firstcause.record import journal
from firstcause.record.folder import RunFolder
from firstcause.view.following import STEP, frames_of, journals_of


def write_table(run: RunFolder, out: TextIO) -> int:
    """Write a row a process and step, columns as in the journals, nothing where a row lacks one; the number of rows.

    Nine digits hold a float32 to the last bit; what is not finite stands as nan, inf and -inf.
    """
    paths = journals_of(run)
    columns = list(dict.fromkeys(name for path in paths for _, names in _schemas(path) for name in names))
    place = {name: at for at, name in enumerate(columns)}
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["process", "step", *map(_inert, columns)])
    rows = 0
    for path in paths:
        process = os.path.basename(path).removesuffix(".journal")
        known: dict[int, list[int]] = {}
        for _, kind, number, payload in frames_of(path):
            if kind == journal.SCHEMA:
                known[number] = [place[name] for name in json.loads(payload)]
            elif kind == journal.METRICS and number in known:
                values = array("f", payload[STEP.size :])
                if len(values) != len(known[number]):
                    continue
                cells = [""] * len(columns)
                for at, value in zip(known[number], values, strict=True):
                    cells[at] = f"{value:.9g}"
                table.writerow([process, STEP.unpack_from(payload)[0], *cells])
                rows += 1
    return rows


def _schemas(path: str) -> list[tuple[int, list[str]]]:
    return [(n, json.loads(payload)) for _, kind, n, payload in frames_of(path) if kind == journal.SCHEMA]


def _inert(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name

"""The figures of a run as comma-separated values, a row a process and step."""

from __future__ import annotations

import csv
from typing import TextIO

from firstcause.exchange.outgoing.rows import OWN, columns, rows, title
from firstcause.record.folder import RunFolder


def write_csv(run: RunFolder, out: TextIO) -> int:
    """Write every row that was recorded, nothing where it lacks a column; the number of rows.

    Nine digits hold a float32 to the last bit; what is not finite stands as nan, inf and -inf.
    """
    names = columns(run)
    place = {name: at for at, name in enumerate(names)}
    table = csv.writer(out, lineterminator="\n")
    table.writerow([*OWN, *(_inert(title(n)) for n in names)])
    count = 0
    for row in rows(run):
        cells = [""] * len(names)
        for name, value in zip(row.columns, row.values, strict=True):
            cells[place[name]] = f"{value:.9g}"
        table.writerow([row.process, row.step, *cells])
        count += 1
    return count


def _inert(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name

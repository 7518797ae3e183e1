"""Every recorded row of a run, process by process."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from typing import NamedTuple

from firstcause.record.blocks import columns_of, journals_of, rows_of
from firstcause.record.folder import RunFolder

# Columns of every table, which a series of the program's may be called as well.
OWN = ("process", "step")


class Row(NamedTuple):
    """One step (0-based) of one process: the columns it has and their float32 values."""

    process: str
    step: int
    columns: list[str]
    values: array[float]


def columns(run: RunFolder) -> list[str]:
    """The columns of all processes, each once, in the order in which they first come."""
    return list(dict.fromkeys(n for path in journals_of(run) for names in columns_of(path) for n in names))


def rows(run: RunFolder) -> Iterator[Row]:
    """The rows of one process after those of another, as they were written."""
    for path in journals_of(run):
        process = os.path.basename(path).removesuffix(".journal")
        for step, names, values in rows_of(path):
            yield Row(process, step, names, values)


def title(name: str) -> str:
    """The name of a series in a table."""
    return f"logged {name}" if name in OWN else name

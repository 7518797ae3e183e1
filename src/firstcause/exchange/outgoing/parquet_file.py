"""The figures of a run as one Parquet file, by pyarrow."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import groupby, islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from firstcause.exchange.outgoing.rows import Row, columns, rows, title
from firstcause.record.folder import RunFolder

# Values of one row group: 16 MB of float32, whatever the number of columns.
_GROUP = 4_000_000


def write_parquet(run: RunFolder, out: BinaryIO) -> int:
    """Write every row, null where it lacks a column, the run's id beside them; the number of rows."""
    names = columns(run)
    fields = [pa.field("process", pa.dictionary(pa.int32(), pa.string())), pa.field("step", pa.int64())]
    said = {"firstcause.run": run.run().id}
    schema = pa.schema([*fields, *(pa.field(title(n), pa.float32()) for n in names)], metadata=said)
    size = max(1, _GROUP // (len(names) + 2))
    count = 0
    with pq.ParquetWriter(out, schema) as writer:
        # Rows that have the same columns stand behind each other: a process begins with few, and gets more.
        for _, alike in groupby(rows(run), key=lambda row: (row.process, id(row.columns))):
            while block := list(islice(alike, size)):
                writer.write_table(_table(block, names, schema))
                count += len(block)
    return count


def _table(block: Sequence[Row], names: Sequence[str], schema: Any) -> Any:
    """Rows of one set of columns, each column cut out of all values at once."""
    values = array("f")
    for row in block:
        values.extend(row.values)
    place = {name: at for at, name in enumerate(block[0].columns)}
    process = pa.array([row.process for row in block]).dictionary_encode()
    arrays = [process, pa.array([row.step for row in block], pa.int64())]
    for name in names:
        if name in place:
            held = pa.py_buffer(values[place[name] :: len(place)])
            arrays.append(pa.Array.from_buffers(pa.float32(), len(block), [None, held]))
        else:
            arrays.append(pa.nulls(len(block), pa.float32()))
    return pa.Table.from_arrays(arrays, schema=schema)

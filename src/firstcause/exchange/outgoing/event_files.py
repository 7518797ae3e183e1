"""The figures of a run as event files for TensorBoard, by its own library."""

from __future__ import annotations

import datetime
import math
import os

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from firstcause.exchange.outgoing.rows import rows
from firstcause.record.folder import RunFolder
from firstcause.schema import Run


def write_events(run: RunFolder, folder: str) -> int:
    """Write a folder a process with one event a row, a tag a column; the number of rows.

    A row's time is the run's start and the seconds of its steps so far.
    """
    started = _started(run.run())
    count, now = 0, started
    writers: dict[str, EventFileWriter] = {}
    try:
        for row in rows(run):
            if row.process not in writers:
                writers[row.process] = EventFileWriter(os.path.join(folder, row.process))
                now = started
            figures = dict(zip(row.columns, row.values, strict=True))
            took = figures.get("seconds", 0.0)
            now += took if math.isfinite(took) and took > 0 else 0.0
            values = [Summary.Value(tag=name, simple_value=value) for name, value in figures.items()]
            writers[row.process].add_event(Event(wall_time=now, step=row.step, summary=Summary(value=values)))
            count += 1
    finally:
        for writer in writers.values():
            writer.close()
    return count


def _started(run: Run) -> float:
    try:
        return datetime.datetime.strptime(run.started, "%Y-%m-%dT%H:%M:%S%z").timestamp()
    except ValueError:
        # Of a record that another program wrote: only the order of its rows is known.
        return 0.0

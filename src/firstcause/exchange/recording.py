"""A history written down as a run, so that all that reads runs reads it."""

from __future__ import annotations

import math
import os
import platform
import time
from array import array
from collections.abc import Iterator, Sequence

from firstcause.errors import RecordError
from firstcause.exchange.history import History, Series
from firstcause.exchange.naming import named
from firstcause.record import private
from firstcause.record.folder import RunFolder, new_run_folder
from firstcause.record.journal import Journal
from firstcause.schema import Run, Symptom


def record(history: History, cwd: str, name: str) -> RunFolder:
    """Write the history into a new run of ``cwd``; raises ``RecordError`` where there is no room for it.

    Series that have the same steps share a journal: the one with the loss is the first.
    """
    called = named(history.series)
    folder = new_run_folder(cwd, name)
    started = min(history.times(), default=math.nan)
    run = Run(
        id=os.path.basename(folder.path),
        # There is no program to be run again.
        command=(),
        folder=cwd,
        started=_stamp(started),
        python="",
        platform=platform.system().lower(),
        # None would mean that its recording was killed.
        seconds=round(max(history.times()) - started, 3) if math.isfinite(started) else 0.0,
        observed=True,
        symptoms=tuple(_symptoms(history, called)),
        notes=tuple(_notes(history, called)),
    )
    with folder.held():
        folder.write_run(run)
        try:
            _journals(history, called, folder)
        except OSError as error:
            message = f"{folder.path} cannot be written: {error}"
            raise RecordError("run-unwritable", message, "free space") from error
    return folder


def _stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(seconds)) if math.isfinite(seconds) else ""


def _notes(history: History, called: dict[str, str]) -> Iterator[str]:
    yield f"imported: {history.kind}, {history.path}; there is no program to run again"
    for column, name in called.items():
        if column != name:
            yield f"{column} is {name} there"
    for key, value in history.settings.items():
        yield f"{key} there: {value}"


def _symptoms(history: History, called: dict[str, str]) -> Iterator[Symptom]:
    """A loss that is not finite: the first step of it, and the value before."""
    if "loss" not in called:
        return
    loss = history.series[called["loss"]]
    at = next((n for n, value in enumerate(loss.values) if not math.isfinite(value)), None)
    if at is not None:
        before = f", {loss.values[at - 1]:.4g} at step {loss.steps[at - 1]}" if at else ""
        text = f"the loss is {loss.values[at]} at step {loss.steps[at]}{before}"
        yield Symptom("nan", text, step=loss.steps[at])


def _journals(history: History, called: dict[str, str], folder: RunFolder) -> None:
    columns = {name: column for column, name in called.items()}
    for number, names in enumerate(_groups(history, called.get("loss"))):
        path = folder.file(f"rank-0-{number + 1}.journal")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, private.FILE)
        try:
            journal = Journal(path, descriptor)
            titles = tuple(columns.get(name, name) for name in names)
            _rows(journal, titles, [history.series[name] for name in names])
        finally:
            os.close(descriptor)


def _groups(history: History, loss: str | None) -> list[list[str]]:
    """Names of series that have the same steps, the group of the loss first, then the longest."""
    groups: dict[bytes, list[str]] = {}
    for name, series in history.series.items():
        groups.setdefault(series.steps.tobytes(), []).append(name)
    return sorted(groups.values(), key=lambda g: (loss not in g, -len(history.series[g[0]].steps)))


def _rows(journal: Journal, titles: tuple[str, ...], group: Sequence[Series]) -> None:
    steps = group[0].steps
    paces = _paces(group[0]) if "loss" in titles and "seconds" not in titles else None
    all_titles = (*titles, "seconds") if paces is not None else titles
    for at, step in enumerate(steps):
        row = [series.values[at] for series in group]
        journal.metrics(step, all_titles, [*row, paces[at]] if paces is not None else row)


def _paces(series: Series) -> array[float] | None:
    """Seconds a step between two values, where all times are known and do not go back."""
    found = array("d", [0.0])
    for at in range(1, len(series.steps)):
        took = (series.times[at] - series.times[at - 1]) / (series.steps[at] - series.steps[at - 1])
        if not took >= 0:
            return None
        found.append(took)
    return found if len(found) > 1 else None

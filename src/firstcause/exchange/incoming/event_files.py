"""TensorBoard's event files, read by its own library."""

from __future__ import annotations

import glob
import logging
import os
from collections.abc import Iterator
from typing import Any

from firstcause.errors import InputError
from firstcause.exchange.history import History

KIND = "TensorBoard"
_PATTERN = "*tfevents*"


def find(path: str) -> list[str]:
    """The event files: it itself, or all below the folder, in the order of their names, which begin with their time."""
    if os.path.isfile(path):
        return [path] if "tfevents" in os.path.basename(path) else []
    found = glob.glob(os.path.join(glob.escape(path), "**", _PATTERN), recursive=True)
    return sorted(one for one in found if os.path.isfile(one))


def read(path: str) -> History:
    """Every scalar by its tag, before it the folder in which it lies below ``path``.

    Raises ``InputError`` where a file cannot be read; what was cut off at its end is left out.
    """
    history = History(path, KIND)
    top = path if os.path.isdir(path) else os.path.dirname(path)
    for file in find(path):
        folder = os.path.relpath(os.path.dirname(os.path.abspath(file)), os.path.abspath(top))
        before = "" if folder == "." else f"{folder}/"
        scalars: set[str] = set()
        for event in _events(file):
            for value in event.summary.value:
                figure = _figure(value, scalars)
                if figure is not None:
                    history.add(before + value.tag, event.step, figure, event.wall_time)
    return history


def _events(path: str) -> Iterator[Any]:
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    # It tells of a file that ends in the middle of an event, as every file of a killed run does.
    logging.getLogger("tensorboard").setLevel(logging.ERROR)
    try:
        yield from LegacyEventFileLoader(path).Load()
    except Exception as error:
        message = f"{path} cannot be read as an event file: {error}"
        raise InputError("history-unreadable", message, "give the folder that TensorBoard shows") from error


def _figure(value: Any, scalars: set[str]) -> float | None:
    """The number that a summary holds, in the form of either version of TensorBoard; None where it is no number."""
    kind = value.WhichOneof("value")
    if kind == "simple_value":
        return float(value.simple_value)
    # What a tag is, only its first event says.
    if value.metadata.plugin_data.plugin_name == "scalars":
        scalars.add(value.tag)
    if kind != "tensor" or value.tag not in scalars:
        return None
    from tensorboard.util.tensor_util import make_ndarray

    content = make_ndarray(value.tensor)
    return float(content) if content.size == 1 else None

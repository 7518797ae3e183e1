"""Offline runs of Weights & Biases: the numbers that were logged."""

from __future__ import annotations

import glob
import json
import math
import os
from collections.abc import Iterator
from typing import Any

from firstcause.errors import InputError
from firstcause.exchange.history import History
from firstcause.exchange.incoming.wandb_log import fields, records

KIND = "Weights & Biases, offline"
# Numbers of fields in W&B's messages.
_HISTORY, _RUN = 2, 17
_ITEM, _KEY, _NESTED, _VALUE = 1, 1, 2, 16
_PROJECT, _NAME = 3, 8
# The step of a trainer, where it logs one beside W&B's own count of log calls.
_STEPS = ("train/global_step", "trainer/global_step", "global_step")


def find(path: str) -> str | None:
    """The .wandb file: it itself, in the folder of a run, or in the newest run below the folder."""
    if os.path.isfile(path):
        return path if path.endswith(".wandb") else None
    top = glob.escape(path)
    ways = ("*.wandb", "*run-*/*.wandb", "wandb/*run-*/*.wandb")
    found = next((f for way in ways if (f := glob.glob(os.path.join(top, way)))), [])
    return max(found, key=os.path.getmtime, default=None)


def read(path: str) -> History:
    """Every number that was logged, by the trainer's step or W&B's own; raises ``InputError`` on a foreign file."""
    history = History(path, KIND)
    last = -1
    try:
        for record in records(path):
            for number, value in fields(record):
                if not isinstance(value, bytes):
                    continue
                if number == _RUN:
                    history.settings = _settings(value)
                elif number == _HISTORY:
                    last = _log(history, dict(_items(value)), last)
    except (OSError, ValueError) as error:
        message = f"{path} cannot be read as an offline run: {error}"
        raise InputError("history-unreadable", message, "give the folder wandb/offline-run-…") from error
    return history


def _log(history: History, logged: dict[str, Any], last: int) -> int:
    """Take what one call has logged; its step."""
    step = next((logged[k] for k in (*_STEPS, "_step") if _is_step(logged.get(k))), last + 1)
    time = logged.get("_timestamp")
    for name, value in logged.items():
        figure = None if name.startswith("_") or name in _STEPS else _figure(value)
        if figure is not None:
            history.add(name, step, figure, time if isinstance(time, float) else math.nan)
    return int(step)


def _settings(run: bytes) -> dict[str, str]:
    titles = {_PROJECT: "project", _NAME: "name"}
    said = {
        titles[n]: v.decode(errors="replace") for n, v in fields(run) if n in titles and isinstance(v, bytes)
    }
    return {key: text for key, text in said.items() if text}


def _items(history: bytes) -> Iterator[tuple[str, Any]]:
    for number, item in fields(history):
        if number != _ITEM or not isinstance(item, bytes):
            continue
        said = [(n, v.decode(errors="replace")) for n, v in fields(item) if isinstance(v, bytes)]
        name = next(
            (text for n, text in said if n == _KEY and text), "/".join(t for n, t in said if n == _NESTED)
        )
        try:
            value = json.loads(next((text for n, text in said if n == _VALUE), ""))
        except (ValueError, RecursionError):
            continue
        yield from _flat(name, value)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a dictionary that was logged under a name, by its names and theirs."""
    if isinstance(value, dict) and "_type" not in value:
        for key, part in value.items():
            yield from _flat(f"{name}/{key}", part)
    else:
        yield name, value


def _is_step(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62


def _figure(value: Any) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    # JSON has no such numbers, and W&B writes them as words.
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else None

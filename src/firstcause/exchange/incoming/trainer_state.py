"""The history that transformers' Trainer keeps beside its checkpoints: trainer_state.json."""

from __future__ import annotations

import glob
import json
import os
import re
from typing import Any

from firstcause.errors import InputError
from firstcause.exchange.history import History

NAME = "trainer_state.json"
KIND = "trainer_state.json"
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")


def find(path: str) -> str | None:
    """The file of this name: it itself, in the folder, or in the newest of the folder's checkpoints."""
    if os.path.isfile(path):
        return path if path.endswith(".json") else None
    if os.path.isfile(os.path.join(path, NAME)):
        return os.path.join(path, NAME)
    kept = glob.glob(os.path.join(glob.escape(path), "checkpoint-*", NAME))
    return max(kept, key=_number, default=None)


def read(path: str) -> History:
    """Every number of its log, by step; raises ``InputError`` where it is no such history."""
    try:
        with open(path, encoding="utf-8") as file:
            state = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError("history-unreadable", f"{path} cannot be read: {error}", "check the path") from error
    log = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(log, list):
        message = f"{path} has no log_history: it is no trainer_state.json"
        raise InputError("history-foreign", message, "firstcause import --help names what is read")
    history = History(path, KIND)
    for entry in log:
        if not isinstance(entry, dict) or not _is_step(entry.get("step")):
            continue
        for name, value in entry.items():
            # Of the whole training, and written once at its end.
            if (
                name != "step"
                and _is_number(value)
                and not ("train_runtime" in entry and name != "train_loss")
            ):
                history.add(name, entry["step"], float(value))
    history.settings = {k: str(state[k]) for k in ("max_steps", "num_train_epochs", "epoch") if k in state}
    return history


def _number(path: str) -> int:
    found = _CHECKPOINT.fullmatch(os.path.basename(os.path.dirname(path)))
    return int(found[1]) if found else -1


def _is_step(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

"""Which program's history a path is, and that history."""

from __future__ import annotations

import importlib.util
import os

from firstcause.errors import InputError
from firstcause.exchange.history import History
from firstcause.exchange.incoming import event_files, offline_wandb, trainer_state


def is_history(path: str) -> bool:
    """Whether a file has the name of a history; a folder may hold much else, and is none by itself."""
    return os.path.isfile(path) and (
        os.path.basename(path) == trainer_state.NAME
        or offline_wandb.find(path) is not None
        or bool(event_files.find(path))
    )


def read(path: str) -> History:
    """The history at this path; raises ``InputError`` where there is none, or nothing in it that is a number."""
    if not os.path.exists(path):
        raise InputError("history-unreadable", f"there is no {path}", "check the path")
    history = _read(path)
    if not history.series:
        message = f"{path} holds no numbers by step ({history.kind})"
        raise InputError("history-empty", message, "give the folder of a training that has logged")
    for name, series in history.series.items():
        history.series[name] = series.ordered()
    return history


def _read(path: str) -> History:
    # The newest of the kinds that lie side by side would be a guess; the Trainer's own file says most.
    if (state := trainer_state.find(path)) is not None:
        return trainer_state.read(state)
    if (kept := offline_wandb.find(path)) is not None:
        return offline_wandb.read(kept)
    if event_files.find(path):
        _need("tensorboard", "TensorBoard's event files")
        return event_files.read(path)
    message = f"{path} holds no history: no event file, no .wandb file, no trainer_state.json"
    raise InputError("history-foreign", message, "give the folder that the training logged into")


def _need(package: str, what: str) -> None:
    """The extra has the name of the package."""
    if importlib.util.find_spec(package) is None:
        message = f"{what}: reading needs the package {package}, which is not installed"
        raise InputError("exchange-missing", message, f"pip install 'firstcause[{package}]'")

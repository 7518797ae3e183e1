"""What ``torch.load`` refuses where it loads weights only, asked of torch's own unpickler; tensors are left out."""

from __future__ import annotations

import io
import os
import pickle
from typing import Any

import torch

TRUE = ("1", "y", "yes", "true")
HOW = "Weights only load failed. This file can still be loaded with weights_only=False, if its source is trusted"


def only(kwargs: dict[str, Any]) -> bool:
    """Whether such a call loads weights only: since torch 2.6 it does unless it says otherwise."""
    if _is_set("TORCH_FORCE_WEIGHTS_ONLY_LOAD"):
        return True
    asked = kwargs.get("weights_only")
    if asked is None:
        is_default = torch.__version__ >= (2, 6) and kwargs.get("pickle_module") is None
        return is_default and not _is_set("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    return bool(asked)


def check(saved: Any) -> None:
    """Raise the ``UnpicklingError`` of a real load, or nothing."""
    from torch import _weights_only_unpickler

    text = io.BytesIO()
    try:
        # torch.save's protocol, the only one that the unpickler reads.
        _Pickler(text, 2).dump(saved)
    except Exception:  # noqa: BLE001 - a stand-in of ours, or an object that no real run can save: not asked about
        return
    text.seek(0)
    unpickler = _weights_only_unpickler.Unpickler(text, encoding="utf-8")
    unpickler.persistent_load = lambda given: None
    try:
        unpickler.load()
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(f"{HOW}: {error}") from None
    except Exception:  # noqa: BLE001 - a stand-in could not be put together again: nothing is known
        return


class _Pickler(pickle.Pickler):
    def persistent_id(self, value: Any) -> Any:
        """Tensors, and what is ours in the place of something else, are nobody's mistake."""
        kind = value if isinstance(value, type) else type(value)
        ours = str(getattr(kind, "__module__", "")).startswith("firstcause.")
        return ("storage",) if ours or isinstance(value, torch.Tensor) else None


def _is_set(name: str) -> bool:
    return os.environ.get(name, "0").lower() in TRUE

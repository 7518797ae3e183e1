"""Checkpoints that are kept in memory, and downloads that are refused by name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_map_only

from firstcause.errors import SealError

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

_saved: dict[str, Any] = {}


def install(session: Session) -> None:
    load = torch.load

    def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(f, (str, os.PathLike)):
            path = os.path.abspath(os.fspath(f))
            _saved[path] = tree_map_only(torch.Tensor, lambda t: t.detach(), obj)
            with open(path, "wb") as file:
                file.write(b"kept in memory by the dry run")

    def loaded(f: Any, *args: Any, **kwargs: Any) -> Any:
        path = os.path.abspath(os.fspath(f)) if isinstance(f, (str, os.PathLike)) else ""
        if path not in _saved:
            return load(f, *args, **kwargs)
        if kwargs.get("weights_only") and isinstance(_saved[path], torch.nn.Module):
            raise SealError("dry-load", "it loads a whole pickled module with weights_only=True")
        return _saved[path]

    def refused(*args: Any, **kwargs: Any) -> Any:
        raise SealError("dry-download", f"it downloads {args[0] if args else 'something'}")

    torch.save, torch.load = save, loaded
    torch.hub.load = torch.hub.load_state_dict_from_url = torch.hub.download_url_to_file = refused

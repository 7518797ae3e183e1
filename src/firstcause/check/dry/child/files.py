"""Checkpoints that are kept in memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_map_only

from firstcause.check.dry.child import weights
from firstcause.errors import SealError

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session

# What stands in a file, so that a copy of it, or one that was renamed, is known too.
MARK = b"kept in memory by the dry run as "
_saved: list[Any] = []
_sessions: list[Session] = []


def install(session: Session) -> None:
    _sessions[:] = [session]
    load = torch.load

    def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> None:
        _saved.append(tree_map_only(torch.Tensor, lambda t: t.detach(), obj))
        text = MARK + b"%d" % (len(_saved) - 1)
        if isinstance(f, (str, os.PathLike)):
            with open(f, "wb") as file:
                file.write(text)
        else:
            f.write(text)

    def loaded(f: Any, *args: Any, **kwargs: Any) -> Any:
        must_be_there(f)
        number = _number(f)
        if number is None:
            return load(f, *args, **kwargs)
        if weights.only(kwargs):
            weights.check(_saved[number])
        return _saved[number]

    torch.save, torch.load = save, loaded


def must_be_there(f: Any) -> None:
    """Raise where a file is missing that a whole run would have made."""
    was_cut = any(session.was_cut for session in _sessions)
    if isinstance(f, (str, os.PathLike)) and was_cut and not os.path.exists(f):
        raise SealError("dry-load", f"it loads {f}, which the shortened loops did not come to save")


def kept(f: Any) -> Any:
    """What was saved under a name; None for a real file."""
    number = _number(f)
    return None if number is None else _saved[number]


def _number(f: Any) -> int | None:
    """Which of the saved objects a file stands for; None for a real one."""
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            text = file.read(len(MARK) + 20)
    else:
        at = f.tell()
        text = f.read(len(MARK) + 20)
        f.seek(at)
    return int(text[len(MARK) :]) if text.startswith(MARK) else None

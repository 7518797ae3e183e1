"""torch as the dry run needs it: everything that is replaced, and the watchers, in the order in which they depend."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import backend_registration

from firstcause.check.dry.child import (
    absent,
    autocast,
    by_hand,
    compiler,
    cuda,
    due,
    files,
    libraries,
    loaders,
    loops,
    modules,
    optimizers,
    pretrained,
    ranks,
    scaler,
    sequences,
    sockets,
    threads,
    written,
)
from firstcause.check.dry.child.accelerator import Accelerator
from firstcause.check.dry.child.fake import Mode
from firstcause.check.dry.child.names import NAME
from firstcause.check.dry.child.watchers import WATCHERS

if TYPE_CHECKING:
    from firstcause.check.dry.child.session import Session


def prepare(session: Session, launched: bool) -> tuple[Any, Any]:
    """Replace what has to be; gives the two modes under which the program runs."""
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    compiler.put_off()
    backend_registration._setup_privateuseone_for_python_backend(NAME)
    session.watchers = [by_hand.ByHand(session), *(watcher(session) for watcher in WATCHERS)]
    mode = Mode(session)
    loops.install(session)
    due.install(session)
    modules.install(session)
    optimizers.install(session, mode)
    loaders.install(session)
    ranks.install(session, launched)
    scaler.install(session)
    cuda.install()
    files.install(session)
    pretrained.install(session)
    sockets.install()
    sequences.install()
    autocast.install()
    libraries.install()
    for owner in (torch, torch.amp, torch.cuda.amp, torch.cpu.amp):
        owner.autocast = _autocast(owner)
    sys.meta_path += [written.Finder(), absent.Finder(session)]
    modes = mode, Accelerator(session, mode)
    threads.install(session, modes)
    return modes


def _autocast(owner: Any) -> Any:
    if owner is torch.cuda.amp:
        return lambda enabled=True, dtype=torch.float16, cache_enabled=True: autocast.Autocast(
            "cuda", dtype, enabled
        )
    if owner is torch.cpu.amp:
        return lambda enabled=True, dtype=torch.bfloat16, cache_enabled=True: autocast.Autocast(
            "cpu", dtype, enabled
        )
    return autocast.Autocast

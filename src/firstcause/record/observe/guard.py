"""Around every entry from the program into the recorder: our ops stay unseen, and our failures stay ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
from torch.utils._python_dispatch import _disable_current_modes

from firstcause.record.observe.dead_device import is_dead

T = TypeVar("T")
# Looked up once: these stand around every entry.
_without_function_modes = torch._C.DisableTorchFunction
_dispatch_modes = torch._C._len_torch_dispatch_stack


@contextmanager
def unseen() -> Iterator[None]:
    """Keep our few ops out of the program's own function and dispatch modes."""
    with _without_function_modes():
        if _dispatch_modes():
            with _disable_current_modes():
                yield
        else:
            yield


def guarded(default: T) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Our own failure becomes an event, and the program goes on unobserved."""

    def wrap(method: Callable[..., T]) -> Callable[..., T]:
        def call(self: Any, *args: Any) -> T:
            try:
                if self.replay is not None:
                    return method(self, *args)
                # ``unseen``, without its generator: at every step its code would have to be fetched anew.
                with _without_function_modes():
                    if not _dispatch_modes():
                        return method(self, *args)
                    with _disable_current_modes():
                        return method(self, *args)
            except Exception as error:
                # The program is told of a dead device by its own next call.
                if not is_dead(error):
                    self.session.failed(method.__name__)
                return default

        return call

    return wrap

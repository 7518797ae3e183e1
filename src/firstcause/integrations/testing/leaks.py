"""The tensors that a test leaves behind, and who holds them."""

from __future__ import annotations

import functools
import gc
import sys
import weakref
from collections import Counter
from types import FrameType, FunctionType
from typing import Any

import pytest
import torch

# From a tensor to the name that holds it: a list in an attribute of an object in a module's global takes five.
DEPTH = 8
# What is looked through for a holder, so that a test that leaves much behind is told of in time.
MOST = 20_000
NAMED = 3


class Alive:
    """The tensors that are alive now; ``check`` fails the test where more than ``limit`` others are alive later."""

    def __init__(self) -> None:
        gc.collect()
        # By identity: the equality of tensors is that of their elements.
        self.before = {id(one): weakref.ref(one) for one in _tensors()}

    def check(self, limit: int) -> None:
        """Fail where more than ``limit`` tensors have come that are still held, and say by whom."""
        gc.collect()
        left = [one for one in _tensors() if self.before.get(id(one), _nothing)() is not one]
        if len(left) <= limit:
            return
        size = sum(t.element_size() * t.nelement() for t in left)
        holders = Counter(filter(None, (_holder(tensor, left) for tensor in left[:100])))
        by = ", ".join(name for name, _ in holders.most_common(NAMED)) or "nothing that has a name"
        one = "1 tensor made by the test outlives"
        what = one if len(left) == 1 else f"{len(left)} tensors made by the test outlive"
        pytest.fail(
            f"{what} it ({size} bytes), above leaks={limit}; held by {by}",
            pytrace=False,
        )


def _nothing() -> None:
    return None


def _tensors() -> list[torch.Tensor]:
    return [one for one in gc.get_objects() if issubclass(type(one), torch.Tensor)]


def _holder(tensor: torch.Tensor, ours: list[Any]) -> str:
    """The nearest module global, class attribute, function default or cache that leads to a tensor; empty if none."""
    seen = {id(ours)}
    # Each with what it holds itself: a class is met by its dictionary, which alone has the name.
    level: list[tuple[Any, Any]] = [(tensor, tensor)]
    for _ in range(DEPTH):
        above: list[tuple[Any, Any]] = []
        skipped = {id(level), id(above)}
        for held, below in level:
            for referrer in gc.get_referrers(held):
                if id(referrer) in seen or id(referrer) in skipped or isinstance(referrer, FrameType):
                    continue
                seen.add(id(referrer))
                name = _name_of(held, below, referrer)
                if name:
                    return name
                above.append((referrer, held))
        if not above or len(seen) > MOST:
            return ""
        level = above
    return ""


def _name_of(held: Any, below: Any, referrer: Any) -> str:
    if isinstance(referrer, FunctionType):
        return f"the defaults or the closure of {referrer.__module__}.{referrer.__qualname__}"
    if isinstance(referrer, functools._lru_cache_wrapper):
        return f"the cache of {referrer.__module__}.{referrer.__qualname__}"
    if isinstance(referrer, type):
        names = [k for k, v in vars(referrer).items() if v is held or v is below]
        return f"{referrer.__module__}.{referrer.__qualname__}{''.join('.' + n for n in names[:1])}"
    if isinstance(referrer, dict):
        module = sys.modules.get(str(referrer.get("__name__")))
        if module is not None and vars(module) is referrer:
            name = next((k for k, v in referrer.items() if v is held), "")
            return f"{module.__name__}.{name}"
    return ""

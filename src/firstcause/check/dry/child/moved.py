"""Numbers that are known on the processor, and known again when they come back from the device unchanged."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

COPY = torch.ops.aten._to_copy.default


def see(func: Any, args: Any, out: Any) -> None:
    """Remember with a tensor on the device which numbers it was made of."""
    if func is not COPY or type(out) is not FakeTensor or out.fake_device.type == "cpu":
        return
    known = getattr(args[0], "constant", None)
    if known is not None and known.dtype == out.dtype:
        out.fc_numbers = known, out._version


def known(func: Any, args: Any, kwargs: Any) -> Any:
    """A copy of the numbers that such a tensor holds; None where it is not copied to the processor, or was changed."""
    if (
        func is not COPY
        or not isinstance(kwargs.get("device"), torch.device)
        or kwargs["device"].type != "cpu"
    ):
        return None
    numbers, version = getattr(args[0], "fc_numbers", (None, 0))
    if numbers is None or args[0]._version != version:
        return None
    with unset_fake_temporarily():
        return numbers.to(kwargs.get("dtype") or numbers.dtype, copy=True)

"""What an op is called, and a dispatch mode that writes down which ops run, and nothing else."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def name_of_op(func: Any) -> str:
    """``add`` for every overload of ``aten::add``."""
    return str(func._schema.name).removeprefix("aten::")


class OpNames(TorchDispatchMode):
    """``ops`` holds name, shape and dtype of each op, as the trace tells them."""

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[tuple[Any, ...]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        made = [x for x in tree_leaves(result) if isinstance(x, torch.Tensor)]
        shape, dtype = (tuple(made[0].shape), str(made[0].dtype)[6:]) if made else ((), None)
        self.ops.append((name_of_op(func), shape, dtype))
        return result

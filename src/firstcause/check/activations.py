"""What a value passed last before it was used: softmax, sigmoid, their logarithms, or a linear layer."""

from __future__ import annotations

import ast
from typing import Literal

from firstcause.check.code import Code
from firstcause.check.library_names import shortest
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve
from firstcause.source.walk import Origin

Activation = Literal["softmax", "log-softmax", "sigmoid", "log-sigmoid", "tanh", "relu", "linear", ""]

FUNCTIONS: dict[str, Activation] = {
    "softmax": "softmax",
    "log_softmax": "log-softmax",
    "sigmoid": "sigmoid",
    "logsigmoid": "log-sigmoid",
    "tanh": "tanh",
    "relu": "relu",
    "linear": "linear",
    "Softmax": "softmax",
    "LogSoftmax": "log-softmax",
    "Sigmoid": "sigmoid",
    "LogSigmoid": "log-sigmoid",
    "Tanh": "tanh",
    "ReLU": "relu",
    "Linear": "linear",
    "Conv1d": "linear",
    "Conv2d": "linear",
}
# Methods that change the shape and not the numbers.
SHAPES = frozenset(
    {
        "squeeze",
        "unsqueeze",
        "view",
        "reshape",
        "flatten",
        "float",
        "double",
        "contiguous",
        "transpose",
        "permute",
        "to",
        "cuda",
    }
)


def activation(code: Code, origin: Origin) -> Activation:
    """The activation that makes a value; empty where the code does not say it."""
    return _of(code, origin.module, origin.node, 6)


def _of(code: Code, module: Module, node: ast.AST, hops: int) -> Activation:
    if not isinstance(node, ast.Call) or hops == 0:
        return ""
    func = node.func
    name = shortest(external(resolve(code.project, module, func)))
    if name.startswith(("torch.", "torch.nn.functional.")):
        return FUNCTIONS.get(name.rpartition(".")[2], "")
    if isinstance(func, ast.Attribute) and func.attr in SHAPES:
        return _common(code, module, func.value, hops)
    if isinstance(func, ast.Attribute) and func.attr in ("softmax", "log_softmax", "sigmoid", "tanh", "relu"):
        return FUNCTIONS[func.attr]
    return _of_module(code, module, func)


def _common(code: Code, module: Module, node: ast.expr, hops: int) -> Activation:
    found = {_of(code, o.module, o.node, hops - 1) for o in code.origins(module, node)}
    return found.pop() if len(found) == 1 else ""


def _of_module(code: Code, module: Module, func: ast.expr) -> Activation:
    """The class of the module that is called; a Sequential's last part."""
    found: set[Activation] = set()
    for origin in code.origins(module, func):
        node = origin.node
        if not isinstance(node, ast.Call):
            return ""
        name = shortest(external(resolve(code.project, origin.module, node.func)))
        if name == "torch.nn.Sequential" and node.args and isinstance(node.args[-1], ast.Call):
            node = node.args[-1]
            name = shortest(external(resolve(code.project, origin.module, node.func)))
        found.add(FUNCTIONS.get(name.rpartition(".")[2], "") if name.startswith("torch.nn.") else "")
    return found.pop() if len(found) == 1 else ""

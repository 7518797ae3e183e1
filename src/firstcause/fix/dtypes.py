"""Whether an expression of the user's code is float64 or float32, as far as the code alone says."""

from __future__ import annotations

import ast

from firstcause.source import Project
from firstcause.source.arguments import argument
from firstcause.source.callees import library_name
from firstcause.source.callsites import last_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value

DOUBLE, SINGLE = "float64", "float32"
NAMES = {
    "float64": DOUBLE,
    "double": DOUBLE,
    "float32": SINGLE,
    "single": SINGLE,
    "float16": "float16",
    "half": "float16",
}
RANDOM = frozenset(
    {
        "normal", "standard_normal", "uniform", "random", "rand", "randn", "beta", "gamma", "exponential",
        "lognormal", "laplace", "logistic", "triangular", "multivariate_normal", "dirichlet", "chisquare",
        "standard_gamma", "vonmises", "weibull", "pareto",
    }
)  # fmt: skip
MAKING = frozenset(
    {"zeros", "ones", "empty", "full", "linspace", "logspace", "geomspace", "eye", "loadtxt", "genfromtxt"}
)
MAX_DEPTH = 16


def dtype_of(project: Project, value: Value, depth: int = MAX_DEPTH) -> str:
    """``float64``, ``float32``, another dtype's name, or an empty string where the code does not say."""
    node = value.node
    if depth <= 0:
        return ""
    if isinstance(node, ast.BinOp):
        sides = {
            dtype_of(project, value.at(n), depth - 1) for n in (node.left, node.right) if not _is_number(n)
        }
        return DOUBLE if DOUBLE in sides else sides.pop() if len(sides) == 1 else ""
    if isinstance(node, ast.UnaryOp):
        return dtype_of(project, value.at(node.operand), depth - 1)
    if isinstance(node, ast.Subscript):
        return dtype_of(project, value.at(node.value), depth - 1)
    if isinstance(node, ast.Call):
        found = _of_call(project, value, node, depth)
        if found is not None:
            return found
    if isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
        origins = new_walk(project).origins(value)
        inner = [o.value for o in origins if o.value is not None and o.value.node is not node]
        if inner and len(inner) == len(origins):
            kinds = {dtype_of(project, v, depth - 1) for v in inner}
            return kinds.pop() if len(kinds) == 1 else ""
    return ""


def named_dtype(node: ast.expr) -> str:
    """The dtype that ``np.float64``, ``torch.double``, ``"float32"`` or ``float`` names."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return NAMES.get(node.value, node.value)
    if isinstance(node, ast.Name) and node.id == "float":
        return DOUBLE
    last = last_name(node)
    if (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "torch"
        and last == "float"
    ):
        return SINGLE
    return NAMES.get(last, last)


def _of_call(project: Project, value: Value, node: ast.Call, depth: int) -> str | None:
    """What a library's call gives; None for one of the project's own."""
    given = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    name = library_name(new_walk(project), value)
    last = name.rpartition(".")[2]
    if given is not None and name:
        return named_dtype(given)
    if name.startswith("."):
        assert isinstance(node.func, ast.Attribute)
        if last in ("astype", "to", "type") and node.args:
            asked = named_dtype(node.args[0])
            return (
                asked if asked in NAMES.values() else dtype_of(project, value.at(node.func.value), depth - 1)
            )
        if last in ("double", "float", "half"):
            return {"double": DOUBLE, "float": SINGLE, "half": "float16"}[last]
        if last in RANDOM:
            return DOUBLE
        return dtype_of(project, value.at(node.func.value), depth - 1)
    if name.startswith("numpy."):
        if last in RANDOM or last in MAKING:
            return DOUBLE
        asked_second = argument(node, 1, None) if last in ("array", "asarray") else None
        if asked_second is not None:
            return named_dtype(asked_second.node)
        return _of_numbers(project, value, node.args, depth)
    if name.startswith("torch."):
        if last in ("from_numpy", "as_tensor", "tensor", "stack", "cat", "concatenate"):
            return _of_numbers(project, value, node.args[:1], depth, python=SINGLE)
        return (
            SINGLE if last in ("randn", "rand", "zeros", "ones", "empty", "linspace", "full", "eye") else ""
        )
    return "" if name else None


def _of_numbers(
    project: Project, value: Value, nodes: list[ast.expr], depth: int, python: str = DOUBLE
) -> str:
    """The dtype of what is computed of some arguments; Python's own floats count as ``python``."""
    flat = [e for n in nodes for e in (n.elts if isinstance(n, (ast.List, ast.Tuple)) else [n])]
    kinds = set()
    for node in flat:
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            kinds.add(python)
        elif not _is_number(node):
            kinds.add(dtype_of(project, value.at(node), depth - 1))
    return DOUBLE if DOUBLE in kinds else kinds.pop() if len(kinds) == 1 else ""


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))

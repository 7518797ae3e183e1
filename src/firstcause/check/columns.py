"""Whether a batch of values is a row (N,) or a column (N, 1), as far as the code says it."""

from __future__ import annotations

import ast

from firstcause.check.code import Code, is_own_attribute
from firstcause.check.library_names import shortest
from firstcause.check.samples import samples_of
from firstcause.source.containers import GROWING
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve

# Methods that keep the number of dimensions.
KEEPS = frozenset(
    {
        "float",
        "double",
        "long",
        "half",
        "to",
        "cuda",
        "cpu",
        "clone",
        "detach",
        "contiguous",
        "astype",
        "copy",
        "abs",
    }
)
# Functions that make a tensor or array of what they are given, with its dimensions.
COPIES = frozenset(
    {
        "torch.tensor", "torch.as_tensor", "torch.from_numpy", "torch.FloatTensor", "torch.Tensor", "torch.LongTensor",
        "numpy.array", "numpy.asarray",
    }
)  # fmt: skip
# Functions that make a tensor without dimensions of a number.
SCALARS = frozenset({"torch.tensor", "torch.as_tensor", "numpy.float32", "numpy.float64", "numpy.array"})
FILLED = frozenset(
    f"{library}.{name}"
    for library in ("torch", "numpy", "numpy.random")
    for name in ("randn", "rand", "zeros", "ones", "empty")
)
# Those that read tables of text.
TEXTS = frozenset({"numpy.loadtxt", "numpy.genfromtxt"})
# Methods that make one number of all values.
OF_ALL = frozenset({"mean", "std", "min", "max", "sum", "item", "median", "var"})
HOPS = 12


def is_row(code: Code, module: Module, node: ast.expr, hops: int = HOPS) -> bool:
    """Whether a value surely has one dimension: a table's column, a sum over one of two, the target of a loop over such."""
    if hops == 0:
        return False
    samples = samples_of(code, module, node)
    if samples:
        return all(_is_scalar(code, s.module, s.node, s.index, hops - 1) for s in samples)
    if isinstance(node, ast.Name):
        element = _element_of_loader(code, module, node)
        if element is not None:
            return is_row(code, element[0], element[1], hops - 1)
        origins = code.origins(module, node)
        return bool(origins) and all(
            o.node is not node and isinstance(o.node, ast.expr) and is_row(code, o.module, o.node, hops - 1)
            for o in origins
        )
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return _is_number(node.elt)
    if isinstance(node, ast.Attribute) and not is_own_attribute(node):
        return node.attr == "values" and is_row(code, module, node.value, hops - 1)
    if isinstance(node, ast.Attribute):
        origins = code.origins(module, node)
        return bool(origins) and all(
            o.node is not node and isinstance(o.node, ast.expr) and is_row(code, o.module, o.node, hops - 1)
            for o in origins
        )
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return is_row(code, module, node.value, hops - 1)
    if isinstance(node, ast.BinOp):
        # ``(values - values.mean()) / values.std()``
        rows = [is_row(code, module, side, hops - 1) for side in (node.left, node.right)]
        others = [side for side, row in zip((node.left, node.right), rows, strict=True) if not row]
        return any(rows) and all(_is_of_all(code, module, side) for side in others)
    if isinstance(node, ast.Subscript):
        return (
            isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
            and _is_table(code, module, node.value)
        )
    return isinstance(node, ast.Call) and _makes_row(code, module, node, hops)


def _makes_row(code: Code, module: Module, node: ast.Call, hops: int) -> bool:
    name = shortest(external(resolve(code.project, module, node.func)))
    if name in COPIES:
        return bool(node.args) and is_row(code, module, node.args[0], hops - 1)
    if name in TEXTS:
        # One column of a table of text, by its number.
        used = code.constant(module, k) if (k := _given(node, "usecols")) is not None else None
        return used is not None and type(used.value) is int
    if name in FILLED:
        return len(node.args) == 1 and not isinstance(
            node.args[0], (ast.Tuple, ast.List, ast.Starred, ast.Name, ast.Attribute)
        )
    if not isinstance(node.func, ast.Attribute) or name:
        return False
    if node.func.attr == "pop" and len(node.args) == 1:
        # The column that a table gives up.
        column = code.constant(module, node.args[0])
        return (
            column is not None and isinstance(column.value, str) and _is_table(code, module, node.func.value)
        )
    if node.func.attr in KEEPS or node.func.attr in ("to_numpy", "tolist", "to_list"):
        return is_row(code, module, node.func.value, hops - 1)
    if node.func.attr in ("flatten", "ravel"):
        return not node.args
    if node.func.attr in ("view", "reshape"):
        sizes = [code.constant(module, a) for a in node.args]
        return len(sizes) == 1 and sizes[0] is not None and sizes[0].value == -1
    # The sum of a table of two dimensions over one of them.
    over = (
        node.args[0]
        if node.args
        else next((k.value for k in node.keywords if k.arg in ("dim", "axis")), None)
    )
    keeps = any(k.arg == "keepdim" for k in node.keywords) or len(node.args) > 1
    return (
        node.func.attr in ("sum", "mean")
        and over is not None
        and not keeps
        and _is_flat_table(code, module, node.func.value)
    )


def _given(call: ast.Call, name: str) -> ast.expr | None:
    return next((k.value for k in call.keywords if k.arg == name), None)


def _is_of_all(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether a value is one number: written down, or a mean or deviation over everything."""
    if isinstance(node, ast.BinOp):
        return _is_of_all(code, module, node.left) and _is_of_all(code, module, node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (int, float))
    found = [o.node for o in code.origins(module, node)] if isinstance(node, ast.Name) else [node]
    return bool(found) and all(
        (isinstance(n, ast.Constant) and isinstance(n.value, (int, float)))
        or (
            isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and n.func.attr in OF_ALL
            and not n.args
            and not n.keywords
        )
        for n in found
    )


def _is_scalar(code: Code, module: Module, node: ast.expr, index: str, hops: int) -> bool:
    """Whether a part of a sample surely has no dimension, so that a batch of them is a row."""
    if hops == 0:
        return False
    if _is_number(node):
        return True
    if isinstance(node, ast.Call):
        name = shortest(external(resolve(code.project, module, node.func)))
        if name in SCALARS and node.args:
            return _is_scalar(code, module, node.args[0], index, hops - 1)
        if isinstance(node.func, ast.Attribute) and not name:
            keeps = node.func.attr in KEEPS and _is_scalar(code, module, node.func.value, index, hops - 1)
            return node.func.attr == "item" or keeps
        return False
    if isinstance(node, ast.Subscript):
        place = node.slice
        if _counts(place, index):
            # ``table["y"].iloc[i]`` as ``y[i]``
            held = node.value
            if isinstance(held, ast.Attribute) and held.attr in ("iloc", "iat", "loc", "at"):
                held = held.value
            return is_row(code, module, held, hops - 1)
        return isinstance(getattr(place, "value", None), str) and _is_row_of_table(
            code, module, node.value, index
        )
    if isinstance(node, ast.Name) and node.id != index:
        origins = code.origins(module, node)
        return bool(origins) and all(
            o.node is not node
            and isinstance(o.node, ast.expr)
            and _is_scalar(code, o.module, o.node, index, hops - 1)
            for o in origins
        )
    return False


def _counts(place: ast.expr, index: str) -> bool:
    """Whether a subscript is the index, or a number of places from it: ``series[i + WINDOW]``."""
    if isinstance(place, ast.BinOp) and isinstance(place.op, (ast.Add, ast.Sub)):
        return _counts(place.left, index) or _counts(place.right, index)
    return isinstance(place, ast.Name) and place.id == index


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "int")


def _is_row_of_table(code: Code, module: Module, node: ast.expr, index: str) -> bool:
    """``self.table.iloc[i]``, or a name for it."""
    found = [o.node for o in code.origins(module, node)] if isinstance(node, ast.Name) else [node]
    return bool(found) and all(
        isinstance(n, ast.Subscript)
        and isinstance(n.slice, ast.Name)
        and n.slice.id == index
        and isinstance(n.value, ast.Attribute)
        and n.value.attr in ("iloc", "loc")
        and _is_table(code, module, n.value.value)
        for n in found
    )


def _is_flat_table(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether a value is filled with two sizes: ``torch.randn(512, 8)``."""
    origins = code.origins(module, node)
    return bool(origins) and all(
        isinstance(o.node, ast.Call)
        and shortest(external(resolve(code.project, o.module, o.node.func))) in FILLED
        and len(o.node.args) == 2
        for o in origins
    )


def _is_table(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether a value is a table of pandas, rows left out or not."""
    made = code.made_by(module, node)
    return bool(made) and all(m.startswith("pandas.read_") or m == "pandas.DataFrame" for m in made)


def _element_of_loader(code: Code, module: Module, name: ast.Name) -> tuple[Module, ast.expr] | None:
    """The argument of TensorDataset whose batches a loop's target stands for."""
    for loop in module.ancestors(name):
        if not isinstance(loop, ast.For):
            continue
        target, over = loop.target, loop.iter
        if (
            isinstance(over, ast.Call)
            and ast.unparse(over.func) == "enumerate"
            and isinstance(target, ast.Tuple)
            and over.args
        ):
            target, over = target.elts[-1], over.args[0]
        if not isinstance(target, ast.Tuple):
            continue
        place = next(
            (i for i, t in enumerate(target.elts) if isinstance(t, ast.Name) and t.id == name.id), None
        )
        if place is None:
            continue
        if any(
            isinstance(n, ast.Name) and n.id == name.id and isinstance(n.ctx, ast.Store)
            for s in loop.body
            for n in ast.walk(s)
        ):
            return None
        return _tensor(code, module, over, place)
    return None


def _tensor(code: Code, module: Module, loader: ast.expr, place: int) -> tuple[Module, ast.expr] | None:
    """The tensor at a place of the one TensorDataset behind a loader."""
    node, where = loader, module
    for wanted in ("torch.utils.data.DataLoader", "torch.utils.data.TensorDataset"):
        origins = code.origins(where, node)
        if len(origins) != 1 or not isinstance(origins[0].node, ast.Call):
            return None
        where, made = origins[0].module, origins[0].node
        if shortest(external(resolve(code.project, where, made.func))) != wanted or not made.args:
            return None
        if wanted.endswith("TensorDataset"):
            is_there = len(made.args) > place and not any(isinstance(a, ast.Starred) for a in made.args)
            return (where, made.args[place]) if is_there else None
        node = made.args[0]
    return None


def is_column_of_model(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether a value is what a last linear layer of width one gives: (N, 1), for a batch of rows."""
    origins = code.origins(module, node)
    return bool(origins) and all(
        isinstance(o.node, ast.Call) and _ends_in_one(code, o.module, o.node.func) for o in origins
    )


def _ends_in_one(code: Code, module: Module, func: ast.expr) -> bool:
    made = code.origins(module, func)
    return bool(made) and all(
        isinstance(o.node, ast.Call) and _is_one_wide(code, o.module, o.node) for o in made
    )


def _put_in_last(module: Module, star: ast.Starred) -> ast.expr | None:
    """What is appended last to a list of layers that is built in sight, once and for all."""
    function = module.function(star)
    if not isinstance(star.value, ast.Name) or function is None:
        return None
    name = star.value.id
    grows = [
        n
        for n in ast.walk(function)
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in GROWING
        and isinstance(n.func.value, ast.Name)
        and n.func.value.id == name
    ]
    grows += [n for n in ast.walk(function) if isinstance(n, ast.AugAssign) and ast.unparse(n.target) == name]  # type: ignore[misc]
    latest = max(grows, key=lambda n: n.lineno, default=None)
    statement = module.statement(latest) if latest is not None else None
    straight = statement is not None and module.parents.get(statement) is function
    if not straight or not isinstance(latest, ast.Call) or latest.func.attr != "append" or not latest.args:  # type: ignore[attr-defined]
        return None
    return latest.args[0]


def _is_one_wide(code: Code, module: Module, call: ast.Call) -> bool:
    name = shortest(external(resolve(code.project, module, call.func)))
    if name == "torch.nn.Sequential":
        last = call.args[-1] if call.args else None
        if isinstance(last, ast.Starred):
            last = _put_in_last(module, last)
        return isinstance(last, ast.Call) and _is_one_wide(code, module, last)
    if name != "torch.nn.Linear":
        return False
    width = (
        call.args[1]
        if len(call.args) > 1
        else next((k.value for k in call.keywords if k.arg == "out_features"), None)
    )
    known = code.constant(module, width) if width is not None else None
    return known is not None and known.value == 1

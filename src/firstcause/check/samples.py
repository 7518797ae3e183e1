"""What a data set of the program gives for one part of a batch: the expressions that its ``__getitem__`` returns there."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.check.code import Call, Code
from firstcause.check.makers import call_of
from firstcause.source.callsites import last_name
from firstcause.source.classes import method
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve

DATA = "torch.utils.data."
# Hooks of Lightning that are given the batches of a program's loaders.
HOOKS = frozenset({"training_step", "validation_step", "test_step"})
# Methods that leave a value's dimensions as they are.
MOVES = frozenset({"to", "float", "double", "cuda", "cpu", "long", "half", "contiguous", "clone", "detach"})
HOPS = 4
Key = int | str


@dataclass(frozen=True, eq=False)
class Sample:
    """A part of a sample: the expression, and the name of the index that ``__getitem__`` is given."""

    module: Module
    node: ast.expr
    index: str


def samples_of(code: Code, module: Module, node: ast.expr) -> list[Sample]:
    """What the data sets behind a part of a batch return for it; empty where that is not sure."""
    found = _place(module, node)
    if found is None:
        return []
    batch, key = found
    classes = (
        _of_loader(code, module, batch)
        if _loops_over(module, node, batch)
        else _behind(code, module, batch, HOPS)
    )
    samples = [s for cls in classes or () for s in _returned(code, cls, key)]
    return samples if classes and len(samples) >= len(classes) else []


def _place(module: Module, node: ast.expr) -> tuple[ast.expr, Key] | None:
    """The batch, or what a loop takes batches from, and the place in it that an expression stands for."""
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return (node.value, key) if isinstance(key, (int, str)) and isinstance(node.value, ast.Name) else None
    if not isinstance(node, ast.Name):
        return None
    bound = _bindings(module, node.id, node)
    if bound is None or len(bound) != 1:
        return None
    target, value = bound[0]
    if isinstance(target, ast.Name):
        return _place(module, value) if isinstance(value, ast.Subscript) else None
    names = [t.id if isinstance(t, ast.Name) else "" for t in target.elts]
    return (value, names.index(node.id)) if names.count(node.id) == 1 else None


def _bindings(
    module: Module, name: str, node: ast.expr
) -> list[tuple[ast.Name | ast.Tuple | ast.List, ast.expr]] | None:
    """All that binds a name in its function, moves of itself left out; None where something else does."""
    function = module.function(node)
    if function is None or isinstance(function, ast.Lambda):
        return None
    found: list[tuple[ast.Name | ast.Tuple | ast.List, ast.expr]] = []
    for inner in ast.walk(function):
        if not isinstance(inner, ast.Name) or inner.id != name or isinstance(inner.ctx, ast.Load):
            continue
        parent: ast.AST | None = module.parents.get(inner)
        target: ast.AST = inner
        if isinstance(parent, (ast.Tuple, ast.List)):
            target, parent = parent, module.parents.get(parent)
        while isinstance(parent, ast.Tuple):
            target, parent = target, module.parents.get(parent)
        if isinstance(parent, (ast.For, ast.AsyncFor)):
            found.append((target, parent.iter))  # type: ignore[arg-type]
        elif isinstance(parent, ast.Assign):
            value = parent.value
            if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
                value = value.elts[target.elts.index(inner)] if len(value.elts) == len(target.elts) else value
                target = inner
            if not _is_moved(value, name):
                found.append((target, value))  # type: ignore[arg-type]
        else:
            return None
    return found


def _is_moved(value: ast.expr, name: str) -> bool:
    moved = value
    while isinstance(moved, ast.Call) and isinstance(moved.func, ast.Attribute) and moved.func.attr in MOVES:
        moved = moved.func.value
    return moved is not value and isinstance(moved, ast.Name) and moved.id == name


def _loops_over(module: Module, node: ast.AST, over: ast.expr) -> bool:
    return any(isinstance(a, (ast.For, ast.AsyncFor)) and a.iter is over for a in module.ancestors(node))


def _behind(code: Code, module: Module, batch: ast.expr, hops: int) -> list[Defined] | None:
    """The classes of the data sets whose batches a name is: a loop's, or a parameter's of a hook."""
    if not isinstance(batch, ast.Name) or not hops:
        return None
    bound = _bindings(module, batch.id, batch)
    function = module.function(batch)
    if bound is None or not isinstance(function, ast.FunctionDef):
        return None
    if len(bound) == 1 and isinstance(bound[0][0], ast.Name):
        return _of_loader(code, module, bound[0][1]) if _loops_over(module, batch, bound[0][1]) else None
    names = [a.arg for a in function.args.args]
    if bound or batch.id not in names:
        return None
    if function.name in HOOKS:
        return _every(code)
    at = names.index(batch.id)
    found: list[Defined] = []
    calls = code.own_calls(function.name)
    for call in calls:
        place = at - (1 if names[0] == "self" else 0)
        given = call.node.args[place] if len(call.node.args) > place >= 0 else None
        classes = _behind(code, call.module, given, hops - 1) if given is not None else None
        if not classes:
            return None
        found += classes
    return found or None


def _every(code: Code) -> list[Defined] | None:
    """All data sets of the program, where its loaders put samples together as torch does."""
    if any(c.may_have("collate_fn") for c in code.methods_and_calls("DataLoader")):
        return None
    if code.called_names() & {"TensorDataset", "load_dataset", "ImageFolder"}:
        return None
    return [d for d in code.subclasses_of(f"{DATA}Dataset") if isinstance(d.node, ast.ClassDef)] or None


def _of_loader(code: Code, module: Module, over: ast.expr) -> list[Defined] | None:
    while isinstance(over, ast.Call) and over.args and last_name(over.func) == "tqdm":
        over = over.args[0]
    found: list[Defined] = []
    for origin in code.origins(module, over):
        made = call_of(code, origin.module, origin.node) if isinstance(origin.node, ast.Call) else None
        if made is None or made.name != f"{DATA}DataLoader":
            return None
        if any(made.may_have(n) for n in ("collate_fn", "batch_sampler")) or _takes_single(made):
            return None
        given = made.argument("dataset", 0)
        classes = (
            _classes(code, given.module, given.node, HOPS) if given is not None and not given.path else None
        )
        if not classes:
            return None
        found += classes
    return found or None


def _takes_single(made: Call) -> bool:
    """Whether samples are not put together at all, or may not be."""
    size = made.argument("batch_size", 1)
    return size is None or (isinstance(size.node, ast.Constant) and size.node.value in (None, 1))


def _classes(code: Code, module: Module, node: ast.expr, hops: int) -> list[Defined] | None:
    """The project's classes that a data set is of, through parts of it."""
    found: list[Defined] = []
    for origin in code.origins(module, node) if hops else ():
        made = call_of(code, origin.module, origin.node) if isinstance(origin.node, ast.Call) else None
        if made is None:
            return None
        if made.name in (f"{DATA}random_split", f"{DATA}Subset") and made.node.args:
            inner = _classes(code, made.module, made.node.args[0], hops - 1)
            if not inner:
                return None
            found += inner
            continue
        cls = resolve(code.project, made.module, made.node.func)
        if not isinstance(cls, Defined) or not isinstance(cls.node, ast.ClassDef):
            return None
        found.append(cls)
    return found or None


def _returned(code: Code, cls: Defined, key: Key) -> list[Sample]:
    """What a class's ``__getitem__`` returns at a place; empty where one of its returns has no such place."""
    assert isinstance(cls.node, ast.ClassDef)
    found = method(code.project, cls.module, cls.node, "__getitem__")
    if found is None or not isinstance(found.node, ast.FunctionDef) or len(found.node.args.args) != 2:
        return []
    index = found.node.args.args[1].arg
    samples = []
    for inner in ast.walk(found.node):
        if not isinstance(inner, ast.Return):
            continue
        value: ast.expr | None = None
        if isinstance(inner.value, ast.Tuple) and isinstance(key, int) and -1 <= key < len(inner.value.elts):
            value = inner.value.elts[key]
        elif isinstance(inner.value, ast.Dict) and isinstance(key, str):
            pairs = zip(inner.value.keys, inner.value.values, strict=True)
            value = next((v for k, v in pairs if getattr(k, "value", None) == key), None)
        if value is None:
            return []
        samples.append(Sample(found.module, value, index))
    return samples

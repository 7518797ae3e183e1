"""The classification loss on a line: its targets, where its settings are given, and the label that it should ignore."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from firstcause.fix.operations import Facts, module_of
from firstcause.source import Module, Project
from firstcause.source.arguments import argument
from firstcause.source.callees import callees, library_name
from firstcause.source.data import data_origins_of, places
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value

# The largest byte: "void" in the masks of segmentation data sets.
BYTE_MARK = 255
LOSSES = frozenset({"cross_entropy", "nll_loss", "nll_loss2d", "multi_margin_loss", "gaussian_nll_loss"})
LOSS_CLASSES = frozenset({"CrossEntropyLoss", "NLLLoss", "MultiMarginLoss", "NLLLoss2d"})


@dataclass(frozen=True, eq=False)
class Loss:
    """A classification loss: the targets that its call gets, and the call that takes its settings."""

    target: Value
    settings: Module
    call: ast.Call
    # The call that gets prediction and target; of a function it is the one that takes the settings too.
    use: ast.Call


def loss_of(facts: Facts, project: Project) -> Loss | None:
    """The classification loss on the line of the facts; None where no such call stands there, or more than one."""
    module = module_of(facts, project)
    if module is None:
        return None
    calls = [n for n in module.nodes_on(int(facts["line"])) if isinstance(n, ast.Call)]
    found = [(c, s) for c in calls if (s := _settings(project, module, c)) is not None]
    given = argument(found[0][0], 1, "target") if len(found) == 1 else None
    if given is None:
        return None
    return Loss(Value(module, given.node, None, given.path), *found[0][1], found[0][0])


def is_used_once(loss: Loss, project: Project) -> bool:
    """Whether no other call of the project gets the same loss module, as an evaluation's does."""
    calls = [(m, c) for m in project.modules for c in m.nodes(ast.Call) if len(c.args) + len(c.keywords) == 2]
    users = [c for m, c in calls if (s := _settings(project, m, c)) is not None and s[1] is loss.call]
    return users == [loss.use]


def _settings(project: Project, module: Module, call: ast.Call) -> tuple[Module, ast.Call] | None:
    """The call that takes a loss's settings: the function's own, or the constructor of the loss module that is called."""
    value = Value(module, call)
    if library_name(new_walk(project), value).rpartition(".")[2] in LOSSES:
        return module, call
    walk = new_walk(project, spread=True)
    found: dict[int, tuple[Module, ast.Call]] = {}
    for origin in walk.callables(value.at(call.func)):
        if isinstance(origin.node, ast.Call):
            made = {c.name.rpartition(".")[2] for c in callees(walk, Value(origin.module, origin.node))}
            if made & LOSS_CLASSES:
                found[id(origin.node)] = (origin.module, origin.node)
    return next(iter(found.values())) if len(found) == 1 else None


def marker_of(facts: Facts, project: Project, target: Value) -> int | None:
    """The value by which labels say "not labelled": far outside of the classes, and written as such by the code.

    255 is that by convention in masks of bytes; any other value has to stand on the labels' way.
    """
    classes, low, high = (facts.get(key) for key in ("n_classes", "target_min", "target_max"))
    if classes is None or low is None or high is None:
        return None
    value = int(low) if low < 0 else int(high)
    if 0 <= value <= int(classes):
        return None
    if value == BYTE_MARK and classes < BYTE_MARK:
        return value
    ways = [places(origin) for origin in data_origins_of(project, target)]
    is_written = any(_writes(hop.module, hop.node, value) for way in ways for hop in way)
    return value if is_written else None


def written_over(project: Project, loss: Loss, outside: list[int] | None) -> tuple[Module, ast.Assign] | None:
    """The one assignment on the labels' way that writes a value into a part of them which the loss does not know.

    Only where the loss ignores another value: that one was to be written.
    """
    ignores = any(k.arg == "ignore_index" for k in loss.call.keywords)
    if not ignores or outside is None or len(outside) != 1:
        return None
    found: dict[int, tuple[Module, ast.Assign]] = {}
    for origin in data_origins_of(project, loss.target):
        for hop in places(origin):
            function = hop.module.function(hop.node)
            for node in hop.module.inside(function, ast.Assign) if function is not None else ():
                part = len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript)
                if part and _number(project, Value(hop.module, node.value)) == outside[0]:
                    found[id(node)] = (hop.module, node)
    return next(iter(found.values())) if len(found) == 1 else None


def _number(project: Project, value: Value) -> int | None:
    """A literal, or the length of a list that is one, followed through names."""
    node = value.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        listed = [o.node for o in new_walk(project).origins(value.at(node.args[0]))]
        sizes = {len(n.elts) for n in listed if isinstance(n, (ast.List, ast.Tuple))}
        return sizes.pop() if len(sizes) == 1 and len(listed) == 1 else None
    numbers = {
        _literal(o.node) for o in new_walk(project).origins(value) if isinstance(o.node, ast.expr)
    } or {None}
    return numbers.pop() if len(numbers) == 1 else None


def _writes(module: Module, node: ast.AST, value: int) -> bool:
    """Whether code assigns a value or gives it to a call (``full``, ``where``, ``get``), not as one datum of a list."""
    return any(
        isinstance(part, ast.expr)
        and isinstance(module.parents.get(part), (ast.Assign, ast.Call, ast.keyword, ast.IfExp))
        and _literal(part) == value
        for part in ast.walk(node)
    )


def _literal(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _literal(node.operand)
        return -inner if inner is not None else None
    is_int = isinstance(node, ast.Constant) and isinstance(node.value, int)
    return int(node.value) if is_int and isinstance(node, ast.Constant) else None  # type: ignore[arg-type]

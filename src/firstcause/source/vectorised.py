"""A loop over the elements of tensors, written for all of them at once with ``torch.vmap``; None for another form."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

from firstcause.source import reads
from firstcause.source.loop_forms import SIMPLE, parted
from firstcause.source.of_tensors import OfTensors

Given = tuple[ast.expr, str]


def together(statement: ast.stmt) -> str | None:
    """The text that takes the place of a ``for`` or of a statement with a list of one value an element, unindented."""
    if not isinstance(statement, ast.For):
        return _of_list(statement)
    made = _of_loop(statement)
    if made is not None:
        return made
    ways = [_of_loop(one) for one in parted(statement)]
    return "\n".join(w for w in ways if w is not None) if None not in ways else None


@dataclass
class _Loop:
    """A loop's variable and length, and the slices that it takes: text of the tensor and axis, and the slice's name."""

    variable: str
    length: str
    slices: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def given(self) -> str:
        """The arguments of the call: the tensors, cut to the length of the loop."""
        texts = []
        for text, axis in self.slices:
            whole = (
                not self.length or axis or self.length == f"len({text})" or text.startswith("torch.arange")
            )
            texts.append(text if whole else f"{text}[:{self.length}]")
        return ", ".join(texts)

    @property
    def axes(self) -> str:
        found = tuple(axis for _, axis in self.slices)
        return f", in_dims={found!r}" if any(found) else ""


def _of_loop(loop: ast.For) -> str | None:
    chain = _chain(loop)
    if chain is None:
        return None
    loops, bodies, last, condition = chain
    given = _given(last, [x.variable for x in loops], loops)
    if given is None or (condition is not None and ".sum(0)" not in given[1]):
        return None
    value = given[0]
    if condition is not None:
        value = ast.parse(
            f"torch.where({ast.unparse(condition)}, {ast.unparse(value)}, 0.0)", mode="eval"
        ).body
    made = _mapped(loops, bodies, value, 0)
    if made is None:
        return None
    lines, call = made
    return "\n".join([*lines, given[1].replace("@", call)])


def _of_list(statement: ast.stmt) -> str | None:
    """``[f(a, b) for a, b in zip(x, y)]`` within a statement; a generator that is summed or listed is the same."""
    for node in ast.walk(statement):
        if not isinstance(node, (ast.ListComp, ast.GeneratorExp)) or len(node.generators) != 1:
            continue
        part = node.generators[0]
        if part.ifs or part.is_async:
            continue
        loop = ast.For(part.target, part.iter, [ast.Expr(node.elt)], [], None)
        head = _opened(loop)
        made = _mapped([head], [[]], node.elt, 0) if head is not None else None
        if made is None:
            continue
        lines, call = made
        put = _Put(node, ast.parse(f"list({call})", mode="eval").body)
        return "\n".join([*lines, ast.unparse(put.into(statement))])
    return None


# ------------------------------------------------------------------ the form of the loop


def _chain(loop: ast.For) -> tuple[list[_Loop], list[list[ast.stmt]], ast.stmt, ast.expr | None] | None:
    """Loops that end in one another, what each does before, what the innermost one gives, and under which condition."""
    loops: list[_Loop] = []
    bodies: list[list[ast.stmt]] = []
    statement: ast.stmt = loop
    while isinstance(statement, ast.For):
        head = _opened(statement)
        if head is None or statement.orelse:
            return None
        loops.append(head)
        bodies.append(statement.body[:-1])
        statement = statement.body[-1]
    condition = None
    if isinstance(statement, ast.If) and not statement.orelse and len(statement.body) == 1:
        condition, statement = statement.test, statement.body[0]
    return loops, bodies, statement, condition


def _opened(loop: ast.For) -> _Loop | None:
    """The loop by its index, or by its elements: over ``range``, ``enumerate``, ``zip`` or a tensor itself."""
    over, target = loop.iter, loop.target
    if isinstance(over, (ast.Name, ast.Attribute)) and isinstance(target, ast.Name):
        return _Loop("", "", {(ast.unparse(over), 0): target.id})
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name) or over.keywords:
        return None
    if over.func.id == "range" and len(over.args) == 1 and isinstance(target, ast.Name):
        return _Loop(target.id, _length(over.args[0]))
    if over.func.id == "enumerate" and len(over.args) == 1 and isinstance(target, ast.Tuple):
        index, element = target.elts
        if isinstance(index, ast.Name) and isinstance(element, ast.Name):
            text = ast.unparse(over.args[0])
            return _Loop(index.id, f"len({text})", {(text, 0): element.id})
    if over.func.id == "zip" and isinstance(target, ast.Tuple):
        names = [t.id for t in target.elts if isinstance(t, ast.Name)]
        if len(names) == len(target.elts) == len(over.args):
            return _Loop("", "", {(ast.unparse(a), 0): n for a, n in zip(over.args, names, strict=True)})
    return None


def _length(node: ast.expr) -> str:
    """``len(x)`` however it is written."""
    text = ast.unparse(node)
    for end in (".shape[0]", ".size(0)"):
        if text.endswith(end):
            return f"len({text.removesuffix(end)})"
    return text


def _given(last: ast.stmt, variables: list[str], loops: Sequence[_Loop]) -> Given | None:
    """The value of one pass, and the statement for all of them, with ``@`` for their values."""
    total = "@" + ".sum(0)" * len(loops)
    if isinstance(last, ast.AugAssign) and isinstance(last.op, ast.Add) and isinstance(last.target, ast.Name):
        return last.value, f"{last.target.id} = {last.target.id} + {total}"
    if isinstance(last, ast.Assign) and len(last.targets) == 1:
        target, value = last.targets[0], last.value
        if isinstance(target, ast.Subscript) and all(variables):
            return _slots(target, value, variables, loops)
        if isinstance(target, ast.Name) and isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
            is_total = ast.unparse(value.left) == target.id
            return (value.right, f"{target.id} = {target.id} + {total}") if is_total else None
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and len(last.value.args) == 1:
        func = last.value.func
        if isinstance(func, ast.Attribute) and func.attr == "append":
            flat = f".flatten(0, {len(loops) - 1})" if len(loops) > 1 else ""
            return last.value.args[0], f"{ast.unparse(func.value)}.extend(@{flat})"
    return None


def _slots(
    target: ast.Subscript, value: ast.expr, variables: list[str], loops: Sequence[_Loop]
) -> Given | None:
    """``out[i, j] = value``, or the other way round where the slot is the transposed one."""
    keys = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    named = [k.id if isinstance(k, ast.Name) else "" for k in keys]
    ends = [f":{x.length}" for x in loops]
    if named == variables:
        return value, f"{ast.unparse(target.value)}[{', '.join(ends)}] = @"
    if named == variables[::-1] and len(loops) == 2:
        return value, f"{ast.unparse(target.value)}[{', '.join(ends[::-1])}] = @.transpose(0, 1)"
    return None


# ------------------------------------------------------------------ the function of one element


def _mapped(
    loops: Sequence[_Loop], bodies: Sequence[list[ast.stmt]], value: ast.expr, depth: int
) -> tuple[list[str], str] | None:
    """The lines that define the function of one element, and the call for all of them."""
    head = loops[0]
    stored = set(reads.outputs([s for body in bodies for s in body]))
    taken = _Slices(head, stored)
    before: list[ast.AST] = []
    for statement in bodies[0]:
        one = taken.visit(copy.deepcopy(statement))
        made = together(one) if isinstance(one, ast.For) else None
        one_by_one = ast.parse(made).body if made is not None else [one]
        if not all(isinstance(s, (*SIMPLE, ast.FunctionDef)) for s in one_by_one):
            return None
        before += one_by_one
    rest = [[taken.visit(copy.deepcopy(s)) for s in body] for body in bodies[1:]]
    inner = taken.visit(copy.deepcopy(value))
    name = f"each_{depth}" if depth else "each"
    lines = [line for s in before for line in ast.unparse(OfTensors().visit(s)).splitlines()]
    if len(loops) > 1:
        # What the inner loops run over may be a slice of the outer one.
        following = [_sliced(x, taken) for x in loops[1:]]
        deeper = _mapped(following, rest, inner, depth + 1)
        if deeper is None:
            return None
        lines += [*deeper[0], f"return {deeper[1]}"]
    else:
        lines.append(f"return {ast.unparse(OfTensors().visit(inner))}")
    if taken.left or not head.slices:
        return None
    parameters = ", ".join(head.slices.values())
    defined = [f"def {name}({parameters}):", *(f"    {line}" for line in lines)]
    return defined, f"torch.vmap({name}{head.axes})({head.given})"


def _sliced(loop: _Loop, taken: _Slices) -> _Loop:
    slices = {}
    for (text, axis), name in loop.slices.items():
        node = taken.visit(ast.parse(text, mode="eval").body)
        slices[(ast.unparse(node), axis)] = name
    return _Loop(loop.variable, loop.length, slices)


class _Slices(ast.NodeTransformer):
    """``x[i]`` becomes the name of a slice, ``i`` itself an element of ``arange``; ``left`` where neither can be."""

    def __init__(self, head: _Loop, stored: set[str]) -> None:
        self.head, self.stored, self.left = head, stored, False

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        variable = self.head.variable
        if variable and ast.unparse(node.slice) in (f"{variable}:{variable} + 1", f"[{variable}]"):
            # One row that keeps its axis.
            row = self.visit(ast.Subscript(node.value, ast.Name(variable, ast.Load()), node.ctx))
            return row if self.left else ast.parse(f"{ast.unparse(row)}[None]", mode="eval").body
        keys = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        at = [k for k, key in enumerate(keys) if isinstance(key, ast.Name) and key.id == variable]
        if not variable or not at:
            held = [n for key in keys for n in ast.walk(key) if isinstance(n, ast.Name)]
            self.left = self.left or (bool(variable) and any(n.id == variable for n in held))
            return self.generic_visit(node)
        full = all(_is_full(k) for k in keys[: at[0]])
        root = reads.root_name(node.value)
        is_read = isinstance(node.ctx, ast.Load) and root is not None and root not in self.stored
        if len(at) != 1 or not full or not is_read:
            self.left = True
            return node
        name = f"{reads.plain_name(node.value)}_{variable}"
        name = self.head.slices.setdefault((ast.unparse(node.value), at[0]), name)
        rest = keys[: at[0]] + keys[at[0] + 1 :]
        made: ast.expr = ast.Name(name, ast.Load())
        if rest and not all(map(_is_full, rest)):
            key = rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load())
            made = ast.Subscript(made, self.visit(key), ast.Load())
        return made

    def visit_Name(self, node: ast.Name) -> ast.AST:
        variable = self.head.variable
        if variable and node.id == variable:
            self.head.slices.setdefault((f"torch.arange({self.head.length})", 0), variable)
        return node


class _Put(ast.NodeTransformer):
    """One node replaced by another, in a copy of the statement that holds it."""

    def __init__(self, node: ast.AST, made: ast.AST) -> None:
        self.place, self.made = node, made

    def into(self, statement: ast.stmt) -> ast.AST:
        number = next(k for k, n in enumerate(ast.walk(statement)) if n is self.place)
        whole = copy.deepcopy(statement)
        self.place = next(n for k, n in enumerate(ast.walk(whole)) if k == number)
        made: ast.AST = self.visit(whole)
        return made

    def visit(self, node: ast.AST) -> ast.AST:
        return self.made if node is self.place else self.generic_visit(node)


def _is_full(key: ast.expr) -> bool:
    return isinstance(key, ast.Slice) and not (key.lower or key.upper or key.step)

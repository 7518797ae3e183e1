"""How a walk goes through the plain expressions: literals, branches, operators, subscripts, displays."""

from __future__ import annotations

import ast

from firstcause.source import argv
from firstcause.source.containers import literal_elements, pick
from firstcause.source.frames import Value
from firstcause.source.steps import EACH, Step, constant_key
from firstcause.source.walk import Chain, Follow, Hop, Origin, Result, Walk


def _constant(walk: Walk, value: Value, chain: Chain) -> Result:
    return walk.stop("literal", value, chain)


def _unary(walk: Walk, value: Value, chain: Chain) -> Result:
    assert isinstance(value.node, ast.UnaryOp)
    return walk.stop("literal" if isinstance(value.node.operand, ast.Constant) else "operation", value, chain)


def _conditional(walk: Walk, value: Value, chain: Chain) -> Result:
    assert isinstance(value.node, ast.IfExp)
    taken = argv.holds(walk.project, value.module, value.node.test)
    if taken is not None:
        return walk.trace(value.at(value.node.body if taken else value.node.orelse, value.path), chain)
    return walk.any_of((value.at(n, value.path), chain) for n in (value.node.body, value.node.orelse))


def _boolean(walk: Walk, value: Value, chain: Chain) -> Result:
    assert isinstance(value.node, ast.BoolOp)
    return walk.any_of((value.at(n, value.path), chain) for n in value.node.values)


def _wrapped(walk: Walk, value: Value, chain: Chain) -> Result:
    assert isinstance(value.node, (ast.NamedExpr, ast.Starred, ast.Await))
    return walk.trace(value.at(value.node.value, value.path), chain)


def _binary(walk: Walk, value: Value, chain: Chain) -> Result:
    assert isinstance(value.node, ast.BinOp)
    node, path = value.node, value.path
    if path and path[0] == EACH and isinstance(node.op, ast.Add):
        return walk.any_of((value.at(n, path), chain) for n in (node.left, node.right))
    if path and path[0].kind == "item" and isinstance(node.op, ast.BitOr):
        # Of two mappings the right one's entry stands.
        right = walk.trace(value.at(node.right, path), chain)
        return right or walk.trace(value.at(node.left, path), chain)
    if path and path[0].kind in ("iter", "item") and isinstance(node.op, ast.Mult):
        listed = next((n for n in (node.left, node.right) if isinstance(n, (ast.List, ast.Tuple))), None)
        return walk.trace(value.at(listed, (EACH, *path[1:])), chain) if listed is not None else None
    return walk.stop("operation", value, chain)


def _subscript(walk: Walk, value: Value, chain: Chain) -> Result:
    assert isinstance(value.node, ast.Subscript)
    node, path = value.node, value.path
    words = argv.word(walk.project, value.module, node)
    if words is not None:
        return walk.any_of((Value(f, w, None, path), (*chain, Hop(f, w))) for f, w in words)
    is_slice = isinstance(node.slice, ast.Slice)
    if walk.data and (is_slice or isinstance(node.slice, ast.Tuple)):
        return walk.trace(value.at(node.value, path), chain)
    step = EACH if is_slice else Step("item", _key(walk, value))
    inside = (
        None
        if is_slice and not path
        else walk.trace(value.at(node.value, path if is_slice else (step, *path)), chain)
    )
    if inside is None and walk.data:
        inside = walk.trace(value.at(node.value, path), chain)
    return inside if inside is not None else walk.stop("operation", value, chain)


def _key(walk: Walk, value: Value) -> str | int | None:
    """The key of a subscript: as written, or the one text that a name for it stands for."""
    assert isinstance(value.node, ast.Subscript)
    key = constant_key(value.node.slice)
    if key is not None or walk.data or not isinstance(value.node.slice, (ast.Name, ast.Attribute)):
        return key
    named = walk.fork().origins(value.at(value.node.slice))
    texts = [o.node.value for o in named if isinstance(o.node, ast.Constant) and o.exact]
    return texts[0] if len(named) == len(texts) == 1 and isinstance(texts[0], str) else None


def _sequence(walk: Walk, value: Value, chain: Chain) -> Result:
    assert isinstance(value.node, (ast.List, ast.Tuple, ast.Set))
    if not value.path:
        return walk.stop("literal", value, chain)
    return pick(walk, value, literal_elements(value), chain)


def _mapping(walk: Walk, value: Value, chain: Chain) -> Result:
    assert isinstance(value.node, ast.Dict)
    if not value.path:
        return walk.stop("literal", value, chain)
    step, rest = value.path[0], value.path[1:]
    if step.kind == "iter":
        return [Origin("literal", value.module, value.node, chain, exact=False)] if not rest else None
    if step.key is not None:
        return _entry(walk, value, step.key, chain)
    found: list[tuple[Value, Chain]] = []
    for key, item in zip(value.node.keys, value.node.values, strict=True):
        if key is None:
            found.append((value.at(item, value.path), chain))
        else:
            found.append((value.at(item, rest), (*chain, Hop(value.module, item))))
    return walk.any_of(found)


def _entry(walk: Walk, value: Value, name: str | int, chain: Chain) -> Result:
    """The entry of a display: of several that give it, written out or by ``**``, the last one stands."""
    assert isinstance(value.node, ast.Dict)
    for key, item in reversed([*zip(value.node.keys, value.node.values, strict=True)]):
        if key is None:
            inside = walk.trace(value.at(item, value.path), chain)
            if inside:
                return inside
        elif constant_key(key) == name:
            return walk.trace(value.at(item, value.path[1:]), (*chain, Hop(value.module, item)))
    return walk.any_of([])


def _comprehension(walk: Walk, value: Value, chain: Chain) -> Result:
    if not value.path:
        return walk.stop("operation", value, chain)
    node, step, rest = value.node, value.path[0], value.path[1:]
    if isinstance(node, ast.DictComp):
        element = node.key if step.kind == "iter" else node.value
    else:
        assert isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp))
        element = node.elt
        only = node.generators[0] if len(node.generators) == 1 and not node.generators[0].ifs else None
        if only is not None and isinstance(step.key, int) and only not in walk.selected:
            # The k-th element of the result comes from the k-th of what is gone through.
            walk.selected[only] = step.key
            try:
                return walk.trace(value.at(element, rest), chain)
            finally:
                del walk.selected[only]
    return walk.trace(value.at(element, rest), chain)


EXPRESSIONS: dict[type[ast.AST], Follow] = {
    ast.Constant: _constant,
    ast.UnaryOp: _unary,
    ast.IfExp: _conditional,
    ast.BoolOp: _boolean,
    ast.NamedExpr: _wrapped,
    ast.Starred: _wrapped,
    ast.Await: _wrapped,
    ast.BinOp: _binary,
    ast.Subscript: _subscript,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _mapping,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.DictComp: _comprehension,
}

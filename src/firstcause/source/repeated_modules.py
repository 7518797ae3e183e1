"""Where a program uses one module object for several places: ``[block] * n``, ``repeat(block, n)``, a variable that a loop or
a comprehension gives again and again, a variable twice in one list or call, a default argument."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firstcause.source.module import Module
from firstcause.source.project import Project

# Weights that are shared on purpose are said to be.
MEANT = re.compile(
    r"share|tied|tie_|tying|siames|universal|albert|recurren|recursi|iterat|same_", re.IGNORECASE
)


@dataclass(frozen=True)
class Repeated:
    """The node that repeats, the expression that builds the object (if it is seen), and the text that builds one a place.

    ``{}`` in the text stands for that expression; no text where a place cannot build its own. ``again`` are the further
    nodes that give the same object, where it is named more than twice.
    """

    module: Module
    node: ast.expr
    built: ast.expr | None
    text: str | None = "{}"
    again: tuple[ast.expr, ...] = ()


def find_repeated(project: Project, class_name: str, even_meant: bool = False) -> list[Repeated]:
    """The places at which an object of a class is repeated, without those that are said to be meant, or with them."""
    return [
        one
        for module in project.modules
        for one in _in_module(module)
        if _builds(module, one.built, class_name) and (even_meant or not _meant(module, one.node))
    ]


def _in_module(module: Module) -> Iterator[Repeated]:
    for node in module.nodes(ast.BinOp):
        yield from _multiplied(module, node)
    for call in module.nodes(ast.Call):
        yield from _appended(module, call)
        yield from _by_repeat(module, call)
        yield from _by_keys(module, call)
        yield from _named_again(module, call.args)
    for listed in module.nodes(ast.ListComp):
        yield from _comprehended(module, listed.elt, listed.generators)
    for given in module.nodes(ast.GeneratorExp):
        yield from _comprehended(module, given.elt, given.generators)
    for mapped in module.nodes(ast.DictComp):
        yield from _comprehended(module, mapped.value, mapped.generators)
    for row in module.nodes(ast.List):
        yield from _named_again(module, row.elts)
    for fixed in module.nodes(ast.Tuple):
        yield from _named_again(module, fixed.elts)
    for values in module.nodes(ast.Dict):
        yield from _named_again(module, values.values)
    for arguments in module.nodes(ast.arguments):
        yield from _by_default(module, arguments)


def _multiplied(module: Module, node: ast.BinOp) -> Iterator[Repeated]:
    """``[Block()] * n`` or ``n * [block]``."""
    if not isinstance(node.op, ast.Mult):
        return
    for held, times in ((node.left, node.right), (node.right, node.left)):
        if isinstance(held, (ast.List, ast.Tuple)) and len(held.elts) == 1:
            yield Repeated(module, node, _built(module, held.elts[0]), _times(module.segment(times)))
            return


def _appended(module: Module, call: ast.Call) -> Iterator[Repeated]:
    """``blocks.append(block)`` in a loop, the object built before it."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "append" or len(call.args) != 1:
        return
    name = call.args[0]
    built = _built(module, name)
    loop = next((a for a in module.ancestors(call) if isinstance(a, (ast.For, ast.While))), None)
    if isinstance(name, ast.Name) and built is not None and loop is not None and not _within(built, loop):
        yield Repeated(module, name, built)


def _comprehended(
    module: Module, name: ast.expr, generators: Sequence[ast.comprehension]
) -> Iterator[Repeated]:
    """``[block for _ in range(n)]``, the object built before it."""
    drawn = {n.id for g in generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    if isinstance(name, ast.Name) and name.id not in drawn:
        yield Repeated(module, name, _built(module, name))


def _by_repeat(module: Module, call: ast.Call) -> Iterator[Repeated]:
    """``itertools.repeat(block, n)``."""
    if module.segment(call.func).rpartition(".")[2] == "repeat" and len(call.args) == 2:
        yield Repeated(module, call, _built(module, call.args[0]), _times(module.segment(call.args[1])))


def _by_keys(module: Module, call: ast.Call) -> Iterator[Repeated]:
    """``dict.fromkeys(names, block)``."""
    if module.segment(call.func) == "dict.fromkeys" and len(call.args) == 2:
        text = f"{{{{key: {{}} for key in {_literal(module.segment(call.args[0]))}}}}}"
        yield Repeated(module, call, _built(module, call.args[1]), text)


def _named_again(module: Module, given: Sequence[ast.expr]) -> Iterator[Repeated]:
    """``Sequential(block, block)`` and ``[block, block]``: each name after its first place."""
    places: dict[str, list[ast.expr]] = {}
    for one in given:
        if isinstance(one, ast.Name):
            places.setdefault(one.id, []).append(one)
    for first, *again in places.values():
        if again:
            yield Repeated(module, again[0], _built(module, first), again=tuple(again[1:]))


def _by_default(module: Module, arguments: ast.arguments) -> Iterator[Repeated]:
    """``def __init__(self, norm=LayerNorm(64))``: one object for all that are made without."""
    for default in (*arguments.defaults, *arguments.kw_defaults):
        if isinstance(default, ast.Call):
            yield Repeated(module, default, default, None)


def _times(number: str) -> str:
    return f"[{{}} for _ in range({_literal(number)})]"


def _literal(text: str) -> str:
    """The text as it stands in a pattern of ``str.format``."""
    return text.replace("{", "{{").replace("}", "}}")


def _within(node: ast.AST, around: ast.stmt) -> bool:
    return around.lineno <= getattr(node, "lineno", 0) <= (around.end_lineno or 0)


def _built(module: Module, node: ast.expr) -> ast.expr | None:
    """The call behind an expression: itself, or what its name is bound to once in the function."""
    if isinstance(node, ast.Call):
        return node
    scope = module.function(node) or module.tree
    bound = [
        n.value
        for n in ast.walk(scope)
        if isinstance(node, ast.Name)
        and isinstance(n, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == node.id for t in n.targets)
    ]
    return bound[0] if len(bound) == 1 and isinstance(bound[0], ast.Call) else None


def _builds(module: Module, built: ast.expr | None, class_name: str) -> bool:
    return isinstance(built, ast.Call) and module.segment(built.func).rpartition(".")[2] == class_name


def _meant(module: Module, node: ast.AST) -> bool:
    kind = module.method_class(node) or module.function(node)
    return bool(MEANT.search(module.segment(kind) if kind is not None else ""))

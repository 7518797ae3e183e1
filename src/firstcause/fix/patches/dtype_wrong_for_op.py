"""An operand of another dtype than the call takes: cast where it becomes a tensor, else where it is given.

Facts:

- ``file``, ``line``, ``column``: the user's line that raised; ``function``: the call that refused.
- ``operand``: its number; ``role``: its name as a parameter; ``text``: what the raising line calls it, if anything.
- ``from``, ``to``: its dtype, and the one with which the call passes.
- ``cast``: file, line, column and ``function`` of the method that made it so, where one did.
- ``bound``: file, line and ``name`` of the variable that holds it, where it was given to the step.
"""

from __future__ import annotations

import ast

from firstcause.fix.arrivals import CONVERSIONS, call_on_way, ways
from firstcause.fix.draft import draft
from firstcause.fix.losses import loss_of
from firstcause.fix.operations import Facts, candidates, module_of, named_line
from firstcause.fix.rewrite import atom, called, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.walk import Hop

CAUSE = "dtype-wrong-for-op"
CASTS = {"int64": ".long()", "float32": ".float()", "bool": ".bool()"}


def line(facts: Facts, project: Project) -> Site | None:
    """The conversion that gives these values alone their dtype, else the line that hands them to the call."""
    cast = facts.get("cast")
    if cast:
        return named_line(cast, project)
    made = _made(facts, project)
    if made is not None:
        return made.site
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Cast the operand; an inverted bool mask is inverted by ``~``. None where the operand is not to be found."""
    module, cast = module_of(facts, project), CASTS.get(str(facts.get("to")))
    if module is None or cast is None:
        return None
    if facts.get("function") == "rsub" and facts.get("from") == "bool":
        return _inverted(facts, project, root, module)
    if facts.get("cast"):
        return _recast(facts["cast"], project, root, cast)
    made = _made(facts, project)
    found = made or _given(facts, project, module)
    if found is None or not isinstance(found.node, ast.expr):
        return None
    text = found.module.segment(found.node)
    return draft(
        project,
        root,
        CAUSE,
        called(found.module, found.node, cast),
        f"Cast `{text}` to {facts['to']} at {found.site}: `{facts.get('function')}` takes no {facts['from']} there.",
        f"{found.site}: `{text}` gets `{cast}`; the values stay as they are.",
        "Values that the new dtype cannot hold, such as fractions in labels.",
    )


def _recast(made: Facts, project: Project, root: str, cast: str) -> Fix | None:
    """The other cast in the place of the one that gives the wrong dtype."""
    module, name = module_of(made, project), str(made["function"])
    found = candidates(project, module, made, lambda p, m, n: _method(n, name)) if module is not None else []
    if module is None or len(found) != 1:
        return None
    call, of = found[0]
    text = module.segment(of)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, call, f"{text}{cast}")],
        f"Cast to what is needed at {module.site(call)}: `{cast}` instead of `.{name}()`.",
        f"{module.site(call)}: `{text}` gets `{cast}`, and so has all that is made of it.",
        "Code that counts on fractions of these values.",
    )


def _method(node: ast.expr, name: str) -> ast.expr | None:
    """What ``x.name()`` is called on, without arguments."""
    plain = isinstance(node, ast.Call) and not node.args and not node.keywords
    func = node.func if isinstance(node, ast.Call) and plain else None
    return func.value if isinstance(func, ast.Attribute) and func.attr == name else None


def _made(facts: Facts, project: Project) -> Hop | None:
    """The one conversion to a tensor that the operand's values came by, where it was given to the step whole."""
    bound = facts.get("bound") or {}
    found = [call_on_way(project, w, CONVERSIONS) for w in ways(project, bound, str(bound.get("name") or ""))]
    places = {id(hop.node): hop for hop in found if hop is not None}
    hop = next(iter(places.values())) if len(places) == 1 and None not in found else None
    return hop if hop is not None and not _is_shared(hop) else None


def _is_shared(hop: Hop) -> bool:
    """Whether only a part of the converted values is the operand."""
    return isinstance(hop.module.parents.get(hop.node), ast.Subscript)


def _given(facts: Facts, project: Project, module: Module) -> Hop | None:
    """The operand on the raising line: the target of a loss, or the name that it has there."""
    if facts.get("role") == "target":
        loss = loss_of(facts, project)
        if loss is not None and not loss.target.path:
            return Hop(loss.target.module, loss.target.node)
    text = facts.get("text")
    nodes = [
        n
        for n in module.nodes_on(int(facts["line"]))
        if isinstance(n, ast.expr) and module.segment(n) == text
    ]
    return Hop(module, nodes[0]) if len(nodes) == 1 else None


def _inverted(facts: Facts, project: Project, root: str, module: Module) -> Fix | None:
    """``1 - mask`` as ``~mask``, wherever the function inverts that mask so."""
    inversions = [n for n in module.nodes_on(int(facts["line"])) if _is_inversion(n)]
    texts = {module.segment(n.right) for n in inversions if isinstance(n, ast.BinOp)}
    if len(texts) != 1:
        return None
    text = texts.pop()
    scope: ast.AST = module.function(inversions[0]) or module.tree
    same = [
        n
        for n in ast.walk(scope)
        if isinstance(n, ast.BinOp) and _is_inversion(n) and module.segment(n.right) == text
    ]
    edits = [replaced(module, n, f"~{atom(module, n.right)}") for n in same]
    site = module.site(inversions[0])
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Invert the bool mask at {site} by `~{text}`: 1 - mask is not defined for bool.",
        f"{site}: `1 - {text}` becomes `~{text}`, bool as the mask itself.",
        "Arithmetic on the mask elsewhere that needs numbers.",
    )


def _is_inversion(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and isinstance(node.left, ast.Constant)
        and node.left.value in (1, 1.0)
    )

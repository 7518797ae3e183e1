"""A view in place of a transpose: the elements move with their axes.

Facts:

- ``file``, ``line``, ``column``: the call; ``function`` is ``view``, ``reshape``, ``unflatten``, or one of ``PARTING``.
- ``before``, ``after``: the shapes; ``which`` and ``order`` as ``lab/layouts`` gives them.
- ``merged``: the axes that the rows were, where only the way that they were put together tells the order; optional.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts, candidates, module_of, named_line
from firstcause.fix.rewrite import atom, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "transpose-by-view"
PARTING = ("chunk", "split", "tensor_split")


def line(facts: Facts, project: Project) -> Site | None:
    """The line of the view."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """A permutation, with a view that only splits or merges; None where its sizes are not written one by one."""
    module = module_of(facts, project)

    def subject(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if not is_call or node.func.attr != facts.get("function"):  # type: ignore[attr-defined]
            return None
        assert isinstance(node, ast.Call)
        assert isinstance(node.func, ast.Attribute)
        if module.segment(node.func.value) != "torch":
            return node.func.value
        return node.args[0] if node.args and facts["function"] in PARTING else None

    found = candidates(project, module, facts, subject) if module is not None else []
    if module is None or len(found) != 1 or "order" not in facts:
        return None
    call, tensor = found[0]
    text = _moved(module, call, tensor, facts)
    if text is None:
        return None
    site, before = module.site(call), module.segment(call)
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, call, text)],
        f"Move the elements with their axes at {site}: `{before}` becomes `{text}`.",
        f"{site}: {facts['before']} becomes {facts['after']} with every value on its own axes; the result may be not contiguous.",
        "Weights that were trained on the mixture.",
    )


def _moved(module: Module, call: ast.expr, tensor: ast.expr, facts: Facts) -> str | None:
    assert isinstance(call, ast.Call)
    order, own = list(facts["order"]), atom(module, tensor)
    if facts["function"] in PARTING:
        return f"{own}.unflatten(0, (-1, {facts['merged'][-1]})).unbind(1)"
    if facts["function"] == "unflatten":
        return None
    args = (
        call.args[0].elts
        if len(call.args) == 1 and isinstance(call.args[0], ast.Tuple | ast.List)
        else call.args
    )
    sizes = [module.segment(a) for a in args]
    if facts["which"] == "before":
        return f"{own}{_swap(order)}.reshape({', '.join(sizes)})"
    inverse = [order.index(i) for i in range(len(order))]
    if sorted(facts["before"]) == sorted(facts["after"]) and len(facts["before"]) == len(facts["after"]):
        return f"{own}{_swap(inverse)}"
    if len(sizes) != len(order) or any(isinstance(a, ast.Starred) for a in args):
        return None
    return f"{own}.{facts['function']}({', '.join(sizes[i] for i in order)}){_swap(inverse)}"


def _swap(order: list[int]) -> str:
    moved = [i for place, i in enumerate(order) if i != place]
    if len(moved) == 2:
        return f".transpose({min(moved)}, {max(moved)})"
    return f".permute({', '.join(map(str, order))})"

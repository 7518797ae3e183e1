"""Padded places count in the loss: targets of classes are ignored there, and values are compared elsewhere only.

Facts:

- ``file``, ``line``, ``column``: the loss; ``loss`` its function's name; ``classes`` whether its targets are classes.
- ``marker``: the target at padded places; ``only`` whether it stands nowhere else.
- ``known_as``: what the program has there for the real places, ``{"mask": expression}`` or ``{"lengths": name}``.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.losses import loss_of
from firstcause.fix.operations import Facts, module_of, named_line
from firstcause.fix.rewrite import added_keyword, called
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.frames import Value
from firstcause.source.values import number

CAUSE = "padding-in-loss"


def line(facts: Facts, project: Project) -> Site | None:
    """The loss that compares padded places too."""
    return named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Without the padded places; None where the program has no name for them."""
    module, site = module_of(facts, project), line(facts, project)
    if module is None or site is None or "known_as" not in facts:
        return None
    edits = _ignoring(facts, project) if facts["classes"] else _selecting(facts, module)
    if not edits:
        return None
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Leave padded places out of the loss at {site}: the mean is then over the real ones.",
        f"{site}: padded places get no gradient; the reported loss is no longer diluted by them.",
        "Padding in attention and in pooling, which need masks of their own.",
    )


def _ignoring(facts: Facts, project: Project) -> list[Edit] | None:
    loss = loss_of(facts, project) if facts["only"] else None
    if loss is None or any(k.arg in ("ignore_index", None) for k in loss.call.keywords):
        return None
    marker = int(facts["marker"])
    return [
        added_keyword(loss.settings, loss.call, f"ignore_index={_written(project, loss.settings, marker)}")
    ]


def _written(project: Project, module: Module, marker: int) -> str:
    """The name that the file has for the padding token, else the number."""
    assigned = [n for n in module.tree.body if isinstance(n, ast.Assign)]
    named = [
        (a, n) for a in assigned for n in ast.walk(a) if isinstance(n, ast.Name) and "pad" in n.id.lower()
    ]
    found = [n.id for a, n in named if _literal(a, marker) or number(project, Value(module, n)) == marker]
    return found[0] if found else str(marker)


def _literal(statement: ast.Assign, marker: int) -> bool:
    return isinstance(statement.value, ast.Constant) and statement.value.value == marker


def _selecting(facts: Facts, module: Module) -> list[Edit] | None:
    pairs = [
        p for n in module.nodes_on(int(facts["line"])) if (p := _pair(n, str(facts["loss"]))) is not None
    ]
    known = facts["known_as"]
    if len(pairs) != 1 or not known:
        return None
    target = module.segment(pairs[0][1])
    mask = known.get("mask") or f"torch.arange({target}.shape[1]) < {known['lengths']}[:, None]"
    return [e for part in pairs[0] for e in called(module, part, f"[{mask}]")]


def _pair(node: ast.AST, loss: str) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return (node.left, node.right) if loss in ("sub", "rsub") else None
    if isinstance(node, ast.Call) and len(node.args) == 2 and loss not in ("sub", "rsub"):
        return node.args[0], node.args[1]
    return None

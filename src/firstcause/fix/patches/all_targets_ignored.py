"""A mean over no target: the sum is divided by the count of targets, at least one.

Facts:

- ``file``, ``line``: the user's line of the loss; ``column``, ``end_column``, ``end_line`` as for log-of-zero.
- ``ignore_index``: the label that does not count; None for a mean over an empty selection.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.losses import is_used_once, loss_of
from firstcause.fix.operations import Facts, candidates, module_of, named_line
from firstcause.fix.rewrite import ATOMS, added_keyword, inserted_after, inserted_before, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.callsites import last_name

CAUSE = "all-targets-ignored"
# Where another setting weighs or reduces the terms, the count of targets is not what the mean divides by.
UNDERSTOOD = frozenset({"input", "target", "ignore_index"})


def line(facts: Facts, project: Project) -> Site | None:
    """The line of the loss; where a library's model computes it, the one line that sets targets to the ignored label."""
    module = module_of(facts, project)
    if module is not None and facts.get("ignore_index") is not None and loss_of(facts, project) is None:
        setting = [m.site(s) for m in project.modules for s in m.nodes(ast.Assign) if _ignores(s, facts)]
        if len(setting) == 1:
            return setting[0]
    return named_line(facts, project)


def _ignores(statement: ast.Assign, facts: Facts) -> bool:
    """Whether a statement writes the ignored label into a part of something: ``labels[:prompt] = -100``."""
    if not all(isinstance(target, ast.Subscript) for target in statement.targets):
        return False
    try:
        return bool(ast.literal_eval(statement.value) == facts["ignore_index"])
    except ValueError:
        return False


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Divide by the count of targets or elements, at least one; None for losses that weigh or reduce in their own way."""
    module = module_of(facts, project)
    if module is None:
        return None
    edits = _counted(facts, project, module) if facts.get("ignore_index") is not None else []
    edits = edits or _selected(facts, project, module)
    if not edits:
        return None
    site = named_line(facts, project)
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Divide the sum at {site} by the count of what it sums, at least 1: the mean over nothing is 0 / 0.",
        f"{site}: a batch without any target gives 0 and no gradient instead of NaN; all other batches give the same mean.",
        "That such batches are made: they cost a step and teach nothing. Weight decay and momentum still act in them.",
    )


def _counted(facts: Facts, project: Project, module: Module) -> list[Edit]:
    """``cross_entropy(a, t)`` as its sum over the count of targets that are not ignored."""
    loss = loss_of(facts, project)
    if loss is None or loss.target.module is not module or loss.target.path:
        return []
    made, call, target = loss.call, loss.use, loss.target.node
    is_function = made is call and last_name(made.func) in ("cross_entropy", "nll_loss")
    is_module = last_name(made.func) in ("CrossEntropyLoss", "NLLLoss") and len(call.args) == 2
    is_plain = len(made.args) <= (2 if is_function else 0) and all(k.arg in UNDERSTOOD for k in made.keywords)
    if not is_plain or not (is_function or is_module) or not isinstance(target, ATOMS):
        return []
    if is_module and not is_used_once(loss, project):
        return []
    count = f" / ({module.segment(target)} != {facts['ignore_index']}).sum().clamp(min=1)"
    parent = module.parents.get(call)
    is_alone = isinstance(parent, (ast.Assign, ast.Return, ast.AugAssign, ast.AnnAssign, ast.NamedExpr))
    edits = [added_keyword(loss.settings, made, 'reduction="sum"')]
    if is_alone:
        return [*edits, inserted_after(module, call, count)]
    return [inserted_before(module, call, "("), *edits, inserted_after(module, call, count + ")")]


def _selected(facts: Facts, project: Project, module: Module) -> list[Edit]:
    """``x.mean()`` as the sum over the count of elements."""
    found = candidates(project, module, facts, _averaged)
    if len(found) != 1:
        return []
    call, values = found[0]
    text = module.segment(values)
    return [replaced(module, call, f"({text}.sum() / max({text}.numel(), 1))")]


def _averaged(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    is_mean = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "mean"
    if not is_mean or not isinstance(node, ast.Call) or node.args or node.keywords:
        return None
    assert isinstance(node.func, ast.Attribute)
    values = node.func.value
    return values if isinstance(values, (ast.Name, ast.Subscript)) else None

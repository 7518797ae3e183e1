"""log of a value that reaches 0: an epsilon that rounds away is raised, else the argument is kept above 0.

Facts:

- ``file``, ``line``: the user's line that calls log (as the run names the file).
- ``column``, ``end_column``, ``end_line``: the call's place in UTF-8 columns, as ``co_positions`` gives it; optional,
  needed where the line calls log more than once (or ``occurrence``, its 0-based number on the line).
- ``dtype``: the type of log's input, ``torch.float32`` or ``float32``.
- ``value``: what the input reached, by default 0.0.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.epsilons import Vanished, vanished
from firstcause.fix.operations import Facts, call_operand, candidates, module_of
from firstcause.fix.precision import NEAR_ZERO, near_one, type_name
from firstcause.fix.rewrite import called, replaced
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.frames import Value
from firstcause.source.uses import reads
from firstcause.source.walk import Holder

CAUSE = "log-of-zero"
NAMES = frozenset({"log", "log2", "log10", "log1p", "logit"})


def line(facts: Facts, project: Project) -> Site | None:
    """The epsilon that vanishes where there is one, else the line of the log."""
    module = module_of(facts, project)
    if module is None:
        return None
    lost = _lost_epsilon(facts, project, module)
    if lost is not None:
        return lost.literal.site
    found = candidates(project, module, facts, _operand)
    return module.site(found[0][0]) if found else None


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Raise the epsilon that vanishes, or keep log's argument above 0."""
    module = module_of(facts, project)
    if module is None:
        return None
    lost = _lost_epsilon(facts, project, module)
    if lost is not None:
        return _raise_epsilon(facts, project, root, lost)
    found = candidates(project, module, facts, _operand)
    return _keep_above_zero(facts, project, root, module, *found[0]) if len(found) == 1 else None


def _operand(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    return call_operand(project, module, node, NAMES)


def _lost_epsilon(facts: Facts, project: Project, module: Module) -> Vanished | None:
    """The one literal whose rounding explains the zero; None where there is none or not one only."""
    dtype = type_name(facts.get("dtype"))
    found: dict[int, Vanished] = {}
    for _, operand in candidates(project, module, facts, _operand):
        for lost in vanished(project, Value(module, operand), dtype):
            found.setdefault(id(lost.literal.node), lost)
    return next(iter(found.values())) if len(found) == 1 else None


def _raise_epsilon(facts: Facts, project: Project, root: str, lost: Vanished) -> Fix | None:
    literal, dtype = lost.literal, type_name(facts.get("dtype"))
    if not literal.exact:
        return None
    old, new, used = literal.text, lost.replacement, lost.used.module.segment(lost.used.node)
    elsewhere = _other_lines(project, lost)
    also = f" It is also read at {', '.join(elsewhere)}." if elsewhere else ""
    return draft(
        project,
        root,
        CAUSE,
        [replaced(literal.module, literal.node, new)],
        f"Raise {old} to {new} in {literal.site}: `{used}` at {lost.used.module.site(lost.used.node)} is exactly "
        f"{lost.stored:g} in {dtype}, so log still reaches 0.",
        f"{literal.site}: the constant {old} becomes {new}; values closer to the bound than {new} are held there "
        f"and get no gradient.{also}",
        f"That the model's values reach the bound at all: predictions that saturate keep saturating, at {new} from "
        "it. A log of the logits themselves (logsigmoid, log_softmax) would have no bound.",
    )


def _other_lines(project: Project, lost: Vanished) -> list[str]:
    holders: list[Holder] = [hop.holder for hop in lost.literal.hops if hop.holder is not None]
    own = lost.used.module.site(lost.used.node)
    places = [module.site(node) for holder in holders[-1:] for module, node in reads(project, holder)]
    return list(dict.fromkeys(str(site) for site in places if site.line != own.line or site.file != own.file))


def _keep_above_zero(
    facts: Facts, project: Project, root: str, module: Module, node: ast.expr, operand: ast.expr
) -> Fix | None:
    dtype, text = type_name(facts.get("dtype")), module.segment(operand)
    assert isinstance(node, ast.Call)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else module.segment(node.func)
    bound = {"log1p": f"-1 + {near_one(dtype)}"}.get(name, NEAR_ZERO[dtype])
    method = f".clamp_min({bound})"
    if name == "logit":
        method = f".clamp({near_one(dtype)}, 1 - {near_one(dtype)})"
    site = module.site(node)
    return draft(
        project,
        root,
        CAUSE,
        called(module, operand, method),
        f"Keep the argument of {name} at {site} above its edge: `{text}` reached {facts.get('value', 0.0)}.",
        f"{site}: `{text}` is followed by `{method}`; elements beyond the bound give a finite {name} and no gradient, "
        "all others are unchanged.",
        f"Why `{text}` reaches {facts.get('value', 0.0)}: those elements stay there, they only stop turning the loss "
        "non-finite.",
    )

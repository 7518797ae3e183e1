"""A denominator that reaches 0: it is kept above 0 where it was never negative.

Facts:

- ``file``, ``line``: the user's line that divides.
- ``column``, ``end_column``, ``end_line`` or ``occurrence``: which division, as for log-of-zero; optional.
- ``dtype``: the denominator's type.
- ``is_tensor``: False where the denominator is a Python number; then no patch is made.
- ``denominator_min``: the smallest value of the denominator seen; a patch is made only from 0 on.
- ``before_the_loop``: True where a column of the data was divided by 0, in NumPy, pandas or torch; optional.
- ``of_matrix``: True where it was not a column, but a matrix that the program makes; optional.
- ``counts``: True where what the data is divided by counts something, as the degree of a node; optional.
- ``numerator_at_zero``: the largest absolute numerator where the denominator is 0; 0 means 0/0. Optional.
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.epsilons import Vanished, vanished
from firstcause.fix.operations import Facts, call_operand, candidates, module_of, named_line
from firstcause.fix.precision import NEAR_ZERO, is_integer, type_name
from firstcause.fix.rewrite import called, inserted_after, inserted_before, replaced
from firstcause.fix.roots import root_behind
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project
from firstcause.source.arguments import argument
from firstcause.source.frames import Value
from firstcause.source.values import number

CAUSE = "division-by-zero"
DIVIDING = frozenset({"div", "divide", "true_divide"})
INVERTING = frozenset({"rsqrt", "reciprocal"})
POWERS = frozenset({"pow", "float_power"})
# 1/1e-6 still trains where the numerator is not 0; 1/1e-12 does not.
NONZERO_NUMERATOR = "1e-6"
COLUMN_EPSILON = "1e-8"


def line(facts: Facts, project: Project) -> Site | None:
    """The epsilon that vanishes where there is one, else the line of the division."""
    module = module_of(facts, project)
    if module is None:
        return None
    found = _divisions(facts, project, module)
    lost = _lost_epsilon(facts, project, module, found[0][1]) if len(found) == 1 else None
    if lost is not None:
        return lost.literal.site
    return module.site(found[0][0]) if found else named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Raise an epsilon that vanishes, or keep the denominator above 0."""
    module = module_of(facts, project)
    if module is not None and facts.get("before_the_loop"):
        return _of_a_column(facts, project, root, module)
    smallest = facts.get("denominator_min")
    if module is None or facts.get("is_tensor") is False or smallest is None or not smallest >= 0:
        return None
    found = _divisions(facts, project, module)
    if len(found) != 1:
        return None
    node, operand = found[0]
    dtype = type_name(facts.get("dtype"))
    lost = _lost_epsilon(facts, project, module, operand)
    site, text = module.site(node), module.segment(operand)
    if lost is not None:
        literal = lost.literal
        edits = [replaced(literal.module, literal.node, lost.replacement)]
        change = (
            f"{literal.site}: the constant {literal.text}, which is 0 in {dtype}, becomes {lost.replacement}"
        )
    else:
        bound = "1" if is_integer(facts.get("dtype")) else _bound(facts, dtype)
        # A root that is 0 is kept off 0 before it is taken: its derivative there is infinite.
        where, what = root_behind(project, module, operand) or (module, operand)
        edits = called(where, what, f".clamp_min({bound})")
        change = (
            f"{where.site(what)}: `{where.segment(what)}` is followed by `.clamp_min({bound})`; larger values "
            "are unchanged"
        )
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Keep the denominator at {site} above 0: `{text}` reached 0.",
        f"{change}.",
        f"Why `{text}` is 0: an empty selection or a constant input still gives that element no information.",
    )


def _of_a_column(facts: Facts, project: Project, root: str, module: Module) -> Fix | None:
    """A sum, and no clamp: NumPy, pandas and torch alike have it."""
    found = _divisions(facts, project, module)
    if len(found) != 1:
        return None
    node, operand = found[0]
    text, site = module.segment(operand), module.site(node)
    if facts.get("counts"):
        return draft(
            project,
            root,
            CAUSE,
            # By position, NumPy's, pandas' and torch's own names of the least value apart.
            called(module, operand, ".clip(1)"),
            f"Divide by at least 1 at {site}: `{text}` counts, and is 0 where there is nothing.",
            f"{site}: `{text}` is followed by `.clip(1)`; other counts are unchanged.",
            "That there is nothing to count: what has no neighbour, or no element, gets nothing from any.",
        )
    edits = [inserted_before(module, operand, "("), inserted_after(module, operand, f" + {COLUMN_EPSILON})")]
    becomes = f"{site}: `{text}` becomes `({text} + {COLUMN_EPSILON})`"
    if facts.get("of_matrix"):
        told = (
            f"Keep the denominator at {site} above 0: `{text}` is 0 where there is nothing to divide.",
            f"{becomes}; where it is 0, what was infinite or NaN is finite.",
            "That there is nothing to divide: what has no neighbour, or no element, gets nothing from any.",
        )
    else:
        told = (
            f"Keep the denominator at {site} above 0: `{text}` is 0 for a constant column.",
            f"{becomes}; a constant column becomes 0 instead of NaN.",
            "That the column says nothing: it stays in the data, and may be left out.",
        )
    return draft(project, root, CAUSE, edits, *told)


def _lost_epsilon(facts: Facts, project: Project, module: Module, operand: ast.expr) -> Vanished | None:
    lost = vanished(project, Value(module, operand), type_name(facts.get("dtype")))
    return lost[0] if len(lost) == 1 and lost[0].literal.exact and lost[0].stored == 0 else None


def _bound(facts: Facts, dtype: str) -> str:
    numerator = facts.get("numerator_at_zero")
    is_zero_by_zero = numerator is None or numerator == 0
    return NEAR_ZERO[dtype] if is_zero_by_zero or float(NEAR_ZERO[dtype]) > 1e-6 else NONZERO_NUMERATOR


def _divisions(facts: Facts, project: Project, module: Module) -> list[tuple[ast.expr | ast.stmt, ast.expr]]:
    found: list[tuple[ast.expr | ast.stmt, ast.expr]] = list(candidates(project, module, facts, _denominator))
    if not found:
        # x /= y is a statement, not an expression.
        found += [
            (n, n.value)
            for n in module.nodes_on(int(facts["line"]))
            if isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Div)
        ]
    return found


def _denominator(project: Project, module: Module, node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return None if number(project, Value(module, node.right)) else node.right
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        exponent = number(project, Value(module, node.right))
        return node.left if exponent is not None and exponent < 0 else None
    operand = call_operand(project, module, node, INVERTING)
    powered = call_operand(project, module, node, POWERS) if operand is None else None
    if powered is not None and isinstance(node, ast.Call):
        is_method = isinstance(node.func, ast.Attribute) and powered is node.func.value
        given = argument(node, 0 if is_method else 1, "exponent")
        exponent = number(project, Value(module, given.node)) if given is not None else None
        return powered if exponent is not None and exponent < 0 else None
    if operand is None and isinstance(node, ast.Call):
        divided = call_operand(project, module, node, DIVIDING)
        is_method = (
            divided is not None and isinstance(node.func, ast.Attribute) and divided is node.func.value
        )
        given = argument(node, 0 if is_method else 1, "other") if divided is not None else None
        operand = given.node if given is not None else None
    return operand

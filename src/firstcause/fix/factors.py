"""A product such as 32 * 7 * 7 whose value is wrong: which factors to change, and to what."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from math import prod

from firstcause.fix.edits import Edit
from firstcause.fix.rewrite import like, replaced
from firstcause.source import Project
from firstcause.source.flow import value_origins
from firstcause.source.frames import Value
from firstcause.source.uses import reads
from firstcause.source.values import number

# A factor's number before it is computed from the others.
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class Factor:
    """A factor, its number where the code says it, and how many axes it stands for (``7 ** 2`` for two)."""

    value: Value
    number: int
    axes: int = 1


def corrected_product(
    project: Project, value: Value, old: int, new: int, shape: tuple[int, ...]
) -> list[Edit]:
    """Edits that turn a product of value ``old`` into one of value ``new``; none where it is not clear how.

    ``shape`` holds the true sizes of the axes, channels first; empty where only the product is known.
    """
    factors = _completed(_factors(project, value), old)
    if factors is None or prod(f.number**f.axes for f in factors) != old:
        return []
    wanted = _wanted(factors, old, new, shape)
    pairs = zip(factors, wanted, strict=True) if wanted else ()
    return [e for f, w in pairs if w != f.number for e in _edit(project, value, f, w)]


def _factors(project: Project, value: Value) -> list[Factor] | None:
    """The factors of a product in the order in which they are written; None where a power is not understood."""
    node = value.node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _factors(project, value.at(node.left)), _factors(project, value.at(node.right))
        return [*left, *right] if left is not None and right is not None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        power = number(project, value.at(node.right))
        base = number(project, value.at(node.left))
        is_axes = isinstance(power, int) and 1 <= power <= 3 and isinstance(base, int)
        return [Factor(value.at(node.left), int(base or 0), int(power or 1))] if is_axes else None
    known = number(project, value)
    return [Factor(value, int(known) if isinstance(known, int) and known > 0 else UNKNOWN)]


def _completed(factors: list[Factor] | None, product: int) -> list[Factor] | None:
    """The factors with the one that the code does not tell computed from the others; None where two are unknown."""
    unknown = [f for f in factors or () if f.number == UNKNOWN]
    if factors is None or not unknown:
        return factors
    rest = prod(f.number**f.axes for f in factors if f.number != UNKNOWN)
    if len(unknown) > 1 or product % rest:
        return None
    return [replace(f, number=product // rest) if f is unknown[0] else f for f in factors]


def _wanted(factors: list[Factor], old: int, new: int, shape: tuple[int, ...]) -> list[int]:
    """The number that each factor should have."""
    axes = sum(f.axes for f in factors)
    if axes == len(shape) and prod(shape) == new:
        wanted, at = [], 0
        for factor in factors:
            sizes = set(shape[at : at + factor.axes])
            if len(sizes) != 1:
                return []
            wanted.append(sizes.pop())
            at += factor.axes
        return wanted
    # The shape is not known, or is written with fewer factors: one factor alone may be able to carry the change.
    able = []
    for place, factor in enumerate(factors):
        rest = old // factor.number**factor.axes
        root = round((new / rest) ** (1 / factor.axes))
        if rest * root**factor.axes == new:
            able.append([root if i == place else f.number for i, f in enumerate(factors)])
    return able[0] if len(able) == 1 and len(factors) > 1 else []


def _edit(project: Project, product: Value, factor: Factor, wanted: int) -> list[Edit]:
    """Edits that give one factor another number: where its number is decided, if that serves this product alone.

    Otherwise the measured number takes the factor's place in the product itself.
    """
    node, module = factor.value.node, factor.value.module
    if isinstance(node, ast.Constant):
        return [replaced(module, node, like(module.segment(node), wanted))]
    decided = _where_decided(project, product, factor, wanted)
    return decided if decided is not None else [replaced(module, node, str(wanted))]


def _where_decided(project: Project, product: Value, factor: Factor, wanted: int) -> list[Edit] | None:
    if isinstance(factor.value.node, ast.BinOp):
        return _divisor(project, factor.value, wanted)
    origins = value_origins(project, factor.value)
    if len(origins) != 1 or not origins[0].exact or not _feeds_only(project, product, factor):
        return None
    origin = origins[0]
    if isinstance(origin.node, ast.Constant):
        return [replaced(origin.module, origin.node, like(origin.text, wanted))]
    return _divisor(project, origin.value, wanted) if origin.value is not None else None


def _divisor(project: Project, value: Value, wanted: int) -> list[Edit] | None:
    """``size // 4`` for a size that is halved three times: the divisor is what was counted wrongly."""
    node = value.node
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv):
        return None
    size = number(project, value.at(node.left))
    if not isinstance(size, int) or not isinstance(node.right, ast.Constant) or wanted <= 0:
        return None
    divisor = size // wanted
    if size // divisor != wanted:
        return None
    return [replaced(value.module, node.right, str(divisor))]


def _feeds_only(project: Project, product: Value, factor: Factor) -> bool:
    """Whether every variable between a factor and its literal is read on the way to this product and nowhere else."""
    for origin in value_origins(project, factor.value):
        reader: ast.AST = product.node
        for hop in origin.hops:
            within = set(ast.walk(reader))
            if hop.holder is not None and any(node not in within for _, node in reads(project, hop.holder)):
                return False
            reader = hop.node
    return True

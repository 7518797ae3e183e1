"""An addition of a branch and its shortcut whose shapes differ: the test that builds the projection is completed.

Facts:

- ``file``, ``line``: the user's line with the addition; ``column`` where it holds more than one, optional.
- ``left_shape``, ``right_shape``: the shapes of the operands, (N, C, H, W) or (N, C, L).
"""

from __future__ import annotations

import ast

from firstcause.fix.draft import draft
from firstcause.fix.operations import Facts
from firstcause.fix.rewrite import added_keyword, inserted_after, inserted_before
from firstcause.fix.shortcuts import CONVOLUTION, Shortcut, addition, convolutions, shortcuts, written
from firstcause.schema import Fix, Site
from firstcause.source import Construction, Module, Project
from firstcause.source.arguments import argument
from firstcause.source.frames import Value
from firstcause.source.values import number

CAUSE = "residual-shape-mismatch"


def line(facts: Facts, project: Project) -> Site | None:
    """The test that builds the projection, else the projection, its stand-in, or the addition."""
    place = addition(facts, project)
    if place is None:
        return None
    found = shortcuts(facts, project)
    if not found:
        return place[0].site(place[1])
    shortcut = found[0]
    if shortcut.guard is not None and not _is_complete(facts, project, shortcut):
        return shortcut.guard.site
    unstrided = _unstrided(facts, project, shortcut)
    if unstrided is not None:
        return unstrided.site
    if shortcut.guard is not None:
        return shortcut.guard.site
    return shortcut.passing.site if shortcut.passing is not None else shortcut.projection.site


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Add the missing condition to the test, or the missing stride to the projection; None for other shapes of code."""
    found = shortcuts(facts, project)
    if len(found) != 1:
        return None
    shortcut = found[0]
    guard = shortcut.guard
    if guard is not None and not _is_complete(facts, project, shortcut):
        return _complete(facts, project, root, shortcut)
    unstrided = _unstrided(facts, project, shortcut)
    stride = _stride_name(project, shortcut)
    if unstrided is None or stride is None:
        return None
    return draft(
        project,
        root,
        CAUSE,
        [added_keyword(unstrided.module, unstrided.call, f"stride={stride}")],
        f"Give the shortcut's convolution at {unstrided.site} the stride of the branch: {_shapes(facts)} cannot be added.",
        f"{unstrided.site}: the projection gets `stride={stride}`; blocks of stride 1 are unchanged.",
        "Inputs whose size the stride does not divide evenly, where branch and shortcut pad differently.",
    )


def _complete(facts: Facts, project: Project, root: str, shortcut: Shortcut) -> Fix | None:
    guard = shortcut.guard
    term = _missing_term(facts, project, shortcut)
    if guard is None or term is None:
        return None
    module, test = guard.module, guard.test
    joined = f"{term} {'or' if guard.branch else 'and'} "
    needs_brackets = isinstance(test, (ast.IfExp, ast.Lambda, ast.NamedExpr)) or (
        isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and not guard.branch
    )
    edits = [inserted_before(module, test, joined + ("(" if needs_brackets else ""))]
    if needs_brackets:
        edits.append(inserted_after(module, test, ")"))
    when = "is built" if guard.branch else "is left out"
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Test the {'stride' if _differs_in_space(facts) else 'channels'} as well at {guard.site}: {_shapes(facts)} cannot be "
        f"added, and the projection {when} only if `{guard.text}`.",
        f"{guard.site}: the test becomes `{joined}{guard.text}`; blocks for which `{term.replace('==', '!=')}` get a projection "
        "with weights of its own.",
        "Checkpoints saved before: they lack the weights of the projections that are now built.",
    )


def _shapes(facts: Facts) -> str:
    return f"{_sizes(facts, 'left_shape')} and {_sizes(facts, 'right_shape')}"


def _sizes(facts: Facts, key: str) -> tuple[int, ...]:
    return tuple(int(n) for n in facts.get(key) or ())


def _differs_in_space(facts: Facts) -> bool:
    """Whether every differing axis after the channels is smaller by a factor, as a stride makes it."""
    left, right = _sizes(facts, "left_shape"), _sizes(facts, "right_shape")
    pairs = [(max(a, b), min(a, b)) for a, b in zip(left[2:], right[2:], strict=False) if a != b]
    return bool(pairs) and all(
        small > 0 and large >= 2 * small - 1 and large - small > 0 for large, small in pairs
    )


def _differs_in_channels(facts: Facts) -> bool:
    left, right = _sizes(facts, "left_shape"), _sizes(facts, "right_shape")
    return len(left) == len(right) and len(left) > 1 and left[1] != right[1]


def _first_convolution(project: Project, shortcut: Shortcut) -> Construction | None:
    return next(convolutions(project, shortcut.projection), None)


def _missing_term(facts: Facts, project: Project, shortcut: Shortcut) -> str | None:
    """The condition that the test lacks, in its own polarity; None where the code does not name what it needs."""
    guard, convolution = shortcut.guard, _first_convolution(project, shortcut)
    in_space, in_channels = _differs_in_space(facts), _differs_in_channels(facts)
    if guard is None or convolution is None or in_space == in_channels:
        return None
    sign = "!=" if guard.branch else "=="
    if in_space:
        stride = written(project, guard, convolution, "stride")
        if not isinstance(stride, (ast.Name, ast.Attribute)) or _mentions(guard.test, stride):
            return None
        return f"{guard.module.segment(stride)} {sign} 1"
    first, second = written(project, guard, convolution, "in"), written(project, guard, convolution, "out")
    if first is None or second is None or (_mentions(guard.test, first) and _mentions(guard.test, second)):
        return None
    return f"{_compared(guard.module, first)} {sign} {_compared(guard.module, second)}"


def _compared(module: Module, node: ast.expr) -> str:
    text = module.segment(node)
    return (
        text
        if isinstance(node, (ast.Name, ast.Attribute, ast.BinOp, ast.Constant, ast.Call, ast.Subscript))
        else f"({text})"
    )


def _mentions(test: ast.expr, part: ast.expr) -> bool:
    wanted = ast.dump(part)
    return any(ast.dump(node) == wanted for node in ast.walk(test))


def _is_complete(facts: Facts, project: Project, shortcut: Shortcut) -> bool:
    """Whether the test already looks at what differs, so that the fault is not in it."""
    if shortcut.guard is None or not _differs_in_space(facts):
        return False
    strides = _strides(project, shortcut)
    return any(_mentions(shortcut.guard.test, stride) for stride in strides)


def _unstrided(facts: Facts, project: Project, shortcut: Shortcut) -> Construction | None:
    """The projection's convolution of kernel 1 that has no stride, where the shapes differ by one."""
    convolution = _first_convolution(project, shortcut)
    if convolution is None or not _differs_in_space(facts) or _differs_in_channels(facts):
        return None
    kernel = convolution.argument("kernel_size", 2)
    is_pointwise = kernel is not None and number(project, kernel) == 1
    if (
        not is_pointwise
        or convolution.argument("stride", 3) is not None
        or not convolution.callee.startswith("torch.")
    ):
        return None
    return convolution


def _stride_name(project: Project, shortcut: Shortcut) -> str | None:
    """The block's own stride, by the one name that it has where the projection is built."""
    names = {shortcut.projection.module.segment(stride) for stride in _strides(project, shortcut)}
    return names.pop() if len(names) == 1 else None


def _strides(project: Project, shortcut: Shortcut) -> list[ast.expr]:
    """The names that are given as a stride in the function that builds the projection."""
    module = shortcut.projection.module
    function = module.function(shortcut.projection.call)
    found: list[ast.expr] = []
    for node in ast.walk(function) if function is not None else ():
        if not isinstance(node, ast.Call):
            continue
        built = Construction(project, Value(module, node), ())
        is_convolution = built.callee.rpartition(".")[2].startswith("Conv")
        given = argument(node, CONVOLUTION["stride"] if is_convolution else None, "stride")
        if given is not None and isinstance(given.node, (ast.Name, ast.Attribute)):
            found.append(given.node)
    return found

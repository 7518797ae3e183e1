"""An addition of a branch and its shortcut whose shapes differ: the test that builds the projection is completed.

Facts:

- ``file``, ``line``: the user's line with the addition; ``column`` where it holds more than one, optional.
- ``left_shape``, ``right_shape``: the shapes of the operands, (N, C, H, W) or (N, C, L).
"""

from __future__ import annotations

import ast

from firstcause.fix.differences import difference_of
from firstcause.fix.draft import draft
from firstcause.fix.edits import Edit
from firstcause.fix.operations import Facts
from firstcause.fix.projections import ends_of, strides_in
from firstcause.fix.rewrite import added_keyword, inserted_after, inserted_before, replaced
from firstcause.fix.shortcuts import Shortcut, addition, convolutions, shortcuts, stand_ins, written
from firstcause.schema import Fix, Site
from firstcause.source import Construction, Module, Project
from firstcause.source.guards import Guard
from firstcause.source.values import number

CAUSE = "residual-shape-mismatch"


def line(facts: Facts, project: Project) -> Site | None:
    """The test that builds the projection, else the projection, its stand-in, or the addition."""
    place = addition(facts, project)
    if place is None:
        return None
    found, bare = shortcuts(facts, project), stand_ins(facts, project)
    if not found:
        return bare[0].site if len(bare) == 1 else place[0].site(place[1])
    shortcut = found[0]
    unstrided = _unstrided(facts, project, shortcut)
    if unstrided is not None and _tests_stride(project, shortcut):
        return unstrided.site
    return shortcut.guard.site if shortcut.guard is not None else shortcut.projection.site


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """Complete the test, the projection's stride, or the whole projection; None where the code does not name them."""
    found, bare = shortcuts(facts, project), stand_ins(facts, project)
    if not found and len(bare) == 1:
        return _projected(facts, project, root, bare[0])
    if len(found) != 1:
        return None
    unstrided = _unstrided(facts, project, found[0])
    if unstrided is not None:
        return _strided(facts, project, root, found[0], unstrided)
    if difference_of(facts).in_space and _tests_stride(project, found[0]):
        return None
    return _complete(facts, project, root, found[0])


def _projected(facts: Facts, project: Project, root: str, bare: Construction) -> Fix | None:
    """A projection where there is only a placeholder, by the channels of the layers beside it."""
    module, function = bare.module, bare.module.function(bare.call)
    ends = ends_of(project, module, function) if function is not None else None
    if ends is None or function is None:
        return None
    strides = (
        {module.segment(s) for s in strides_in(project, module, function)} if ends.is_convolution else set()
    )
    if len(strides) > 1:
        return None
    test, projection = f"{ends.entering} == {ends.leaving}", f"{ends.layer}({ends.entering}, {ends.leaving})"
    if ends.is_convolution:
        projection = f"{ends.layer}({ends.entering}, {ends.leaving}, 1)"
    for stride in strides:
        test, projection = f"{test} and {stride} == 1", f"{projection[:-1]}, stride={stride})"
    passing, site = module.segment(bare.call), bare.site
    return draft(
        project,
        root,
        CAUSE,
        [replaced(module, bare.call, f"{passing} if {test} else {projection}")],
        f"Project the shortcut at {site} where the block changes the shape: {difference_of(facts)} cannot be added.",
        f"{site}: `{passing}` stays where `{test}`; elsewhere the shortcut is `{projection}`, with weights of its own.",
        "Checkpoints saved before: they lack the weights of the projections that are now built.",
    )


def _strided(
    facts: Facts, project: Project, root: str, shortcut: Shortcut, unstrided: Construction
) -> Fix | None:
    """The stride of the branch for a projection that has none, and for the test that chooses it."""
    stride = _stride_name(project, shortcut)
    if stride is None:
        return None
    edits = [added_keyword(unstrided.module, unstrided.call, f"stride={stride}")]
    also = ""
    if shortcut.guard is not None and not _tests_stride(project, shortcut):
        term = f"{stride} {'!=' if shortcut.guard.branch else '=='} 1"
        edits += _joined(shortcut.guard, term)
        also = f" The test gets `{term}`, so that a strided block of equal channels is projected too."
    return draft(
        project,
        root,
        CAUSE,
        edits,
        f"Give the shortcut's convolution at {unstrided.site} the stride of the branch: {difference_of(facts)} cannot be added.",
        f"{unstrided.site}: the projection gets `stride={stride}`; blocks of stride 1 are unchanged.{also}",
        "Inputs whose size the stride does not divide evenly, where branch and shortcut pad differently.",
    )


def _complete(facts: Facts, project: Project, root: str, shortcut: Shortcut) -> Fix | None:
    guard = shortcut.guard
    term = _missing_term(facts, project, shortcut)
    if guard is None or term is None:
        return None
    when, joined = ("is built", "or") if guard.branch else ("is left out", "and")
    difference = difference_of(facts)
    return draft(
        project,
        root,
        CAUSE,
        _joined(guard, term),
        f"Test the {'stride' if difference.in_space else 'channels'} as well at {guard.site}: {difference} cannot be added, "
        f"and the projection {when} only if `{guard.text}`.",
        f"{guard.site}: the test becomes `{term} {joined} {guard.text}`; blocks for which `{term.replace('==', '!=')}` get a "
        "projection with weights of its own.",
        "Checkpoints saved before: they lack the weights of the projections that are now built.",
    )


def _joined(guard: Guard, term: str) -> list[Edit]:
    """Edits that put one more condition before a test, in the polarity of its branch."""
    module, test = guard.module, guard.test
    is_loose = isinstance(test, (ast.IfExp, ast.Lambda, ast.NamedExpr)) or (
        isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) and not guard.branch
    )
    before = f"{term} {'or' if guard.branch else 'and'} "
    edits = [inserted_before(module, test, before + ("(" if is_loose else ""))]
    return [*edits, inserted_after(module, test, ")")] if is_loose else edits


def _first_convolution(project: Project, shortcut: Shortcut) -> Construction | None:
    return next(convolutions(project, shortcut.projection), None)


def _missing_term(facts: Facts, project: Project, shortcut: Shortcut) -> str | None:
    """The condition that the test lacks, in its own polarity; None where the code does not name what it needs."""
    guard, convolution = shortcut.guard, _first_convolution(project, shortcut)
    difference = difference_of(facts)
    if guard is None or convolution is None or difference.in_space == difference.in_channels:
        return None
    sign = "!=" if guard.branch else "=="
    if difference.in_space:
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


def _tests_stride(project: Project, shortcut: Shortcut) -> bool:
    """Whether the test already looks at the stride, so that a difference in space is not its fault."""
    guard = shortcut.guard
    return guard is not None and any(_mentions(guard.test, s) for s in _strides(project, shortcut))


def _unstrided(facts: Facts, project: Project, shortcut: Shortcut) -> Construction | None:
    """The projection's convolution of kernel 1 that has no stride, where the shapes differ by one."""
    convolution = _first_convolution(project, shortcut)
    difference = difference_of(facts)
    if convolution is None or not difference.in_space or difference.in_channels:
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
    module = shortcut.projection.module
    function = module.function(shortcut.projection.call)
    return strides_in(project, module, function) if function is not None else []

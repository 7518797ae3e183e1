"""A change that is nowhere near what the evidence of the case points at."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence

from firstcause.fix.review.reason import Reason
from firstcause.fix.review.setting import Setting
from firstcause.fix.review.sides import Change, name_of
from firstcause.source.feeds import FEEDING

_WORD = re.compile(r"[A-Za-z_]\w+")

# Lines between a change and the evidence. Of the fixes of benchmarks/cases all but three stand at most 3 away, and all
# but one at most 6; the farther ones speak of what the evidence speaks of.
NEAR = 3
FAR = 6
# Names that stand on any line.
_COMMON = frozenset(
    ("self", "torch", "nn", "F", "np", "x", "y", "i", "range", "print", "float", "int", "len", "cfg", "args")
)


def find(changes: Sequence[Change], setting: Setting) -> Iterator[Reason]:
    """Said where an established cause has places, and no change stands there, calls what holds it, or names what it keeps."""
    places = [(site.file, site.line) for site in setting.evidence]
    real = [change for change in changes if change.code_changed]
    if not places or any(_near(change, places) for change in real):
        return
    holding = {name for change in changes for name in _holding(change, places)}
    kept = {name for change in changes for name in _kept(change, places)}
    if any(_calls(change, holding) or _names_one_of(change, kept) for change in real):
        return
    first = changes[0]
    line = first.spans[0][0] if first.spans else 1
    shown = ", ".join(f"{file}:{at}" for file, at in places[:3])
    text = f"no change stands at the evidence for {setting.cause}, which is at {shown}"
    yield Reason("displaced", f"{first.path}:{max(line, 1)}", text)


def _near(change: Change, places: list[tuple[str, int]]) -> bool:
    """Whether a changed stretch lies at the evidence, or close to it and with a name of it."""
    for file, line in places:
        if not _same_file(change.path, file):
            continue
        pairs = list(zip(change.spans, change.new_spans, strict=True))
        if any(first - NEAR <= line <= last + NEAR for (first, last), _ in pairs):
            return True
        names = _names(change.before, line - 1, line + 1)
        for (first, last), (new_first, new_last) in pairs:
            mentioned = _names(change.before, first, last) | _names(change.after, new_first, new_last)
            if first - FAR <= line <= last + FAR and names & mentioned:
                return True
    return False


def _names(text: str, first: int, last: int) -> set[str]:
    return {w for line in text.split("\n")[max(first - 1, 0) : last] for w in _WORD.findall(line)} - _COMMON


def _holding(change: Change, places: list[tuple[str, int]]) -> Iterator[str]:
    """The functions of a file in which the evidence lies."""
    for node in ast.walk(change.old):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
            _same_file(change.path, file) and node.lineno <= line <= (node.end_lineno or node.lineno)
            for file, line in places
        ):
            yield node.name


def _calls(change: Change, functions: set[str]) -> bool:
    """Whether a changed line of the old text calls one of the functions."""
    calls = [n for n in ast.walk(change.old) if isinstance(n, ast.Call) and name_of(n) in functions]
    return any(first <= call.lineno <= last for call in calls for first, last in change.spans)


def _kept(change: Change, places: list[tuple[str, int]]) -> Iterator[str]:
    """The attributes of an object that the lines of the evidence set or add to: a hook's handles, a history."""
    for node in ast.walk(change.old):
        if not isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)) or not any(
            _same_file(change.path, file) and node.lineno <= line <= (node.end_lineno or node.lineno)
            for file, line in places
        ):
            continue
        targets: list[ast.AST] = []
        if isinstance(node, ast.Assign):
            targets += node.targets
        elif isinstance(node, ast.Expr):
            called = node.value.func if isinstance(node.value, ast.Call) else None
            targets += [called.value] if isinstance(called, ast.Attribute) and called.attr in FEEDING else []
        else:
            targets.append(node.target)
        for target in targets:
            held = target.value if isinstance(target, ast.Subscript) else target
            if isinstance(held, ast.Attribute):
                yield held.attr


def _names_one_of(change: Change, attributes: set[str]) -> bool:
    """Whether a changed line, old or new, names one of the attributes."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in attributes
        and any(first <= node.lineno <= last for first, last in spans)
        for tree, spans in ((change.old, change.spans), (change.new, change.new_spans))
        for node in ast.walk(tree)
    )


def _same_file(path: str, other: str) -> bool:
    return os.path.normpath(path) == os.path.normpath(other) or os.path.basename(path) == other

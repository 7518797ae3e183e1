"""An input and its target that go through one random transform in two calls: each call draws anew."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from firstcause.source.callsites import last_name
from firstcause.source.module import Module
from firstcause.source.pairing.pairs import name_of
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.texts import changed, one_line
from firstcause.source.rewrites import Rewrite

# What is compared with an output: it has to go where its input goes.
TARGET = re.compile(
    r"(^|_|\.)(y|gt|hr)(_|$|\d)|mask|label|target|segm|(^|_)seg|truth|annot|heat_?map|depth|key_?point|landmark|flow|clean|sharp",
    re.IGNORECASE,
)
# What a random transform is called where its own code is not in sight.
RANDOM = re.compile(r"aug|transform|flip|crop|jitter|rotat|warp|shift|perturb|distort", re.IGNORECASE)
# Sources of random numbers: the module's name in the file, how their state is taken, and how it is put back.
SOURCES = (
    ("random", "random.getstate()", "random.setstate({})"),
    ("torch", "torch.get_rng_state()", "torch.set_rng_state({})"),
    ("np", "np.random.get_state()", "np.random.set_state({})"),
    ("numpy", "numpy.random.get_state()", "numpy.random.set_state({})"),
)
DRAWN = re.compile(r"\brandom\.|\.rand|\buniform|\bnormal_|\bbernoulli")


def find(module: Module) -> Iterator[Parting]:
    """Two calls beside each other of one transform, the one given an input and the other its target."""
    for function in module.nodes(ast.FunctionDef):
        calls = [c for c in module.inside(function, ast.Call) if _is_transform(module, c)]
        calls.sort(key=lambda c: module.span(c))
        for first, later in pairwise(calls):
            if module.segment(first.func) != module.segment(later.func) or not _are_pair(first, later):
                continue
            ways = tuple(w for s in _sources(module) if (w := _drawn_once(module, first, later, s)))
            statement = module.statement(first)
            if ways and isinstance(statement, ast.stmt):
                words = (
                    f"`{one_line(module, first)}` and `{one_line(module, later)}` each draw anew, so that what becomes of the "
                    "one does not become of the other"
                )
                yield Parting(module, statement, words, ways)


def _is_transform(module: Module, call: ast.Call) -> bool:
    if len(call.args) != 1 or call.keywords or _of(call.args[0]) is None or name_of(call.func) is None:
        return False
    return RANDOM.search(last_name(call.func)) is not None or _draws(module, last_name(call.func))


def _of(node: ast.expr) -> str | None:
    """The name of a value, or of what it is one of: ``image``, ``self.images[i]``."""
    return name_of(node.value if isinstance(node, ast.Subscript) else node)


def _draws(module: Module, name: str) -> bool:
    """Whether a function of this file by that name draws random numbers."""
    return any(
        node.name == name and DRAWN.search(module.segment(node)) for node in module.nodes(ast.FunctionDef)
    )


def _are_pair(first: ast.Call, later: ast.Call) -> bool:
    one, other = _of(first.args[0]), _of(later.args[0])
    if one is None or other is None or one == other:
        return False
    return bool(TARGET.search(one)) != bool(TARGET.search(other))


def _sources(module: Module) -> list[tuple[str, str, str]]:
    imported = {a.asname or a.name for n in module.nodes(ast.Import) for a in n.names}
    return [s for s in SOURCES if s[0] in imported]


def _drawn_once(
    module: Module, first: ast.Call, later: ast.Call, source: tuple[str, str, str]
) -> tuple[Rewrite, ...]:
    """Both calls with the random numbers of the first; empty where they do not run one after the other."""
    before, after = module.statement(first), module.statement(later)
    if not isinstance(before, ast.stmt) or not isinstance(after, ast.stmt):
        return ()
    taken, put_back = f"drawn = {source[1]}\n", source[2].format("drawn") + "\n"
    if before is after:
        text = (
            f"{taken}moved = {module.segment(first)}\n{put_back}{changed(module, before, (first, 'moved'))}"
        )
        return (Rewrite(module, before, text),)
    if module.parents.get(before) is not module.parents.get(after):
        return ()
    return (
        Rewrite(module, before, taken + module.segment(before)),
        Rewrite(module, after, put_back + module.segment(after)),
    )

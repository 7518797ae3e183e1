"""Two stored sequences that are split at random, each by a draw of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.source.module import Module
from firstcause.source.pairing.pairs import name_of
from firstcause.source.pairing.parting import Parting
from firstcause.source.pairing.texts import changed, one_line
from firstcause.source.rewrites import Rewrite

# The call, and the argument that makes two of them draw alike.
SEEDED = {
    "train_test_split": ("random_state", "random_state=0"),
    "random_split": ("generator", "generator=torch.Generator().manual_seed(0)"),
}


def find(module: Module) -> Iterator[Parting]:
    """The later of two splits of different names within one function, neither of which is seeded."""
    splits = [(s, s.value) for s in module.nodes(ast.Assign) if isinstance(s.value, ast.Call)]
    open_ones = [(s, c, k) for s, c in splits if (k := _kind(module, c)) is not None]
    for number, (first, one, kind) in enumerate(open_ones):
        for later, other, same in open_ones[number + 1 :]:
            apart = kind == same and name_of(one.args[0]) != name_of(other.args[0])
            if not apart or module.function(first) is not module.function(later):
                continue
            text = one_line(module, later)
            words = f"`{text}` draws a split of its own, and {module.segment(one.args[0])} is split by another draw"
            rewrites = tuple(_seeded(module, s, c, kind) for s, c in ((first, one), (later, other)))
            yield Parting(module, later, words, (rewrites,))


def _kind(module: Module, call: ast.Call) -> str | None:
    """The kind of an unseeded split of one name."""
    name = module.segment(call.func).rpartition(".")[2]
    if name not in SEEDED or not call.args or name_of(call.args[0]) is None:
        return None
    # What train_test_split is given together stays together.
    several = name == "train_test_split" and len(call.args) > 1
    seeded = {k.arg for k in call.keywords} & {SEEDED[name][0], "shuffle", None}
    return None if several or seeded else name


def _seeded(module: Module, statement: ast.stmt, call: ast.Call, kind: str) -> Rewrite:
    text = module.segment(call).rstrip()[:-1].rstrip().rstrip(",")
    return Rewrite(module, statement, changed(module, statement, (call, f"{text}, {SEEDED[kind][1]})")))

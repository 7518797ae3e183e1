"""A decoder under a causal mask is given the very tokens that it is to predict.

Why: each position sees its own target: the network learns to copy it, the loss falls to nothing, and generation fails.
Refuted by: a model that moves its input by itself, a slice of either (``y[:, :-1]`` in, ``y[:, 1:]`` as target), a target of
another name, a model without a causal mask.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.losses import loss_calls
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.classes import lineage
from firstcause.source.module import Module
from firstcause.source.resolve import Defined, resolve

SLUG = "label-shift"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

FUNCTIONS = ("cross_entropy", "nll_loss")
CLASSES = ("CrossEntropyLoss", "NLLLoss")
# Methods that leave each target at its place.
KEEPS = frozenset({"flatten", "reshape", "view", "contiguous", "long", "to"})
TURNS = frozenset({"transpose", "permute"})
MOVES = (":-1]", "shift", "roll(", "pad(", "cat(", "narrow(", "start", "bos", "[:, 1:]", "[1:]")
HOPS = 6
CAUSAL = ("triu", "tril", "generate_square_subsequent_mask", "is_causal=True")


def find(code: Code) -> Iterator[Finding]:
    if "backward" not in code.called_names():
        return
    for call in loss_calls(code, FUNCTIONS, CLASSES):
        if len(call.node.args) < 2:
            continue
        target = _plain(call.node.args[1])
        made = _predicted(code, call) if target is not None else None
        if target is None or made is None:
            continue
        module, model = made
        if target not in {a.id for a in model.args if isinstance(a, ast.Name)} or not _is_causal(
            code, module, model
        ):
            continue
        if _renamed(call.module, model, call.node, target):
            continue
        text = (
            f"{target} goes into {ast.unparse(model.func)} and is its target as it is: under the causal mask each position sees "
            f"the token that it has to predict; give it {target}[:, :-1] and compare with {target}[:, 1:]"
        )
        yield finding(SLUG, CATEGORY, call.module, call.node, text, related=(module.site(model),))


def _plain(node: ast.expr) -> str | None:
    """The name of a target, flattened or not, of which nothing is cut off."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in KEEPS:
        node = node.func.value
    return node.id if isinstance(node, ast.Name) else None


def _predicted(code: Code, call: Call) -> tuple[Module, ast.Call] | None:
    """The call of the model that the loss is taken of, in the same function."""
    node: ast.expr = call.node.args[0]
    for _ in range(HOPS):
        method = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
        if method is not None and method.attr in KEEPS | TURNS:
            node = method.value
        elif isinstance(node, ast.Name):
            given = [
                a.value
                for a in call.module.inside(call.module.function(call.node) or call.module.tree, ast.Assign)
                if len(a.targets) == 1
                and ast.unparse(a.targets[0]) == node.id
                and a.lineno <= call.node.lineno
            ]
            if not given:
                return None
            node = given[-1]
        else:
            break
    return (call.module, node) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None


def _is_causal(code: Code, module: Module, model: ast.Call) -> bool:
    """Whether the class of what is called, or one that it derives from, masks what comes later."""
    for origin in code.origins(module, model.func):
        made = origin.node
        found = resolve(code.project, origin.module, made.func) if isinstance(made, ast.Call) else None
        if not isinstance(found, Defined) or not isinstance(found.node, ast.ClassDef):
            continue
        texts = [part.module.segment(part.node) for part in lineage(code.project, found.module, found.node)]
        # One that moves its input by itself is given the targets as they are.
        moves = any(word in text for text in texts for word in MOVES)
        if not moves and any(word in text for text in texts for word in CAUSAL):
            return True
    return False


def _renamed(module: Module, first: ast.Call, later: ast.Call, name: str) -> bool:
    """Whether the name is given another value between the two calls."""
    function = module.function(later) or module.tree
    return any(
        isinstance(n, ast.Name)
        and n.id == name
        and isinstance(n.ctx, ast.Store)
        and first.lineno < n.lineno <= later.lineno
        for n in ast.walk(function)
    )


_BODY = """
import torch
from torch import nn

class Writer(nn.Module):
    def __init__(self, size=100, width=32):
        super().__init__()
        self.embed = nn.Embedding(size, width)
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, batch_first=True), 2)
        self.out = nn.Linear(width, size)

    def forward(self, ids):
        length = ids.size(1)
        mask = torch.ones(length, length, dtype=torch.bool){mask}
        return self.out(self.body(self.embed(ids), mask=mask))

def fit(loader):
    net = Writer()
    opt = torch.optim.Adam(net.parameters())
    for ids in loader:
        logits = net({given})
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), {target}){mark}
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
BAD = (
    Example(_BODY.format(mask=".triu(1)", given="ids", target="ids.flatten()", mark="  # found")),
    Example(_BODY.format(mask=".triu(1)", given="ids", target="ids.reshape(-1)", mark="  # found")),
)
GOOD = (
    Example(
        _BODY.replace(
            "length = ids.size(1)",
            "ids = nn.functional.pad(ids[:, :-1], (1, 0))\n        length = ids.size(1)",
        ).format(mask=".triu(1)", given="ids", target="ids.flatten()", mark="")
    ),
    Example(_BODY.format(mask=".triu(1)", given="ids[:, :-1]", target="ids[:, 1:].flatten()", mark="")),
    Example(_BODY.format(mask=".diag()", given="ids", target="ids.flatten()", mark="")),
    Example(_BODY.format(mask=".triu(1)", given="ids", target="labels.flatten()", mark="")),
)

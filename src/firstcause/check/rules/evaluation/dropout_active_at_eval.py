"""A network drops values by the function, without saying whether it trains.

Why: torch.nn.functional.dropout drops unless it is told training=False; eval() reaches modules alone, so predictions and
validation go on dropping.
Refuted by: training given by name or place, a test of self.training around it, samples that are wanted (Monte Carlo dropout),
a project that never calls eval(), a share of 0.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding

SLUG = "dropout-active-at-eval"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# The place of training in all of them.
PLACE = 2
CALLS = tuple(
    f"torch.nn.functional.{name}"
    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
)
_WANTED = re.compile(r"monte.?carlo|mc.?dropout|stochastic forward|always (?:on|active)", re.IGNORECASE)


def find(code: Code) -> Iterator[Finding]:
    networks = {c.node for c in code.subclasses_of("torch.nn.Module", "lightning.LightningModule")}
    for call in code.calls(*CALLS) if networks and code.methods("eval") else ():
        around = set(call.module.ancestors(call.node))
        told = call.may_have("training") or len(call.node.args) > PLACE
        if told or not around & networks or _tests_mode(call) or _WANTED.search(call.module.text):
            continue
        share = call.constant("p", 1)
        if share is not None and share.value == 0:
            continue
        name = call.name.rpartition(".")[2]
        text = f"{name} without training= drops in eval() as well: give it training=self.training, or use nn.Dropout"
        yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="training")


def _tests_mode(call: Call) -> bool:
    """Whether a test around it asks for the mode."""
    for node in call.module.ancestors(call.node):
        if isinstance(node, (ast.If, ast.IfExp, ast.While)) and "training" in ast.unparse(node.test):
            return True
    return False


_NET = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        {before}x = F.dropout(x, {given}){mark}
        return self.fc(x)

def test(net, x):
    net.{mode}()
    return net(x)
"""


def _net(given: str, mark: str = "", before: str = "", mode: str = "eval") -> Example:
    return Example(_NET.format(given=given, mark=mark, before=before, mode=mode))


BAD = (
    _net("p=0.5", "  # found"),
    _net("0.2", "  # found"),
    Example("""
import torch
from torch.nn import functional as F

class Block(torch.nn.Module):
    def mix(self, x):
        return F.dropout2d(x)  # found

class Net(Block):
    def forward(self, x):
        return self.mix(x)

net = Net()
net.eval()
print(net(torch.ones(1, 2, 3, 3)))
"""),
)
GOOD = (
    _net("p=0.5, training=self.training"),
    _net("0.5, self.training"),
    _net("p=0.5, training=False"),
    _net("p=0.0"),
    _net("p=0.5", before="if self.training: "),
    _net("p=0.5", before="# Monte Carlo dropout: samples are wanted\n        "),
    _net("p=0.5", mode="train"),
    Example(
        "import torch\n\ndef noisy(x, net):\n    net.eval()\n    return torch.nn.functional.dropout(x, 0.1)\n"
    ),
)

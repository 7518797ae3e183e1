"""A model with dropout or batch normalisation is evaluated in training mode.

Why: dropout is active and statistics are those of the batch, so the figures are too low and move from call to call.
Refuted by: eval() on the model anywhere before, within what calls this, on purpose (Monte Carlo dropout); no such layer.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from firstcause.check.code import Code, finding
from firstcause.check.evaluation import evaluation_loops
from firstcause.check.graphs import QUIET
from firstcause.check.makers import call_of
from firstcause.check.modes import has_modes
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import Module, within
from firstcause.source.resolve import resolve

SLUG = "missing-eval-mode"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    if not code.called_names() & {"train", "parameters"}:
        return
    evaluated = _evaluated(code)
    for module, place in _quiet_places(code):
        if _is_of_training(module, place):
            continue
        for node in within(place):
            if not isinstance(node, ast.Call) or not _is_model_call(node):
                continue
            if _trains(module, place):
                break
            if _is_known(code, module, node):
                continue
            made = frozenset(o.node for o in code.origins(module, node.func))
            if (
                not made
                or made & evaluated
                or not _all_trained(code, made)
                or not _matters(code, module, made)
            ):
                continue
            name = ast.unparse(node.func)
            text = (
                f"{name} is evaluated here and nothing calls {name}.eval(): dropout stays active and batch statistics are "
                "those of the batch"
            )
            yield finding(SLUG, CATEGORY, module, place if isinstance(place, ast.With) else node, text)
            break
    yield from _loops(code, evaluated, [place for _, place in _quiet_places(code)])


def _loops(code: Code, evaluated: frozenset[ast.AST], places: list[ast.AST]) -> Iterator[Finding]:
    """Loops that evaluate with gradients on, where no quiet block was looked at already."""
    for loop in evaluation_loops(code):
        made = frozenset(o.node for o in code.origins(loop.loop.module, loop.forward.func))
        around = {loop.loop.node, *loop.loop.module.ancestors(loop.loop.node)}
        if (
            not made
            or made & evaluated
            or around & set(places)
            or not _all_trained(code, made)
            or not has_modes(code, made)
        ):
            continue
        name = ast.unparse(loop.forward.func)
        text = f"{name} is evaluated in this loop and nothing calls {name}.eval(): dropout stays active"
        yield finding(SLUG, CATEGORY, loop.loop.module, loop.loop.node, text)


def _evaluated(code: Code) -> frozenset[ast.AST]:
    """The models that are put into evaluation mode anywhere: with eval() or train(False)."""
    calls = [*code.methods("eval"), *(c for c in code.methods("train") if c.node.args or c.node.keywords)]
    return frozenset(
        o.node for c in calls if c.receiver is not None for o in code.origins(c.module, c.receiver)
    )


def _quiet_places(code: Code) -> Iterator[tuple[Module, ast.AST]]:
    """The blocks and functions that run without gradients."""
    seen = set()
    for call in code.calls(*QUIET):
        if call.node.args and call.name.endswith("set_grad_enabled"):
            continue
        holder = next(
            (p for p in call.module.ancestors(call.node) if isinstance(p, (ast.With, ast.FunctionDef))), None
        )
        is_own = isinstance(holder, ast.With) and any(i.context_expr is call.node for i in holder.items)
        is_decorator = isinstance(holder, ast.FunctionDef) and call.node in holder.decorator_list
        if holder is not None and (is_own or is_decorator) and holder not in seen:
            seen.add(holder)
            yield call.module, holder


def _is_of_training(module: Module, place: ast.AST) -> bool:
    """A target of the training, such as a momentum encoder's, has its mode: in a module's forward, or before backward."""
    if isinstance(place, ast.With) and _feeds_backward(module, place):
        return True
    function = place if isinstance(place, ast.FunctionDef) else module.function(place)
    return (
        isinstance(function, ast.FunctionDef)
        and function.name == "forward"
        and module.method_class(function) is not None
    )


def _feeds_backward(module: Module, place: ast.With) -> bool:
    """Whether what a block computes is used in its own loop before backward() is called there."""
    loop = next((p for p in module.ancestors(place) if isinstance(p, (ast.For, ast.While))), None)
    if loop is None:
        return False
    calls = [n for n in module.inside(loop, ast.Call) if getattr(n.func, "attr", "") == "backward"]
    end = place.end_lineno or place.lineno
    return any(_flows_into(module, place, loop, call) for call in calls if call.lineno > end)


def _flows_into(module: Module, place: ast.With, loop: ast.AST, call: ast.Call) -> bool:
    last, end = call.lineno, place.end_lineno or place.lineno
    flowing = {t.id for n in place.body if isinstance(n, ast.Assign) for t in _names(n.targets)}
    later = [n for n in module.inside(loop, ast.Assign) if end < n.lineno <= last]
    for statement in sorted(later, key=lambda n: n.lineno):
        given = {t.id for t in _names(statement.targets)}
        reads = any(t.id in flowing for t in _names([statement.value]))
        flowing = flowing | given if reads else flowing - given
    return any(t.id in flowing for t in _names([call]))


def _names(nodes: Sequence[ast.expr]) -> Iterator[ast.Name]:
    return (n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))


def _trains(module: Module, place: ast.AST) -> bool:
    """A block that calls backward is a training under the wrong switch: another rule's."""
    return any(n.attr == "backward" for n in module.inside(place, ast.Attribute))


def _is_model_call(node: ast.Call) -> bool:
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("generate", "forward"):
        return False
    return isinstance(node.func, (ast.Name, ast.Attribute)) and bool(node.args or node.keywords)


def _is_known(code: Code, module: Module, node: ast.Call) -> bool:
    """Whether a call is of a function or class that its name alone says: no model is called."""
    return resolve(code.project, module, node.func) is not None


def _matters(code: Code, module: Module, made: frozenset[ast.AST]) -> bool:
    """Whether a mode makes a difference: such layers are seen, or a library makes the model and its author calls train()."""
    if has_modes(code, made):
        return True
    switched: set[ast.AST] | None = code.project.memory.get("models put into training")
    if switched is None:
        switched = {
            o.node
            for c in code.methods("train")
            if c.receiver is not None and not c.node.args
            for o in code.origins(c.module, c.receiver)
        }
        code.project.memory["models put into training"] = switched
    return made <= switched and all(_is_foreign(code, module, node) for node in made)


def _is_foreign(code: Code, module: Module, node: ast.AST) -> bool:
    """Whether a call of a library, or of an object of one, makes it: what is in it cannot be read here."""
    if not isinstance(node, ast.Call):
        return False
    where = next((m for m in code.modules if node in m.parents), module)
    return not code.callees_of(call_of(code, where, node)) and not call_of(code, where, node).name.startswith(
        "torch."
    )


def _all_trained(code: Code, made: frozenset[ast.AST]) -> bool:
    """Whether each is a model that ``train()`` is called on or that an optimizer holds: one that is trained here."""
    known: set[ast.AST] | None = code.project.memory.get("models in training")
    if known is None:
        known = {
            o.node
            for c in code.methods("train", "parameters")
            if c.receiver is not None
            for o in code.origins(c.module, c.receiver)
        }
        code.project.memory["models in training"] = known
    return made <= known


_HEAD = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.drop(x))

def fit(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
"""
BAD = (
    Example("""
import torch

def train(net, loader, opt):
    net.train()
    for x, y in loader:
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()

def test(net, loader):
    with torch.no_grad():  # found
        return sum((net(x) == y).sum() for x, y in loader)

def main(engine, loader):
    net, opt, loader = engine.make_private(loader)
    train(net, loader, opt)
    print(test(net, loader))
"""),
    Example(
        _HEAD
        + """
def validate(model, loader):
    correct = 0
    with torch.no_grad():  # found
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
    return correct

model = Net()
fit(model, [])
print(validate(model, []))
"""
    ),
    Example(
        _HEAD
        + """
model = Net()
fit(model, [])
with torch.inference_mode():  # found
    print(model(torch.zeros(1, 4)))
"""
    ),
)
GOOD = (
    Example("""
import torch
from torch import nn

class Factors(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.user = nn.Embedding(10, 4)
        self.item = nn.Embedding.from_pretrained(vectors, freeze=False)

    def forward(self, user, item):
        return (self.user(user) * self.item(item)).sum(-1)

def error(model, user, item, rating):
    with torch.no_grad():
        return (model(user, item) - rating).pow(2).mean().item()

def fit(vectors, loader, held):
    model = Factors(vectors)
    opt = torch.optim.Adam(model.parameters())
    for user, item, rating in loader:
        opt.zero_grad()
        (model(user, item) - rating).pow(2).mean().backward()
        opt.step()
    print(error(model, *held))
"""),
    Example(
        _HEAD
        + """
model = Net()
fit(model, [])
model.eval()
with torch.no_grad():
    print(model(torch.zeros(1, 4)))
"""
    ),
    Example(
        _HEAD
        + """
def validate(model, loader):
    was = model.training
    model.train(False)
    with torch.no_grad():
        result = [model(x) for x in loader]
    model.train(was)
    return result

model = Net()
fit(model, [])
validate(model, [])
"""
    ),
    Example(
        _HEAD
        + """
import copy

model = Net()
model.train()
target = copy.deepcopy(model)
for p in target.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, other in []:
    guess = model(x)
    with torch.no_grad():
        goal = target(other)
    loss = (guess - goal).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
    ),
    Example(
        """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.no_grad():
    print(model(torch.zeros(1, 4)))
"""
    ),
)

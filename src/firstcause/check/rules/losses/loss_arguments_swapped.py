"""The target is given where a loss takes the prediction.

Why: the loss is computed of other things, or raises: the first argument is the input that has the graph.
Refuted by: symmetric losses, a target that is the output of a trained model, names that say nothing.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.library_names import shortest
from firstcause.check.losses import loss_calls
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.classes import external_bases
from firstcause.source.module import Module
from firstcause.source.resolve import external, resolve

SLUG = "loss-arguments-swapped"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

# Those in which it matters which comes first; mse_loss, l1_loss and smooth_l1_loss are symmetric.
NAMES = (
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "kl_div",
    "gaussian_nll_loss",
)
# The name under which a batch has its targets.
LABELS = frozenset({"labels", "label", "targets", "target"})
CLASSES = (
    "CrossEntropyLoss",
    "NLLLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "KLDivLoss",
    "MultiMarginLoss",
    "MultiLabelSoftMarginLoss",
)


def find(code: Code) -> Iterator[Finding]:
    for call in loss_calls(code, NAMES, CLASSES):
        first, second = call.argument("input", 0), call.argument("target", 1)
        if first is None or second is None:
            continue
        if _counts(code, call, first.node) and not _counts(code, call, second.node):
            text = (
                f"{ast.unparse(first.node)[:40]} holds whole numbers and stands where the prediction belongs; "
                f"{ast.unparse(second.node)[:40]} stands where the target belongs"
            )
            yield finding(SLUG, CATEGORY, call.module, call.node, text)
        elif _is_named_output(second.node) and _is_named_target(code, call.module, first.node):
            text = (
                f"{ast.unparse(second.node)[:40]} stands where the target belongs, and {ast.unparse(first.node)[:40]} "
                "where the prediction belongs"
            )
            yield finding(SLUG, CATEGORY, call.module, call.node, text)
        elif _is_output(code, call.module, second.node) and not _is_output(code, call.module, first.node):
            if not _comes_from_data(code, call, first.node):
                continue
            text = (
                f"{ast.unparse(second.node)[:40]} is a model's output and stands where the target belongs; "
                f"{ast.unparse(first.node)[:40]} stands where the prediction belongs"
            )
            yield finding(SLUG, CATEGORY, call.module, call.node, text)


def _is_named_output(node: ast.expr) -> bool:
    """``outputs.logits``, which models of transformers give."""
    return isinstance(node, ast.Attribute) and node.attr == "logits"


def _is_named_target(code: Code, module: Module, node: ast.expr) -> bool:
    """What is taken from a batch by the name of labels: ``inputs.pop("labels")``, ``batch["labels"]``."""
    origins = code.origins(module, node)
    return bool(origins) and all(_taken_by_name(o.node) in LABELS for o in origins)


def _taken_by_name(node: ast.AST) -> object:
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return node.slice.value
    takes = (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("pop", "get")
    )
    if takes and isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        return node.args[0].value
    return None


def _counts(code: Code, call: Call, node: ast.expr) -> bool:
    """Whether a value surely holds whole numbers: no loss takes them as its prediction."""
    if (
        "cross_entropy" not in call.name
        and "CrossEntropy" not in call.name
        and "nll" not in call.name.lower()
    ):
        return False
    origins = code.origins(call.module, node)
    return bool(origins) and all(_is_whole(code, o.module, o.node) for o in origins)


def _is_whole(code: Code, module: Module, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = shortest(external(resolve(code.project, module, node.func)))
    if name in ("torch.randint", "torch.argmax"):
        return not any(k.arg == "dtype" for k in node.keywords)
    if isinstance(node.func, ast.Attribute) and not name:
        if node.func.attr in ("to", "cuda", "view", "reshape", "squeeze", "flatten", "repeat"):
            known = [a for a in node.args if "float" in ast.unparse(a) or "dtype" in ast.unparse(a)]
            inner = code.origins(module, node.func.value)
            return (
                not known
                and bool(inner)
                and all(o.node is not node and _is_whole(code, o.module, o.node) for o in inner)
            )
        return node.func.attr in ("long", "argmax")
    return False


def _is_output(code: Code, module: Module, node: ast.expr) -> bool:
    """Whether a value is what a module of torch gives when it is called."""
    origins = code.origins(module, node)
    return bool(origins) and all(_is_module_call(code, o.module, o.node) for o in origins)


def _is_module_call(code: Code, module: Module, node: ast.AST) -> bool:
    """A call of one of torch's modules, or what a forward of the project's own modules gives back."""
    inside = module.method_class(node)
    if inside is not None and "torch.nn.Module" in external_bases(code.project, module, inside):
        return True
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    ):
        # ``model(images)["out"]``.
        return isinstance(node.value, ast.Call) and _is_module_call(code, module, node.value)
    if isinstance(node, ast.Call) and _is_trained(code, module, node.func):
        return True
    made = code.made_by(module, node.func) if isinstance(node, ast.Call) else set()
    return bool(made) and all(n.startswith("torch.nn.") and n.rpartition(".")[2][:1].isupper() for n in made)


def _is_trained(code: Code, module: Module, func: ast.expr) -> bool:
    """Whether what is called is a model that ``train()`` is called on: whatever made it, it gives outputs."""
    trained: set[ast.AST] | None = code.project.memory.get("models put into training")
    if trained is None:
        trained = {
            o.node
            for c in code.methods("train")
            if c.receiver is not None and not c.node.args
            for o in code.origins(c.module, c.receiver)
        }
        code.project.memory["models put into training"] = trained
    made = {o.node for o in code.origins(module, func)}
    return bool(made) and made <= trained


def _comes_from_data(code: Code, call: Call, node: ast.expr) -> bool:
    """Whether a name is bound by a loop over batches, or is an item of one."""
    root: ast.expr = node
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    if not isinstance(root, ast.Name):
        return False
    loop = call.loop
    while loop is not None:
        target = loop.node.target if isinstance(loop.node, (ast.For, ast.AsyncFor)) else None
        if target is not None and any(isinstance(n, ast.Name) and n.id == root.id for n in ast.walk(target)):
            return True
        loop = code.loop_around(loop.module, loop.node)
    return False


_LOOP = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)

def fit(loader):
    net = Net()
    crit = nn.{cls}()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, labels in loader:
        out = net(x)
        loss = crit({arguments}){mark}
"""
_NAMED = """
import torch.nn.functional as F
from transformers import Trainer

class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        return F.cross_entropy({arguments}, weight=self.weights){mark}
"""
BAD = (
    Example("""
import torch
from torch import nn
from torchvision.models.segmentation import deeplabv3_resnet50

def fit(loader):
    model = deeplabv3_resnet50(weights=None, num_classes=7)
    criterion = nn.CrossEntropyLoss(ignore_index=255)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    model.train()
    for images, masks in loader:
        opt.zero_grad()
        scores = model(images)["out"]
        criterion(masks, scores).backward()  # found
        opt.step()
"""),
    Example(_NAMED.format(arguments="labels, outputs.logits", mark="  # found")),
    Example("""
import torch
import torch.nn.functional as F

def contrast(images, texts, device):
    logits = images @ texts.t()
    labels = torch.arange(len(images), device=device).long()
    return F.cross_entropy(labels, logits)  # found
"""),
    Example("""
import torch

def train(model, loader, optimizer, criterion):
    model.train()
    for data, target in loader:
        output = model(data)
        loss = criterion(target, output)  # found
        loss.backward()
        optimizer.step()

def main(engine, loader):
    model, optimizer = engine.make_private(loader)
    train(model, loader, optimizer, torch.nn.CrossEntropyLoss())
"""),
    Example(_LOOP.format(cls="CrossEntropyLoss", arguments="labels, out", mark="  # found")),
    Example(_LOOP.format(cls="BCEWithLogitsLoss", arguments="labels.float(), out", mark="  # found")),
)
GOOD = (
    Example(_NAMED.format(arguments="outputs.logits, labels", mark="")),
    Example("""
import torch
import torch.nn.functional as F

def contrast(images, texts, device):
    logits = images @ texts.t()
    labels = torch.arange(len(images), device=device).long()
    return F.cross_entropy(logits, labels) + F.kl_div(logits, labels.float())
"""),
    Example(_LOOP.format(cls="CrossEntropyLoss", arguments="out, labels", mark="")),
    Example(_LOOP.format(cls="MSELoss", arguments="labels, out", mark="")),
    Example(_LOOP.format(cls="CrossEntropyLoss", arguments="input=out, target=labels", mark="")),
)

"""What was to be trained is frozen with the rest: a new layer, or all that the optimizer is given.

Why: a loop over all parameters freezes the new layer as well where it comes after it; what is frozen never changes, and
where nothing is left that requires a gradient, backward raises.
Refuted by: a layer that is put in afterwards, anything that requires a gradient again, weights that are loaded; for an
adapter modules_to_save, a task type for which peft saves the head, an adapter on the head itself.
Holds for: torch and peft, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, finding
from firstcause.check.freezing import Freezing, freezings, is_copy, name_of, trainable_again
from firstcause.check.frozen_adapters import frozen_adapters
from firstcause.check.loaded import loaded_class
from firstcause.check.makers import first_maker, makes_several
from firstcause.check.new_heads import frozen_heads
from firstcause.check.rule import Example
from firstcause.check.steps import is_optimizer
from firstcause.check.trainers import TRAINERS
from firstcause.schema.finding import Category, Finding
from firstcause.source.module import FUNCTIONS, Module

SLUG = "frozen-by-mistake"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

ADAPTERS = ("peft", "adapters", "loralib", "unsloth")
TESTS = (ast.If, ast.IfExp, ast.Try, ast.While, ast.Lambda, ast.ExceptHandler)
HOPS = 2


def find(code: Code) -> Iterator[Finding]:
    for config, model in frozen_heads(code):
        text = (
            f"{_class_of(model)} starts with a new head, and this adapter leaves it frozen at its random weights and out of "
            "what is saved; name it in modules_to_save, or give task_type SEQ_CLS or TOKEN_CLS where it is one of these"
        )
        yield finding(
            SLUG,
            CATEGORY,
            config.module,
            config.node,
            text,
            key="freeze",
            argument="modules_to_save",
            related=(model.site,),
        )
    for one, call in frozen_adapters(code):
        text = (
            f"this freezes {ast.unparse(one.model)} with the adapter that was put into it before (line {call.node.lineno}):"
            " nothing of it is trained; freeze first, then add the adapter"
        )
        yield finding(SLUG, CATEGORY, one.module, one.node, text, key="freeze", related=(call.site,))
    if not code.trains() or any(code.imports(a) for a in ADAPTERS):
        return
    frozen = list(freezings(code))
    if not frozen or trainable_again(code):
        return
    for one in frozen:
        layer = _put_in_before(code, one)
        if layer is not None:
            text = (
                f"this freezes {ast.unparse(one.model)} with the new layer {ast.unparse(layer.targets[0])}: it stays at "
                "its random weights; freeze first, then put the layer in"
            )
            yield finding(
                SLUG, CATEGORY, one.module, one.node, text, key="freeze", related=(one.module.site(layer),)
            )
        elif _surely_reached(code, one.module, one.node, HOPS):
            taker = _trained_with(code, one)
            if taker is not None:
                text = (
                    f"every parameter of {ast.unparse(one.model)} is frozen here, and {taker.name.rpartition('.')[2]} "
                    "is given nothing else: nothing trains, and backward raises"
                )
                yield finding(SLUG, CATEGORY, one.module, one.node, text, key="freeze", related=(taker.site,))


def _class_of(model: Call) -> str:
    return "the model" if model.name == "timm.create_model" else loaded_class(model)


def _put_in_before(code: Code, one: Freezing) -> ast.Assign | None:
    """The layer that is put into the model earlier in the same block, where nothing is put in afterwards."""
    block = _block(one.module, one.node)
    at = next((i for i, s in enumerate(block) if s is one.node), len(block))
    model = ast.unparse(one.model)
    before = [s for s in block[:at] if _puts_layer(code, one.module, s, model)]
    if not before or any(_touches(s, model) for s in block[at + 1 :]) or _loads(code, model):
        return None
    layer = before[-1]
    return layer if isinstance(layer, ast.Assign) else None


def _block(module: Module, node: ast.stmt) -> list[ast.stmt]:
    """The statements among which one stands; the cells of a notebook follow one another."""
    parent = module.parents.get(node)
    for name in ("body", "orelse", "finalbody"):
        found = getattr(parent, name, None)
        if isinstance(found, list) and any(s is node for s in found):
            return found
    return []


def _puts_layer(code: Code, module: Module, statement: ast.stmt, model: str) -> bool:
    """``model.fc = nn.Linear(…)``: a layer that has parameters."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    if not _of_model(statement.targets[0], model):
        return False
    made = code.made_by(module, statement.value)
    layers = ("Linear", "LazyLinear", "Conv1d", "Conv2d", "Conv3d", "Bilinear")
    last = {m.rpartition(".")[2] for m in made if m.startswith("torch.nn.")}
    return bool(last & set(layers)) or (
        "Sequential" in last and any(x in ast.unparse(statement.value) for x in layers)
    )


def _of_model(target: ast.expr, model: str) -> bool:
    return isinstance(target, (ast.Attribute, ast.Subscript)) and ast.unparse(target).startswith(
        (f"{model}.", f"{model}[")
    )


def _touches(statement: ast.stmt, model: str) -> bool:
    """Whether something is put into the model, or another model stands under its name."""
    return any(
        _of_model(t, model) or (ast.unparse(t) == model and not _moves(n, model))
        for n in ast.walk(statement)
        if isinstance(n, ast.Assign)
        for t in n.targets
    )


def _moves(assign: ast.Assign, model: str) -> bool:
    """``model = model.to(device)`` and its like."""
    return any(ast.unparse(n) == model for n in ast.walk(assign.value) if isinstance(n, ast.expr))


def _loads(code: Code, model: str) -> bool:
    """Whether weights are loaded into it: then it was trained before."""
    return any(
        c.receiver is not None and ast.unparse(c.receiver) == model for c in code.methods("load_state_dict")
    )


def _surely_reached(code: Code, module: Module, node: ast.AST, hops: int) -> bool:
    """Whether no test stands around a statement, nor around any call of its function."""
    for parent in module.ancestors(node):
        if isinstance(parent, TESTS) and not _is_entry(parent):
            return False
        if isinstance(parent, FUNCTIONS):
            name = getattr(parent, "name", "")
            calls = [c for c in code.own_calls(name) if parent in {d.node for d in code.callees_of(c)}]
            return not calls or (
                hops > 0 and all(_surely_reached(code, c.module, c.node, hops - 1) for c in calls)
            )
    return True


def _is_entry(node: ast.AST) -> bool:
    """``if __name__ == "__main__":``"""
    return isinstance(node, ast.If) and any(name_of(n) == "__name__" for n in ast.walk(node.test))


def _trained_with(code: Code, one: Freezing) -> Call | None:
    """The only optimizer or trainer of the program, where the frozen model alone is what it is given."""
    frozen = first_maker(code, one.module, one.model)
    optimizers = [c for c in code.methods_and_calls(*_OPTIMIZERS) if is_optimizer(c.name)]
    trainers = code.calls(*TRAINERS)
    if frozen is None or len(optimizers) + len(trainers) != 1 or is_copy(one):
        return None
    if _changed(code, frozen) or makes_several(code, frozen):
        return None
    taker = (optimizers + trainers)[0]
    given = taker.argument("params", 0) if optimizers else taker.argument("model", 0)
    if given is None or given.path:
        return None
    trained = given.node if trainers else _owner(code, given.module, given.node)
    made = first_maker(code, given.module, trained) if trained is not None else None
    # Where nobody is seen to call the function, the two have to stand in one.
    function, called = one.module.function(one.node), set(code.called_names())
    apart = function is not taker.module.function(taker.node) and getattr(function, "name", "") not in called
    if made is None or made.node is not frozen.node or (function is not None and apart):
        return None
    return taker


_OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "RAdam")


def _owner(code: Code, module: Module, node: ast.expr) -> ast.expr | None:
    """The model in ``model.parameters()``, through ``filter`` and ``list``."""
    while (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("filter", "list")
    ):
        node = node.args[-1] if node.args else ast.Constant(None)
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) == 1:
        node = node.generators[0].iter
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args
    return node.func.value if plain and node.func.attr == "parameters" else None  # type: ignore[attr-defined]


def _changed(code: Code, made: Call) -> bool:
    """Whether a layer is put anywhere into the object that a call makes, or a module is added to it."""
    for module in code.modules:
        for assign in module.nodes(ast.Assign):
            for target in assign.targets:
                root = target
                while isinstance(root, (ast.Attribute, ast.Subscript)):
                    root = root.value
                if root is not target and not _is_self(root):
                    found = first_maker(code, module, root)
                    if isinstance(assign.value, ast.Call) and (found is None or found.node is made.node):
                        return True
    return bool(
        code.methods_and_calls("add_module", "register_module", "register_parameter", "reset_classifier")
    )


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


_BODY = """
import torch
from torch import nn
from torchvision import models

def build(classes):
    net = models.resnet18(weights="DEFAULT")
{build}
    return net

def fit(loader):
    net = build(5)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
"""
_ADAPTED = """
from peft import LoraConfig, TaskType, get_peft_model
from transformers import AutoModelFor{task}, Trainer

def fit(data):
    model = AutoModelFor{task}.from_pretrained({loaded})
    config = LoraConfig({config}){mark}
    model = get_peft_model(model, config){more}
    Trainer(model=model, train_dataset=data).train()
"""


def _adapted(task: str, loaded: str, config: str, more: str = "", mark: str = "") -> Example:
    return Example(_ADAPTED.format(task=task, loaded=loaded, config=config, more=more, mark=mark))


_HEAD = "    net.fc = nn.Linear(net.fc.in_features, classes)\n"
_LOOP = "    for p in net.parameters():{mark}\n        p.requires_grad = False\n"
_WITH_ADAPTER = """
import torch
from diffusers import UNet2DConditionModel
from peft import LoraConfig

unet = UNet2DConditionModel.from_pretrained("org/model", subfolder="unet")
{before}unet.add_adapter(LoraConfig(r=8, target_modules=["to_q"])){after}
left = [p for p in unet.parameters() if p.requires_grad]
optimizer = torch.optim.AdamW(left, lr=1e-4)
"""
BAD = (
    Example(_WITH_ADAPTER.format(before="", after="\nunet.requires_grad_(False)  # found")),
    Example(_BODY.format(build=_HEAD + _LOOP.format(mark="  # found"))),
    Example(_BODY.format(build=_HEAD + "    net.requires_grad_(False)  # found\n")),
    Example(_BODY.format(build=_LOOP.format(mark="  # found"))),
    Example(
        _BODY.format(
            build="    net.fc = nn.Sequential(nn.Dropout(0.2), nn.Linear(512, classes))\n"
            "    for name, p in net.named_parameters():  # found\n        p.requires_grad_(False)\n"
        )
    ),
    Example("""
from torch import nn

class Net(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.body.head = nn.Linear(64, 3)
        for p in self.body.parameters():  # found
            p.requires_grad = False

    def forward(self, x):
        return self.body(x)

def step(net, x):
    net(x).mean().backward()
"""),
    Example("""
from transformers import AutoModelForSequenceClassification, Trainer

def fit(data):
    model = AutoModelForSequenceClassification.from_pretrained("org/model", num_labels=3)
    for p in model.parameters():  # found
        p.requires_grad = False
    Trainer(model=model, train_dataset=data).train()
"""),
    _adapted(
        "ImageClassification", '"org/vit", num_labels=7', 'r=8, target_modules=["query"]', mark="  # found"
    ),
    _adapted(
        "SequenceClassification",
        '"org/body", id2label={0: "a"}',
        "r=8, task_type=TaskType.CAUSAL_LM",
        mark="  # found",
    ),
    _adapted("TokenClassification", '"roberta-base"', 'task_type="FEATURE_EXTRACTION"', mark="  # found"),
    _adapted("AudioClassification", '"org/w2v", num_labels=7', "r=8, modules_to_save=None", mark="  # found"),
)
GOOD = (
    Example("""
import torch
from torch import nn

def convnet(width):
    return nn.Sequential(nn.Conv1d(40, width, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(width, 35))

def main(loader):
    teacher = convnet(256)
    teacher.requires_grad_(False).eval()
    student = convnet(16)
    opt = torch.optim.Adam(student.parameters())
    for mel in loader:
        loss = nn.functional.mse_loss(student(mel), teacher(mel))
        opt.zero_grad()
        loss.backward()
        opt.step()
"""),
    Example(_WITH_ADAPTER.format(before="unet.requires_grad_(False)\n", after="")),
    Example(_BODY.format(build=_LOOP.format(mark="") + _HEAD)),
    Example(_BODY.format(build=_HEAD + _LOOP.format(mark="") + "    net.fc.requires_grad_(True)\n")),
    Example(
        _BODY.format(
            build=_HEAD + "    for name, p in net.named_parameters():\n"
            '        if not name.startswith("fc"):\n            p.requires_grad = False\n'
        )
    ),
    Example(
        _BODY.format(build="    net.fc = nn.Identity()\n" + _LOOP.format(mark="")).replace(
            "opt = torch", "net = nn.Sequential(net, nn.Linear(512, 5))\n    opt = torch"
        )
    ),
    Example(_BODY.format(build=_HEAD + "    if classes == 0:\n        net.requires_grad_(False)\n")),
    Example("""
from transformers import AutoModelForSequenceClassification, Trainer

def fit(data):
    model = AutoModelForSequenceClassification.from_pretrained("org/model", num_labels=3)
    for p in model.base_model.parameters():
        p.requires_grad = False
    Trainer(model=model, train_dataset=data).train()
"""),
    Example("""
import torch
from torch import nn
from torchvision import models

def distil(loader):
    teacher, student = models.resnet50(weights="DEFAULT"), models.resnet18()
    teacher.requires_grad_(False)
    opt = torch.optim.SGD(student.parameters(), lr=0.1)
    for x, _ in loader:
        opt.zero_grad()
        nn.functional.mse_loss(student(x), teacher(x)).backward()
        opt.step()
"""),
    _adapted("ImageClassification", '"org/vit", num_labels=7', 'r=8, modules_to_save=["classifier"]'),
    _adapted("SequenceClassification", '"org/body", num_labels=7', "r=8, task_type=TaskType.SEQ_CLS"),
    _adapted("ImageClassification", '"org/vit", num_labels=7', 'r=8, target_modules=["query", "classifier"]'),
    _adapted("ImageClassification", '"org/vit", num_labels=7', 'r=8, target_modules="all-linear"'),
    _adapted("SequenceClassification", '"org/bert-base-uncased-sst2"', "r=8"),
    _adapted("SequenceClassification", '"./own", num_labels=7', "r=8"),
    _adapted("CausalLM", '"gpt2"', 'r=8, task_type="CAUSAL_LM"'),
    _adapted(
        "ImageClassification",
        '"org/vit", num_labels=7',
        "r=8",
        "\n    for p in model.classifier.parameters():\n        p.requires_grad = True",
    ),
    Example("""
import copy
import torch
from torch import nn

def fit(loader):
    net = nn.Sequential(nn.Linear(3, 3))
    average = copy.deepcopy(net)
    for p in average.parameters():
        p.requires_grad = False
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        nn.functional.mse_loss(net(x), average(x)).backward()
        opt.step()
"""),
)

"""The model is moved to the accelerator and the batches are not, or the other way round.

Why: a layer cannot multiply weights of one device by inputs of another: RuntimeError at the first batch on a GPU.
Refuted by: both moved, devices given at creation, a library that places tensors, a device that the code does not say.
Holds for: torch, all versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, Loop, finding
from firstcause.check.devices import is_model, moves
from firstcause.check.engines import generations
from firstcause.check.events import training_loops
from firstcause.check.makers import first_maker, maker
from firstcause.check.rule import Example
from firstcause.check.sequences import looped_over
from firstcause.check.steps import reached
from firstcause.check.unmoved import made_on_the_host, straight_from_a_loader
from firstcause.schema.finding import Category, Finding

SLUG = "missing-device-move"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}


def find(code: Code) -> Iterator[Finding]:
    for module, node, move, text in (*made_on_the_host(code), *straight_from_a_loader(code)):
        yield finding(SLUG, CATEGORY, module, node, text, related=(move.site,))
    loops = [loop for loop in training_loops(code) if _over_a_loader(code, loop)]
    written = [g for g in generations(code) if g.kind == "transformers"]
    found = moves(code) if loops or written else None
    if found is None or found.unknown or bool(found.models) == bool(found.others):
        return
    for one in written:
        if one.engine.node in found.models and _tokenised(code, one.call):
            text = f"the model is on the GPU (line {found.models[one.engine.node].node.lineno}) and the tokens stay on the CPU"
            yield finding(
                SLUG,
                CATEGORY,
                one.call.module,
                one.call.node,
                text,
                related=(found.models[one.engine.node].site,),
            )
    for loop in loops:
        forward = _forward(code, loop)
        if forward is None:
            continue
        call, model = forward
        if model.node in found.models:
            text = f"the model is on the GPU (line {found.models[model.node].node.lineno}) and the batch stays on the CPU"
            yield finding(
                SLUG, CATEGORY, call.module, call.node, text, related=(found.models[model.node].site,)
            )
        elif any(node is o.node for o in found.others for _, node in reached(code, loop)):
            text = (
                f"batches are moved to the GPU (line {found.others[0].node.lineno}) and this model never is"
            )
            yield finding(SLUG, CATEGORY, model.module, model.node, text, related=(found.others[0].site,))


def _tokenised(code: Code, call: Call) -> bool:
    """Whether what a model generates from comes from a tokenizer as it is."""
    given = [
        *call.node.args[:1],
        *(k.value for k in call.node.keywords if k.arg in (None, "input_ids", "inputs")),
    ]
    for node in given:
        value = node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else node
        made = maker(code, call.module, value)
        owner = first_maker(code, made.module, made.node.func) if made is not None else None
        if owner is not None and "Tokenizer" in ast.unparse(owner.node.func):
            return True
    return False


def _over_a_loader(code: Code, loop: Loop) -> bool:
    over = looped_over(loop)
    made = maker(code, loop.module, over) if over is not None else None
    return made is not None and made.name == "torch.utils.data.DataLoader"


def _forward(code: Code, loop: Loop) -> tuple[Call, Call] | None:
    """The first call of a model in the loop, and the call that made that model."""
    for module, node in reached(code, loop):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            model = first_maker(code, module, node.func)
            if model is not None and is_model(code, model.module, model.node) and not _is_loss(model):
                return Call(code, module, node, ""), model
    return None


def _is_loss(model: Call) -> bool:
    return model.name.startswith("torch.nn.") and model.name.endswith("Loss")


_POLICY = """
import gymnasium
import torch
from torch import nn

DEVICE = torch.device("cuda")

def network():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).to(DEVICE)

def act(net, state):
    return net(torch.as_tensor(state, dtype=torch.float32{device}).unsqueeze(0)){moved}.argmax(1).item(){mark}

def main():
    env = gymnasium.make("CartPole-v1")
    net = network()
    goal = torch.zeros(4, device=DEVICE)
    state = env.reset()
    while True:
        state = env.step(act(net, state))
"""
_BODY = """
import torch
from torch import nn
from torch.utils.data import DataLoader

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)

def main(data):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = {net}{made}
    loss_fn = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in DataLoader(data, batch_size=8):
        {move}
        loss = loss_fn(net(x), y){used}
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
_MOVE = "x, y = x.to(device), y.to(device)"
BAD: tuple[Example, ...] = (
    Example(_BODY.format(net="Net().to(device)", made="", move="pass", used="  # found")),
    Example(_BODY.format(net="Net()", made="  # found", move=_MOVE, used="")),
)
_GENERATE = """
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda")
batch = tok("Once", return_tensors="pt"){move}
print(model.generate(**batch, max_new_tokens=8)){mark}
"""
_VALIDATE = """
import torch
from torch import nn
from torch.utils.data import DataLoader

DEVICE = torch.device("cuda")

@torch.no_grad()
def walk(net, loader, goal):
    net.eval()
    total = 0.0
    for x, y in loader:
        {moved}
        total += goal(net(x), y.to(DEVICE)).item(){mark}
    return total

def main(data):
    loader = DataLoader(data, batch_size=8)
    net = nn.Linear(4, 1).to(DEVICE)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        x, y = x.to(DEVICE), y.to(DEVICE)
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    return walk(net, DataLoader(data, batch_size=64), nn.MSELoss())
"""
BAD = (*BAD, Example(_VALIDATE.format(moved="pass", mark="  # found")))
BAD = (*BAD, Example(_POLICY.format(device="", moved="", mark="  # found")))
BAD = (*BAD, Example(_GENERATE.format(move="", mark="  # found")))
GOOD = (
    Example(_VALIDATE.format(moved="x = x.to(DEVICE)", mark="")),
    Example(_VALIDATE.format(moved="x = x + 0", mark="")),
    Example(_POLICY.format(device=", device=DEVICE", moved="", mark="")),
    Example(_POLICY.format(device="", moved="", mark="").replace(".to(DEVICE)", "")),
    Example(_POLICY.format(device="", moved="", mark="").replace(".unsqueeze(0)", ".to(DEVICE)")),
    Example(_GENERATE.format(move='.to("cuda")', mark="")),
    Example(_GENERATE.format(move=".to(model.device)", mark="")),
    Example(_BODY.format(net="Net().to(device)", made="", move=_MOVE, used="")),
    Example(_BODY.format(net="Net()", made="", move="pass", used="")),
    Example(_BODY.format(net="Net(); net.to(device)", made="", move=_MOVE, used="")),
    Example(_BODY.format(net="Net().to(device)", made="", move="x = x.to(get())", used="")),
)

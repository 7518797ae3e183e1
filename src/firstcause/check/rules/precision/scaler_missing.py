"""Half-precision training without loss scaling.

Why: gradients below 6e-8 are zero in float16, so small ones vanish and part of the model does not learn.
Refuted by: a GradScaler (of torch, Fabric or the training library), bfloat16, autocast for evaluation only.
Holds for: torch since 1.6; on devices where float16 autocast exists.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from firstcause.check.code import Call, Code, Loop, finding
from firstcause.check.constants import Named
from firstcause.check.events import events, training_loops
from firstcause.check.rule import Example
from firstcause.check.steps import reached
from firstcause.schema.finding import Category, Finding

SLUG = "scaler-missing"
CATEGORY: Category = "critical"
HOLDS: Mapping[str, str] = {}

CUDA = "torch.cuda.amp.autocast"
SCALERS = (
    "torch.amp.GradScaler",
    "torch.cuda.amp.GradScaler",
    "torch.GradScaler",
    "torch.cpu.amp.GradScaler",
)


def find(code: Code) -> Iterator[Finding]:
    half = [c for c in code.calls("torch.autocast", "torch.amp.autocast", CUDA) if _is_half(c)]
    if not half or _scaled_by_others(code) or not all(_is_left(code, c) for c in code.calls(*SCALERS)):
        return
    loops = training_loops(code)
    for call in half:
        if any(_trains_in(code, loop, call) for loop in loops) or _is_in_step(code, call):
            text = "autocast in float16 and no GradScaler: gradients below 6e-8 become 0 and are lost"
            yield finding(SLUG, CATEGORY, call.module, call.node, text)


def _is_half(call: Call) -> bool:
    dtype = call.constant("dtype", None if call.name == CUDA else 1)
    if call.name == CUDA:
        return not call.may_have("dtype") or (dtype is not None and dtype.value == Named("torch.float16"))
    device = call.constant("device_type", 0)
    if dtype is not None:
        return bool(dtype.value == Named("torch.float16"))
    # The default of CUDA's autocast is float16, that of the CPU's bfloat16.
    return (
        not call.may_have("dtype")
        and len(call.node.args) < 2
        and device is not None
        and device.value == "cuda"
    )


def _scaled_by_others(code: Code) -> bool:
    """A scaler of another library, or one of the user's own: somebody multiplies the loss."""
    return any("scaler" in last.lower() and last != "GradScaler" for last in code.called_names())


def _is_left(code: Code, made: Call) -> bool:
    """Whether a scaler is made and scales nothing: no loss goes through it, and nobody else gets it."""
    statement = made.module.statement(made.node)
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is made.node else []
    if "scale" in code.called_names() or len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return False
    reads = [n for n in made.module.nodes(ast.Name) if n.id == targets[0].id and isinstance(n.ctx, ast.Load)]
    return all(isinstance(made.module.parents.get(n), ast.Attribute) for n in reads)


def _trains_in(code: Code, loop: Loop, call: Call) -> bool:
    if not any(e.kind == "backward" for e in events(code, loop)):
        return False
    return any(node is call.node for _, node in reached(code, loop)) and not _for_evaluation(code, call)


def _is_in_step(code: Code, call: Call) -> bool:
    """Whether the function around is one step of a training that somebody else loops over: it goes back and steps."""
    function = call.module.function(call.node)
    if function is None or isinstance(function, ast.Lambda) or _for_evaluation(code, call):
        return False
    called = call.module.inside(function, ast.Call)
    plain = {
        n.func.attr for n in called if isinstance(n.func, ast.Attribute) and not n.args and not n.keywords
    }
    return {"backward", "step"} <= plain


def _for_evaluation(code: Code, call: Call) -> bool:
    quiet = ("torch.no_grad", "torch.inference_mode")
    function = call.module.function(call.node)
    decorators = getattr(function, "decorator_list", [])
    named = {ast.unparse(d).partition("(")[0] for d in decorators}
    return code.under(call.module, call.node, *quiet) is not None or bool(named & set(quiet))


_LOOP = """
    for x, y in loader:
        opt.zero_grad()
        with torch.autocast({arguments}):{mark}
            loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
"""
_HEAD = """
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
"""
_STEP = """
import torch
from ignite.engine import Engine

def train_step(engine, batch):
    x, y = batch
    with torch.amp.autocast("cuda", enabled=with_amp):{mark}
        {before}
    opt.zero_grad()
    {after}

trainer = Engine(train_step)
"""
BAD = (
    Example(
        _STEP.format(
            before="loss = criterion(net(x), y)", after="loss.backward()\n    opt.step()", mark="  # found"
        )
        + 'scaler = torch.amp.GradScaler("cuda")\n'
    ),
    Example(_HEAD + _LOOP.format(arguments='"cuda", dtype=torch.float16', mark="  # found")),
    Example(_HEAD + _LOOP.format(arguments='device_type="cuda"', mark="  # found")),
    Example(
        _STEP.format(
            before="loss = criterion(net(x), y)", after="loss.backward()\n    opt.step()", mark="  # found"
        )
    ),
)
GOOD = (
    Example(_STEP.format(before="loss = criterion(net(x), y)", after="return loss", mark="")),
    Example(
        'import torch\nscaler = torch.amp.GradScaler("cuda")\ntrainer = make(scaler)\n'
        + _STEP.format(before="loss = criterion(net(x), y)", after="loss.backward()\n    opt.step()", mark="")
    ),
    Example(
        _STEP.format(
            before="loss = criterion(net(x), y)",
            after="scaler.scale(loss).backward()\n    scaler.step(opt)",
            mark="",
        )
    ),
    Example(_HEAD + _LOOP.format(arguments='"cuda", dtype=torch.bfloat16', mark="")),
    Example(
        _HEAD
        + '    scaler = torch.amp.GradScaler("cuda")'
        + _LOOP.format(arguments='"cuda"', mark="").replace(
            "loss.backward()", "scaler.scale(loss).backward()"
        )
    ),
    Example(_HEAD + _LOOP.format(arguments='"cpu"', mark="")),
    Example("""
import torch

def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in loader:
        opt.zero_grad()
        net(x).mean().backward()
        opt.step()
        with torch.no_grad(), torch.autocast("cuda"):
            print(net(x).mean())
"""),
)

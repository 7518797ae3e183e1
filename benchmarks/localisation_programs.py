"""The 60 programs of `localisation.py`: one op turns non-finite at one step, at a known line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

POSITIONS = ("top", "helper", "nested", "function", "loop")
MODES = ("eager", "autocast", "checkpointed")


@dataclass(frozen=True)
class Op:
    """`line` computes `out` from `h`, `level` and `v`, which is 0..1 but where `edge` is set."""

    name: str
    phase: str
    line: str
    edge: str
    ops: tuple[str, ...]
    backward: str = ""  # the same fault inside a hand-written backward
    backward_ops: tuple[str, ...] = ("div",)


ZERO, LARGE = "level[2, 3] = 0.0", "level[2, 3] = 40.0"
ONE_LEFT = "level.zero_()[2, 3] = 1.0"
OPS = (
    Op("log", "forward", "out = torch.log(v)", ZERO, ("log",)),
    Op("sqrt", "forward", "out = torch.sqrt(v)", "level[2, 3] = -1.0", ("sqrt",)),
    Op("div", "forward", "out = h / v", ZERO, ("div",)),
    Op("exp", "forward", "out = torch.exp(v)", "level[2, 3] = 1000.0", ("exp",)),
    Op("pow", "forward", "out = v ** -0.5", ZERO, ("pow",)),
    Op("acos", "forward", "out = torch.acos(v / 4)", LARGE, ("acos",)),
    Op("softmax", "forward", "out = v.masked_fill(level < 0.5, -torch.inf).softmax(-1)", ZERO, ("softmax", "_softmax")),
    Op("norm", "forward", "out = torch.linalg.vector_norm(v, dim=-1)", "level[2, 3] = 1e30", ("linalg_vector_norm",)),
    Op("std", "forward", "out = v[..., :1][level > 0.5].std()", ONE_LEFT, ("std",)),
    Op("rsqrt", "forward", "out = torch.rsqrt(v)", ZERO, ("rsqrt",)),
    Op("logit", "forward", "out = torch.logit(v.clamp(max=1.0))", LARGE, ("logit",)),
    Op("log1p", "forward", "out = torch.log1p(-v.clamp(max=1.0))", LARGE, ("log1p",)),
    Op("atanh", "forward", "out = torch.atanh(v.clamp(max=1.0))", LARGE, ("atanh",)),
    Op("sqrt", "backward", "out = torch.sqrt(v)", ZERO, ("sqrt",), "grad / (2 * torch.sqrt(v))"),
    Op("pow", "backward", "out = v ** 0.3", ZERO, ("pow",), "grad * 0.3 * v ** -0.7", ("pow",)),
    Op("acos", "backward", "out = torch.acos(1 - v)", ZERO, ("acos",), "grad / torch.sqrt(1 - (1 - v) ** 2)"),
    Op("hypot", "backward", "out = torch.hypot(v, v * 0.5)", ZERO, ("hypot",), "grad * v / torch.hypot(v, v * 0.5)"),
    Op("log", "backward", "out = torch.where(v > 0, torch.log(v), 0.0)", ZERO, ("log",), "grad / v"),
    Op("div", "backward", "out = torch.where(v > 0, h / v, 0.0)", ZERO, ("div",), "grad * v / v ** 2"),
    Op("norm", "backward", "out = v.square().sum(-1).sqrt()", ZERO, ("sqrt",),
       "grad * v / v.square().sum(-1, keepdim=True).sqrt()"),
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """Its files, and what is to be found: the op at a line of a file."""

    name: str
    op: Op
    position: str
    mode: str
    step: int
    files: dict[str, str]
    file: str
    line: int
    ops: tuple[str, ...]

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            (folder / name).write_text(text)


PLAIN = """\
def measure(h, level):
    v = torch.sigmoid(h) * level
    {line}
    return out
"""
LOOP = """\
def measure(hs, levels):
    parts = []
    for h, level in zip(hs.unbind(1), levels.unbind(1)):
        v = torch.sigmoid(h) * level
        {line}
        parts.append(out)
    return torch.stack(parts)
"""
NESTED = """\
class Readout(nn.Module):
    def forward(self, h, level):
        v = torch.sigmoid(h) * level
        {line}
        return out


class Branch(nn.Module):
    def __init__(self):
        super().__init__()
        self.readout = Readout()

    def forward(self, h, level):
        return self.readout(h, level)


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.branches = nn.ModuleList([Branch()])

    def forward(self, h, level):
        return sum(branch(h, level) for branch in self.branches)


measure = Stage()
"""
FUNCTION = """\
class Measure(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h, level):
        v = torch.sigmoid(h) * level
        ctx.save_for_backward(h, v)
        {forward}
        return out

    @staticmethod
    def backward(ctx, grad):
        h, v = ctx.saved_tensors
        {backward}
        return out, None


measure = Measure.apply
"""
TRAIN = """\
import contextlib

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint
{imports}
STEPS, FAILS_AT, BATCH, TIMES, DIM = 12, {step}, 8, 6, 5


{measure}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Linear(7, 16)
        self.states = nn.Linear(16, TIMES * DIM)

    def forward(self, x):
        scores = (x @ x.T).masked_fill(torch.ones(len(x), len(x)).triu(1) > 0, float("-inf"))
        seen = torch.tanh(self.look(scores.softmax(-1) @ x + x))
        return self.states(seen).unflatten(-1, (TIMES, DIM))


def batch(step, gen):
    level = torch.ones(BATCH, TIMES, 1)
    if step == FAILS_AT:
        {edge}
    return torch.randn(BATCH, 7, generator=gen), level


def loss_of(net, x, level):
    h = net(x)
    out = {call}
    return out.float().square().mean() * 0.01 + h.float().square().mean() * 0.1


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range(STEPS):
        x, level = batch(step, gen)
        with {context}:
            loss = loss_of(net, x, level)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            share = (x > 9).sum() / (x > 9).sum()
    print(f"share of outliers {{share.item():.2f}}")
    print(f"final loss {{loss.item():.4f}}")


if __name__ == "__main__":
    main()
"""


def measure_of(op: Op, position: str) -> tuple[str, str, tuple[str, ...]]:
    """The text that defines `measure`, the line in it that fails, and the ops that fail there."""
    if position == "function" and op.phase == "backward":
        line = f"out = {op.backward}"
        return FUNCTION.format(forward="out = v.clone()", backward=line), line, op.backward_ops
    if position == "function":
        passes = "out = torch.ones_like(h) * grad.sum() / h.numel()"
        return FUNCTION.format(forward=op.line, backward=passes), op.line, op.ops
    template = {"loop": LOOP, "nested": NESTED}.get(position, PLAIN)
    return template.format(line=op.line), op.line, op.ops


def program(number: int, op: Op, position: str, mode: str) -> Program:
    step = 2 + number * 5 % 8
    text, line, ops = measure_of(op, position)
    call = "measure(h, level)"
    if mode == "checkpointed":
        call = "checkpoint(measure, h, level, use_reentrant=False)"
    context = (
        'torch.autocast("cpu", dtype=torch.bfloat16)' if mode == "autocast" else "contextlib.nullcontext()"
    )
    apart = position == "helper"
    parts = {
        "imports": "\nfrom readings import measure\n" if apart else "",
        "measure": "" if apart else text + "\n",
    }
    train = TRAIN.format(step=step, edge=op.edge, call=call, context=context, **parts)
    files = {"train.py": train} | ({"readings.py": f"import torch\n\n\n{text}"} if apart else {})
    file = "readings.py" if apart else "train.py"
    found = [n for n, t in enumerate(files[file].splitlines(), 1) if t.strip() == line]
    assert len(found) == 1, (op, position, found)
    name = f"{number:02d}-{op.name}-{op.phase}-{position}-{mode}"
    return Program(name, op, position, mode, step, files, file, found[0], ops)


def programs() -> list[Program]:
    """Every op at three positions in three modes, each pair of position and mode four times."""
    made = []
    for i, op in enumerate(OPS):
        for j in range(3):
            made.append(program(len(made), op, POSITIONS[(i + 2 * j) % 5], MODES[(i + j) % 3]))
    return made

"""Twenty functions with a backward written by hand: twelve wrong, eight right or another one on purpose.

Each is a name, the forward and the backward as bodies of ``autograd.Function``, how a network uses it, and what is said of it:
a piece of the sentence for a wrong one, None for the others. The line of the fault ends in ``# wrong``.
"""

from __future__ import annotations

from typing import NamedTuple


class Written(NamedTuple):
    """A function and its truth."""

    name: str
    inputs: str
    forward: str
    backward: str
    use: str
    form: str | None


H = "F.apply(h)"
SAVE_X = "ctx.save_for_backward(x)\n"
GET_X = "(x,) = ctx.saved_tensors\n"

WRONG = (
    Written(
        "square without its two",
        "x",
        SAVE_X + "return x * x",
        GET_X + "return g * x  # wrong",
        H,
        "0.5 times",
    ),
    Written(
        "mean without its count",
        "x",
        "ctx.shape = x.shape\nreturn x.mean(1, keepdim=True).expand_as(x).contiguous()",
        "return g.sum(1, keepdim=True).expand(ctx.shape)  # wrong",
        H,
        "8 times",
    ),
    Written(
        "sine with a sign",
        "x",
        SAVE_X + "return x.sin()",
        GET_X + "return -g * x.cos()  # wrong",
        H,
        "its sign",
    ),
    Written(
        "slope of a sigmoid with a plus",
        "x",
        "s = torch.sigmoid(x)\nctx.save_for_backward(s)\nreturn s",
        "(s,) = ctx.saved_tensors\nreturn g * s * (1 + s)  # wrong",
        H,
        "difference quotient",
    ),
    Written(
        "product with its factors swapped",
        "x, w",
        "ctx.save_for_backward(x, w)\nreturn x * w",
        "x, w = ctx.saved_tensors\nreturn g * x, g * w  # wrong",
        "F.apply(h, self.other(x))",
        "that of input",
    ),
    Written(
        "exponent with its inputs swapped",
        "x, w",
        "y = w.exp()\nctx.save_for_backward(x, y)\nreturn x * y",
        "x, y = ctx.saved_tensors\nreturn g * x * y, g * y  # wrong",
        "F.apply(h, self.other(x))",
        "that of input",
    ),
    Written(
        "mean in place of a sum over rows",
        "x, w",
        "ctx.save_for_backward(x, w)\nreturn x * w",
        "x, w = ctx.saved_tensors\nreturn g * w, (g * x).mean(0)  # wrong",
        "F.apply(h, self.scale)",
        "0.0625 times",
    ),
    Written(
        "product rule with one term",
        "x",
        SAVE_X + "return x * torch.tanh(x)",
        GET_X + "return g * torch.tanh(x)  # wrong",
        H,
        "difference quotient",
    ),
    Written(
        "unit length without the projection",
        "x",
        "n = x.norm(dim=1, keepdim=True)\nctx.save_for_backward(n)\nreturn x / n",
        "(n,) = ctx.saved_tensors\nreturn g / n  # wrong",
        H,
        "difference quotient",
    ),
    Written(
        "weight changed by its backward",
        "x, w",
        "ctx.save_for_backward(x)\nctx.w = w\nreturn x * w",
        "(x,) = ctx.saved_tensors\nother = (g * x).sum(0)\nreturn ctx.w.data.mul_(0.99).div(0.99) * g, other  # wrong",
        "F.apply(h, self.scale)",
        "changes the values",
    ),
    Written(
        "slope that cannot be derived again",
        "x",
        SAVE_X + "return x**3",
        GET_X + "return g * 3 * x.detach() ** 2  # wrong",
        "F.apply(h)  # penalty",
        "the derivative of F.backward",
    ),
    Written(
        "right for one input only",
        "x, w",
        "ctx.save_for_backward(x, w)\nreturn torch.log(1 + torch.exp(w * x)) / w",
        "x, w = ctx.saved_tensors\ns = torch.sigmoid(w * x)\nreturn g * s, (g * s * x / w).sum(0)  # wrong",
        "F.apply(h, self.scale)",
        "input 1",
    ),
)
RIGHT = (
    Written("rounded, straight through", "x", "return torch.round(x * 4) / 4", "return g", H, None),
    Written("reversed on purpose", "x", "return x.view_as(x)", "return -0.1 * g", H, None),
    Written(
        "a spike with a made-up slope",
        "x",
        SAVE_X + "return (x > 0).float()",
        GET_X + "return g / (1 + 5 * x.abs()) ** 2",
        H,
        None,
    ),
    Written(
        "swish",
        "x",
        SAVE_X + "return x * torch.sigmoid(x)",
        GET_X + "s = torch.sigmoid(x)\nreturn g * (s + x * s * (1 - s))",
        H,
        None,
    ),
    Written(
        "linear layer",
        "x, w",
        "ctx.save_for_backward(x, w)\nreturn x @ w.t()",
        "x, w = ctx.saved_tensors\nreturn g @ w, g.t() @ x",
        "F.apply(h, self.matrix)",
        None,
    ),
    Written("cut off, straight through", "x", "return x.clamp(-0.3, 0.3)", "return g", H, None),
    Written(
        "cube that is derived twice",
        "x",
        SAVE_X + "return x**3",
        GET_X + "return g * 3 * x**2",
        "F.apply(h)  # penalty",
        None,
    ),
    Written(
        "linear layer with coarse weights",
        "x, w",
        "ctx.save_for_backward(x, w)\nreturn x @ (torch.round(w * 8) / 8).t()",
        "x, w = ctx.saved_tensors\nreturn g @ w, g.t() @ x",
        "F.apply(h, self.matrix)",
        None,
    ),
)

PROGRAM = """\
import torch
from torch import nn


class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, {inputs}):
{forward}

    @staticmethod
    def backward(ctx, g):
{backward}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.other, self.last = nn.Linear(6, 8), nn.Linear(6, 8), nn.Linear(8, 1)
        self.scale = nn.Parameter(torch.linspace(0.5, 1.5, 8))
        self.matrix = nn.Parameter(torch.randn(8, 8) / 3)

    def forward(self, x):
        h = self.first(x)
        h = {use}
        return self.last(h)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
rows = torch.randn(160, 6)
wanted = (rows[:, :3].sum(1, keepdim=True)).tanh()
for epoch in range(3):
    for number in torch.randperm(10).tolist():
        x, y = rows[16 * number : 16 * number + 16], wanted[16 * number : 16 * number + 16]
{penalty}
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("final loss", loss.item())
"""
PENALTY = """\
        x = x.clone().requires_grad_()
        out = net(x)
        (slope,) = torch.autograd.grad(out.sum(), x, create_graph=True)
        loss = (out - y).square().mean() + 0.1 * slope.square().sum(1).mean()"""
PLAIN = "        loss = (net(x) - y).square().mean()"


def _indented(text: str) -> str:
    return "\n".join(" " * 8 + line for line in text.splitlines())


def programs() -> dict[str, tuple[str, Written]]:
    """Each program by the name of its function."""
    found = {}
    for one in (*WRONG, *RIGHT):
        parts = {"inputs": one.inputs, "forward": _indented(one.forward), "backward": _indented(one.backward)}
        penalty = PENALTY if "penalty" in one.use else PLAIN
        use = one.use.partition("  #")[0]
        found[one.name] = (PROGRAM.format(**parts, use=use, penalty=penalty), one)
    return found

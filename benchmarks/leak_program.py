"""A generated training that keeps something: a frame of a loop, and in it what is kept, and where."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

KEEPS = "  # keeps"

HEAD = """
import collections
import functools
import queue

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(32, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU())
        self.head = nn.Linear(256, 4)

    def forward(self, x):
        features = self.body(x)
        return self.head(features), features


def batches(n, seed=1):
    g = torch.Generator().manual_seed(seed)
    weight = torch.randn(32, 4, generator=torch.Generator().manual_seed(5))
    for _ in range(n):
        x = torch.randn(256, 32, generator=g)
        yield x, (x @ weight).argmax(1)

"""

# One step of training, then what the leak does with its values.
STEP = """
logits, features = model(x)
loss = F.cross_entropy(logits, y)
aux = features.pow(2).mean()
opt.zero_grad()
loss.backward()
opt.step()
"""

SHAPES = {
    "flat": """
def main():
    torch.manual_seed(0)
    model = Net()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    {setup}
    for step, (x, y) in enumerate(batches(60)):
        {step}
        {keep}


main()
""",
    "epochs": """
def main():
    torch.manual_seed(0)
    model = Net()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    step = 0
    {setup}
    for epoch in range(5):
        model.train()
        seen = 0
        for x, y in batches(12, epoch):
            {step}
            {keep}
            step += 1
            seen += len(x)
        print(epoch, seen, float(loss))


if __name__ == "__main__":
    main()
""",
    "function": """
def train_step(model, opt, x, y, step, {names}):
    {step}
    {keep}
    return loss.item()


def main():
    torch.manual_seed(0)
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    {setup}
    total = 0.0
    for step, (x, y) in enumerate(batches(60)):
        total += train_step(model, opt, x, y, step, {names})
    print(total / 60)


if __name__ == "__main__":
    main()
""",
    "trainer": """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=1e-3)
        {setup}

    def fit(self, steps):
        step = 0
        source = batches(steps)
        while step < steps:
            x, y = next(source)
            self.train_step(x, y, step)
            step += 1

    def train_step(self, x, y, step):
        model, opt = self.model, self.opt
        {step}
        {keep}


torch.manual_seed(0)
trainer = Trainer(Net())
trainer.fit(60)
""",
}


@dataclass(frozen=True)
class Program:
    """``name`` is the variable that holds what grows, None in a look-alike; ``above`` stands before the training."""

    label: str
    kind: str
    shape: str
    keep: str
    setup: str = "pass"
    above: str = ""
    name: str | None = None
    depth: int = 0
    names: str = "unused=None"

    def text(self) -> tuple[str, list[int]]:
        """The program, and the numbers of the lines that may be called the one to fix."""
        frame = SHAPES[self.shape]
        for part in ("setup", "step", "keep"):
            frame = _filled(frame, "{" + part + "}", {"step": STEP}.get(part) or getattr(self, part))
        frame = frame.replace("{names}", self.names)
        whole = HEAD + textwrap.dedent(self.above) + "\n" + frame
        lines = whole.split("\n")
        return "\n".join(x.removesuffix(KEEPS) for x in lines), [
            i for i, x in enumerate(lines, 1) if x.endswith(KEEPS)
        ]


def _filled(frame: str, mark: str, text: str) -> str:
    lines = []
    for line in frame.split("\n"):
        if line.strip() == mark:
            indent = line[: -len(mark)]
            lines += [indent + x if x else x for x in textwrap.dedent(text).strip("\n").split("\n")]
        else:
            lines.append(line)
    return "\n".join(lines)

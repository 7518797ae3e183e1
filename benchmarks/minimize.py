"""Minimizes 100 random module graphs with one fault each: is the failure kept, and how do lines go with the graph's size?

    benchmarks/minimize.py [--graphs N] [--seconds S] [--out FILE]

What FILE holds already is not measured again.

Needs torch and firstcause importable. Graph K is made from seed K alone: 5 to 60 layers, each of which takes one or two of
the earlier results, and one fault of ten kinds at a random place. A script counts as kept when it ends, in a Python of its
own in an empty folder, with the same exception and message but for its numbers, or with its assertion of finite values.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

from firstcause.minimize.made_small import BUDGET
from firstcause.minimize.reproduce import tried_alone
from firstcause.minimize.tape import Tape

WIDTH = 16


class Layer(nn.Module):
    """One of eight kinds, of one or two inputs of shape (batch, time, width)."""

    def __init__(self, kind: int) -> None:
        super().__init__()
        self.kind = kind
        self.one, self.two = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.norm, self.conv = nn.LayerNorm(WIDTH), nn.Conv1d(WIDTH, WIDTH, 3, padding=1)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if self.kind == 0:
            return self.one(x).relu() + y
        if self.kind == 1:
            return self.norm(x + y)
        if self.kind == 2:
            return torch.tanh(self.one(x)) * torch.sigmoid(self.two(y))
        if self.kind == 3:
            return self.conv(x.transpose(1, 2)).transpose(1, 2)
        if self.kind == 4:
            return torch.softmax(self.one(x) @ self.two(y).transpose(1, 2), dim=-1) @ y
        if self.kind == 5:
            return F.gelu(self.one(torch.cat([x, y], dim=-1)[..., :WIDTH]))
        if self.kind == 6:
            return x + F.dropout(self.two(y), 0.1)
        return F.silu(self.one(x)).clamp(-3, 3)


def fault(kind: int, x: torch.Tensor) -> torch.Tensor:
    """What is wrong at one place of the graph."""
    if kind == 0:
        return F.linear(x, torch.randn(WIDTH, WIDTH + 3))
    if kind == 1:
        return x @ torch.randn(WIDTH, WIDTH, dtype=torch.float64)
    if kind == 2:
        return torch.log((x * 0).abs()) + x
    if kind == 3:
        return x / (x - x)
    if kind == 4:
        return F.embedding(torch.full(x.shape[:2], 9), torch.randn(9, WIDTH)) + x
    if kind == 5:
        return torch.exp(x.abs() * 1000 + 100)
    if kind == 6:
        return x.masked_fill(torch.ones_like(x, dtype=torch.bool), float("-inf")).softmax(-1)
    if kind == 7:
        return ((x - x.detach()) ** 2).sum(-1, keepdim=True).sqrt() + x
    if kind == 8:
        y = torch.sigmoid(x)
        return y.mul_(2)
    return x.reshape(x.shape[0], -1, WIDTH + 1)


def step(number: int) -> tuple[int, int, Tape, BaseException | None, list[nn.Parameter]]:
    """Layers, kind of fault, tape and exception of one step of graph ``number``."""
    choose = random.Random(number)
    torch.manual_seed(number)
    size, kind = choose.randint(5, 60), number % 10
    layers = nn.ModuleList(Layer(choose.randrange(8)) for _ in range(size))
    place = choose.randrange(size)
    tape, error = Tape(), None
    x = torch.randn(4, 6, WIDTH)
    try:
        with tape:
            made = [x, x]
            for n, layer in enumerate(layers):
                made.append(layer(made[-1], choose.choice(made)))
                if n == place:
                    made[-1] = fault(kind, made[-1])
            made[-1].pow(2).mean().backward()
    except Exception as raised:  # noqa: BLE001
        error = raised
    return size, kind, tape, error, list(layers.parameters())


def measure(number: int) -> dict:
    size, kind, tape, error, parameters = step(number)
    start = time.monotonic()
    facts = tape.facts(parameters, error)
    row = {"graph": number, "layers": size, "fault": kind, "calls": facts.get("calls"), "kept": False}
    row["seconds"] = round(time.monotonic() - start, 1)
    if not facts.get("scripts"):
        return row | {"why": facts.get("why")}
    script = "\n".join(facts["scripts"][0]) + "\n"
    ends, kept = tried_alone(script, facts["failure"])
    lines = [line for line in script.splitlines() if line.strip()]
    return row | {"kept": kept, "lines": len(lines), "ends": ends[:100]}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30, help="for each graph")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    os.environ[BUDGET] = str(args.seconds)
    # A matrix that was stopped goes on where it was.
    rows: list[dict] = json.loads(args.out.read_text())["rows"] if args.out and args.out.exists() else []
    for number in range(len(rows), args.graphs):
        rows.append(measure(number))
        print(json.dumps(rows[-1]), flush=True)
        if args.out:
            args.out.write_text(json.dumps({"summary": summed(rows), "rows": rows}, indent=1) + "\n")
    print(json.dumps(summed(rows)))
    return 0 if all(row["kept"] for row in rows) else 1


def summed(rows: list[dict]) -> dict:
    kept = [row for row in rows if row["kept"]]
    lines = [row["lines"] for row in kept]
    found: dict = {
        "graphs": len(rows),
        "kept": len(kept),
        "median_lines": statistics.median(lines) if lines else None,
    }
    for low, high in ((5, 20), (21, 40), (41, 60)):
        some = [row["lines"] for row in kept if low <= row["layers"] <= high]
        found[f"lines_at_{low}_to_{high}_layers"] = (
            [min(some), statistics.median(some), max(some)] if some else []
        )
    return found


if __name__ == "__main__":
    raise SystemExit(main())

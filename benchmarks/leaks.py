"""Who holds what grows: 24 generated leaks and 12 programs that only look like leaks, through the command line.

    python benchmarks/leaks.py [--only NAME] [--json FILE] [--write FOLDER]

A leak is a kind (graph, outputs, tensors, host objects, hooks, exceptions, state) in a holder (a list, a dict by step, a
closure, an lru_cache, a generator's frame ...) at some depth below a name of the program, in a loop of some shape. It is found
if ``firstcause run --memory`` names the variable that holds it; the line is counted beside that. In a look-alike
nothing may be established.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


TRACKER = """
class Tracker:
    def __init__(self):
        self.history = collections.defaultdict(list)

    def update(self, **values):
        for key, value in values.items():
            self.history[key].append(value)  # keeps


class Callbacks:
    def __init__(self, *members):
        self.members = list(members)

    def after(self, **values):
        for member in self.members:
            member.update(**values)
"""

LEAKS = [
    Program("list-local", "graph", "flat", "curve.append(aux)  # keeps", "curve = []", name="curve", depth=1),
    Program(
        "running-total",
        "graph",
        "epochs",
        "running += aux  # keeps",
        "running = 0.0",
        name="running",
        depth=1,
    ),
    Program(
        "dict-by-step",
        "outputs",
        "flat",
        "OUTPUTS[step] = features  # keeps",
        above="OUTPUTS = {}",
        name="OUTPUTS",
        depth=1,
    ),
    Program(
        "tracker",
        "graph",
        "trainer",
        "self.tracker.update(aux=aux, loss=loss)",
        "self.tracker = Tracker()",
        TRACKER,
        "history",
        4,
    ),
    Program(
        "callback-chain",
        "outputs",
        "function",
        "callbacks.after(features=features)",
        "callbacks = Callbacks(Tracker())",
        TRACKER,
        "history",
        5,
        "callbacks",
    ),
    Program(
        "attribute-list",
        "tensors",
        "trainer",
        "self.feature_bank.append(features.detach())  # keeps",
        "self.feature_bank = []",
        name="feature_bank",
        depth=2,
    ),
    Program(
        "deque-unbounded",
        "tensors",
        "epochs",
        "recent.append((step, features.detach()))  # keeps",
        "recent = collections.deque()",
        name="recent",
        depth=2,
    ),
    Program(
        "cache-on-module",
        "tensors",
        "flat",
        "model.remember(features)",
        above="""
        class Net(Net):
            def __init__(self):
                super().__init__()
                self.seen = {}
                self.calls = 0

            def remember(self, h):
                self.calls += 1
                self.seen[f"call{self.calls}"] = h.detach().clone()  # keeps
        """,
        name="seen",
        depth=2,
    ),
    Program(
        "closure",
        "outputs",
        "function",
        "keep(features)",
        "keep = make_keeper()",
        """
        def make_keeper():
            kept = []

            def keep(value):
                kept.append(value)  # keeps
                return len(kept)

            return keep
        """,
        "kept",
        2,
        "keep",
    ),
    Program(
        "class-attribute",
        "tensors",
        "trainer",
        "Meter.record(features.detach())",
        above="""
        class Meter:
            values = []

            @classmethod
            def record(cls, value):
                cls.values.append(value)  # keeps
        """,
        name="values",
        depth=2,
    ),
    Program(
        "lru-cache",
        "tensors",
        "flat",
        "positions(step)",
        above="""
        @functools.lru_cache(maxsize=None)  # keeps
        def positions(step):
            return torch.arange(65536, dtype=torch.float32) * step
        """,
        name="positions",
        depth=2,
    ),
    Program(
        "lru-cache-sized",
        "tensors",
        "epochs",
        "mask_for(step)",
        above="""
        @functools.lru_cache(maxsize=100_000)  # keeps
        def mask_for(step):
            return torch.ones(256, 256).tril(step)
        """,
        name="mask_for",
        depth=2,
    ),
    Program(
        "generator-frame",
        "tensors",
        "function",
        "sink.send(features.detach())",
        "sink = collect()\nnext(sink)",
        """
        def collect():
            gathered = []
            while True:
                value = yield
                gathered.append(value)  # keeps
        """,
        "gathered",
        2,
        "sink",
    ),
    Program(
        "default-argument",
        "outputs",
        "flat",
        "remember(features)",
        above="""
        def remember(value, store=[]):
            store.append(value)  # keeps
            return store[-1]
        """,
        name="store",
        depth=2,
    ),
    Program(
        "slots",
        "tensors",
        "epochs",
        "book.pages.append(features.detach())  # keeps",
        "book = Book()",
        """
        class Book:
            __slots__ = ("pages",)

            def __init__(self):
                self.pages = []
        """,
        "pages",
        2,
    ),
    Program(
        "exceptions",
        "exceptions",
        "trainer",
        """
        try:
            check(features)
        except ValueError as error:
            self.problems.append(error)  # keeps
        """,
        "self.problems = []",
        """
        def check(features):
            doubled = features * 2
            if doubled.mean() > -1e9:
                raise ValueError("mean too large")
        """,
        "problems",
        3,
    ),
    Program(
        "exceptions-in-dict",
        "exceptions",
        "function",
        """
        try:
            validate(features.detach().clone())
        except RuntimeError as problem:
            failures[step] = problem  # keeps
        """,
        "failures = {}",
        """
        def validate(features):
            scaled = features * 3
            raise RuntimeError(f"range {float(scaled.max()):.1f}")
        """,
        "failures",
        2,
        "failures",
    ),
    Program(
        "state-average",
        "state",
        "trainer",
        "self.mean = 0.9 * self.mean + 0.1 * features.mean(0)  # keeps",
        "self.mean = torch.zeros(256)",
        name="mean",
        depth=1,
    ),
    Program(
        "state-local",
        "state",
        "flat",
        "memory = torch.tanh(features + 0.5 * memory)  # keeps",
        "memory = torch.zeros(256, 256)",
        name="memory",
        depth=1,
    ),
    Program(
        "numpy-list",
        "host",
        "epochs",
        "snapshots.append(features.detach().numpy().copy())  # keeps",
        "snapshots = []",
        name="snapshots",
        depth=1,
    ),
    Program(
        "numpy-dict-attribute",
        "host",
        "trainer",
        "self.archive[step] = features.detach().numpy().copy()  # keeps",
        "self.archive = {}",
        name="archive",
        depth=2,
    ),
    Program(
        "bytes-queue",
        "host",
        "function",
        "jobs.put(features.detach().numpy().tobytes())  # keeps",
        "jobs = queue.Queue()",
        name="jobs",
        depth=2,
        names="jobs",
    ),
    Program(
        "hooks",
        "hooks",
        "epochs",
        """
        if step % 3 == 0:
            model.body[0].register_forward_hook(lambda m, i, o: spectra.append(o.detach()))  # keeps
        """,
        "spectra = []",
        name="spectra",
        depth=1,
    ),
    Program(
        "linked-nodes",
        "tensors",
        "function",
        "chain.push(features.detach())",
        "chain = Chain()",
        """
        class Node:
            def __init__(self, value, before):
                self.value = value
                self.before = before


        class Chain:
            def __init__(self):
                self.last = None

            def push(self, value):
                self.last = Node(value, self.last)  # keeps
        """,
        "last",
        3,
        "chain",
    ),
]

LOOKALIKES = [
    Program(
        "bounded-deque",
        "tensors",
        "flat",
        "recent.append(features.detach())",
        "recent = collections.deque(maxlen=8)",
    ),
    Program(
        "replay-fills-up",
        "tensors",
        "trainer",
        """
        if len(self.replay) == 20:
            self.replay.pop(0)
        self.replay.append(features.detach())
        """,
        "self.replay = []",
    ),
    Program(
        "cache-saturates",
        "tensors",
        "epochs",
        """
        key = step % 12
        if key not in cache:
            cache[key] = features.detach()
        """,
        "cache = {}",
    ),
    Program("floats", "host", "function", "history.append(loss.item())", "history = []", names="history"),
    Program("detached-losses", "tensors", "flat", "losses.append(loss.detach())", "losses = []"),
    Program(
        "warm-up",
        "tensors",
        "flat",
        """
        if step < 10:
            calibration.append(features.detach())
        """,
        "calibration = []",
    ),
    Program(
        "epoch-buffer",
        "outputs",
        "epochs",
        """
        window.append(features)
        if len(window) == 12:
            print(len(torch.cat(window)))
            window.clear()
        """,
        "window = []",
    ),
    Program(
        "average-of-weights",
        "tensors",
        "trainer",
        """
        with torch.no_grad():
            for kept, p in zip(self.average, model.parameters()):
                kept.lerp_(p, 0.01)
        """,
        "self.average = [p.detach().clone() for p in model.parameters()]",
    ),
    Program(
        "hooks-removed",
        "hooks",
        "epochs",
        """
        handle = model.body[0].register_forward_hook(lambda m, i, o: None)
        model(x)
        handle.remove()
        """,
    ),
    Program(
        "exceptions-as-text",
        "exceptions",
        "function",
        """
        try:
            raise ValueError(f"mean {float(features.mean()):.3f}")
        except ValueError as error:
            problems.append(str(error))
        """,
        "problems = []",
        names="problems",
    ),
    Program(
        "lru-bounded",
        "tensors",
        "flat",
        "table(step % 30)",
        above="""
        @functools.lru_cache(maxsize=16)
        def table(step):
            return torch.arange(65536, dtype=torch.float32) * step
        """,
    ),
    Program(
        "state-detached",
        "state",
        "trainer",
        "self.mean = (0.9 * self.mean + 0.1 * features.mean(0)).detach()",
        "self.mean = torch.zeros(256)",
    ),
]


def measure(program: Program) -> dict[str, Any]:
    text, lines = program.text()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(text)
        began = time.monotonic()
        command = [
            sys.executable,
            "-m",
            "firstcause",
            "run",
            "-q",
            "--memory",
            "--json",
            "run.json",
            "python",
            "train.py",
        ]
        ended = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
        seen = json.loads(Path(folder, "run.json").read_text()).get("memory") or {}
    diagnosis = seen.get("diagnosis") or {}
    site = diagnosis.get("site") or {}
    found = {
        "kind": program.kind,
        "shape": program.shape,
        "depth": program.depth,
        "exit": ended.returncode,
        "status": diagnosis.get("status"),
        "cause": diagnosis.get("cause"),
        "held_by": seen.get("held_by"),
        "line": site.get("line"),
        "seconds": round(time.monotonic() - began, 1),
    }
    if program.name is None:
        return found | {"right": diagnosis.get("status") != "established"}
    right = seen.get("name") == program.name and diagnosis.get("status") == "established"
    return found | {
        "right": right,
        "line_right": any(abs((site.get("line") or -99) - x) <= 1 for x in lines),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="measure what has this text in its name")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--write", metavar="FOLDER", help="write the programs there and measure nothing")
    options = parser.parse_args()
    chosen = [p for p in (*LEAKS, *LOOKALIKES) if options.only in p.label]
    if options.write:
        for program in chosen:
            Path(options.write, program.label + ".py").write_text(program.text()[0])
        return
    result = {}
    for program in chosen:
        result[program.label] = measure(program)
        print(f"{program.label:22s} {json.dumps(result[program.label])}", flush=True)
    leaks = [r for r in result.values() if "line_right" in r]
    clean = [r for r in result.values() if "line_right" not in r]
    summary = {
        "leaks": len(leaks),
        "holder_named": sum(r["right"] for r in leaks),
        "line_right": sum(r["line_right"] for r in leaks),
        "look_alikes": len(clean),
        "invented": sum(not r["right"] for r in clean),
    }
    print(json.dumps(summary))
    if options.json:
        Path(options.json).write_text(json.dumps({"summary": summary, "programs": result}, indent=1) + "\n")


if __name__ == "__main__":
    main()

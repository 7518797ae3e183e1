"""The commands that the documents show, and a project in which all of them can be run."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
DOCUMENTS += [*sorted((ROOT / "docs" / "guides").glob("*.md")), ROOT / "benchmarks" / "README.md"]
# What a reader puts into a command, and what the project has in its place.
READ_AS = {
    "RUN RUN": "last 0-healthy",
    "runs rm RUN…": "runs rm 0-healthy",
    "--pid 4711": "--pid $ASLEEP",
    "--step N": "--step 9",
    "-o FILE": "-o packed.zip",
    "RUN": "last",
    "CASE": "$CASE",
    "20261128-093012": "$CASE",
    "python …": "python train.py",
    # Nine other steps are told apart as sixty are.
    "--against 60": "--against 9",
}
TRAIN = '''\
"""A small regression whose loss takes the logarithm of zero at step 9."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 1)

    def forward(self, x):
        return self.second(torch.tanh(self.first(x)))


def make(seed):
    torch.manual_seed(seed)
    return Net()


net = make(0)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def batch(step):
    x = torch.randn(4, 8)
    return x * (step != 9)


def penalty(x):
    return torch.log(x.abs()).mean()


def fit(steps):
    for step in range(steps):
        x = batch(step)
        hidden = net(x)
        loss = hidden.pow(2).mean() + 0.01 * penalty(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss


print("val_acc 0.4", "final loss", fit(20).item())
'''
LOG = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nRuntimeError: CUDA error: device-side assert triggered\n'
DIFF = "--- a/train.py\n+++ b/train.py\n@@ -31,2 +31,2 @@\n def penalty(x):\n-    return torch.log(x.abs()).mean()\n+    return torch.nan_to_num(torch.log(x.abs())).mean()\n"
ENTRY = {"process_group": ["0", "x"], "collective_seq_id": 7, "profiling_name": "nccl:all_reduce", "state": "started", "input_sizes": [[8]], "frames": []}  # fmt: skip
DUMP = {"version": "2.4", "pg_status": {"0": {"last_completed_collective": 6}}, "entries": [ENTRY]}
STATE = {"log_history": [{"step": n, "loss": 1 / n, "learning_rate": 1e-3} for n in range(1, 9)]}
EVENTS = {"traceEvents": [{"ph": "X", "name": "aten::mm", "cat": "cpu_op", "ts": 0, "dur": 5}]}
SEGMENTS = {"segments": [{"total_size": 1 << 21, "blocks": [{"size": 1 << 20, "state": "inactive"}]}]}


def shown(document: Path) -> list[str]:
    """The lines of a document's code that begin a command, without what is said about them."""
    found, inside = [], False
    for line in document.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            inside = not inside
            continue
        command = re.match(r"(?:    |)(?:\$ )?((?:firstcause|python) .*)", line)
        # A drawing is no command, nor is a line that firstcause prints.
        drawn = re.search(r"firstcause: |▼|for batch in", line)
        if command and not drawn and (inside or line.startswith("    ")):
            found.append(_bare(command[1]))
    return found


def commands() -> list[str]:
    """Each command once, as it can be run in the project."""
    lines = [line for document in DOCUMENTS for line in shown(document) if line.startswith("firstcause ")]
    return list(dict.fromkeys(map(_filled, lines)))


def mentioned() -> list[str]:
    """What stands in running text as a command, with whatever it leaves to the reader."""
    found = [re.findall(r"`(firstcause [a-z][^`]*)`", d.read_text(encoding="utf-8")) for d in DOCUMENTS]
    return sorted({" ".join(one.split()) for several in found for one in several})


def _bare(command: str) -> str:
    return re.split(r"\s+#\s|\s{3,}", command)[0].strip()


def _filled(command: str) -> str:
    # A synopsis: the first of several, and whatever may be left out.
    command = re.sub(r"\[([^\]|]*?)\s*\|[^\]]*\]", r"\1", command)
    command = re.sub(r"\[(-[^\]]*)\]", r"\1", command)
    for said, meant in READ_AS.items():
        command = re.sub(rf"(?<![\w-]){re.escape(said)}(?!\w)", meant.replace("\\", r"\\"), command)
    return command


def write_project(folder: Path) -> None:
    """The files of the project, before anything is recorded."""
    (folder / "train.py").write_text(TRAIN)
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": TRAIN}]
    (folder / "train.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    (folder / "error.log").write_text(LOG)
    (folder / "task.md").write_text("Train with SGD at a learning rate of 0.01 for 20 steps.\n")
    (folder / "fix.diff").write_text(DIFF)
    (folder / "trace.json").write_text(json.dumps(EVENTS))
    (folder / "memory.pickle").write_bytes(pickle.dumps(SEGMENTS, protocol=2))
    for rank in (0, 1):
        (folder / f"nccl_trace_rank_{rank}").write_text(json.dumps(DUMP))
    (folder / "healthy.py").write_text("print(1)\n")
    (folder / "outputs" / "checkpoint-500").mkdir(parents=True)
    (folder / "outputs" / "checkpoint-500" / "trainer_state.json").write_text(json.dumps(STATE))

"""What whole files look like before they are damaged, and the project that they stand in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from case.samples import PROGRAM

from firstcause.record.folder import RunFolder
from firstcause.view.project import Project
from firstcause.view.reporting import report

RUN = ".firstcause/runs/r1"
FAILS = b"""
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(20):
    x = torch.randn(4, 8)
    loss = net(x).pow(2).mean() + 0.01 * torch.log((x * (step != 9)).abs()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CONFIGURED = b"""
import json, sys, yaml, torch

cfg = yaml.safe_load(open("config.yaml"))
more = json.load(open("ds.json"))
net = torch.nn.Linear(cfg["model"]["hidden"], 4)
optimizer = torch.optim.AdamW(net.parameters(), lr=cfg["optim"]["lr"], weight_decay=more["decay"])
for epoch in range(cfg["epochs"]):
    loss = net(torch.randn(cfg["batch"], cfg["model"]["hidden"])).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CONFIG = b"epochs: 3\nbatch: 8\noptim:\n  lr: 1e-3  # quoted by nobody\n  betas: [0.9, 0.99]\nmodel: &m {hidden: 16}\nother:\n  <<: *m\ntext: |\n  a\n  b\n"
LOG = b"""2025-01-01 00:00:00 step 3 loss 0.31
[rank1]: Traceback (most recent call last):
[rank1]:   File "/home/a/train.py", line 31, in fit
[rank1]:     loss = criterion(net(x), y)
[rank1]: RuntimeError: CUDA error: device-side assert triggered
../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0` failed.

During handling of the above exception, another exception occurred:
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB
"""
ASKED = b"my loss is nan after 3 epochs, lr is 1e-3, I use fp16 and I think that it is the batch norm. What can I do?\n"
BRIEF = b"Fine-tune llama on ./data with LoRA rank 8, lr 2e-4, batch size 4, 3 epochs, save every 500 steps, no wandb.\nuser: make it 5 epochs\nassistant: done\n"
SHELL = b"#!/bin/bash\nset -e\nexport LR=${LR:-1e-3}\nfor s in 1 2; do\n  torchrun --nproc_per_node 2 train.py --lr $LR \\\n    --seed $s > out-$s.log 2>&1\ndone\ncat <<EOF\nx\nEOF\n"
DIFF = b"--- a/train.py\n+++ b/train.py\n@@ -4,3 +4,3 @@\n def loss(logits, target):\n-    p = torch.sigmoid(logits).clamp(1e-8, 1 - 1e-8)\n+    p = torch.nan_to_num(torch.sigmoid(logits))\n     return -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()\n"
ENTRY = {
    "process_group": ["0", "default_pg"],
    "collective_seq_id": 7,
    "profiling_name": "nccl:all_reduce",
    "state": "started",
    "input_sizes": [[8]],
    "frames": [{"filename": "fit.py", "line": 31}],
}
DUMP = {
    "version": "2.4",
    "nccl_version": "2.21.5",
    "pg_status": {"0": {"last_enqueued_collective": 9, "last_completed_collective": 6}},
    "entries": [ENTRY, ENTRY | {"collective_seq_id": 8, "state": "scheduled"}],
}
TRACE = {
    "traceEvents": [
        {"ph": "X", "name": name, "cat": cat, "ts": at, "dur": 90, "args": {"stream": 7}}
        for at, (name, cat) in enumerate(
            [("aten::mm", "cpu_op"), ("gemm", "kernel"), ("ProfilerStep#1", "user_annotation")]
        )
    ]
}
MEMORY = {
    "segments": [{"total_size": 1 << 21, "blocks": [{"size": 1 << 20, "state": "inactive"}]}],
    "device_traces": [[]],
}
CELLS = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1, "source": PROGRAM.splitlines(keepends=True)},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": "%pip install x\n!ls\nx?"},
    ],
    "metadata": {"kernelspec": {"language": "python"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}  # fmt: skip
ERROR_FILE = {"message": {"message": "x", "extraInfo": {"py_callstack": LOG.decode(), "timestamp": "3"}}}
SETTINGS = b"""
[tool.firstcause]
keep-runs = 3
[tool.firstcause.check]
ignore = ["a"]
[project]
name = "x"
dependencies = ["torch>=2"]
"""
REQUIRED = b"torch>=2.4,<3\n-r other.txt\nnumpy ; python_version < '3.11'\n"
CALL = {
    "tool_name": "Edit",
    "cwd": ".",
    "tool_input": {"file_path": "train.py", "command": "sed -i s/a/b/ train.py"},
}


def make_project(folder: Path) -> None:
    """A project with a run of a failing program, its case, and a report of both."""
    (folder / "train.py").write_bytes(FAILS)
    for words in (["run", "-q", "-o", RUN, "python", "train.py"], ["diagnose", RUN, "-q"]):
        subprocess.run(
            [sys.executable, "-m", "firstcause", *words],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=120,
        )
    page = report(Project(str(folder)), RunFolder(str(folder / RUN)))
    (folder / "report.html").write_text(page, encoding="utf-8")

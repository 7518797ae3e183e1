"""An error of the device that a program hears of too late is looked for with each launch waited for.

Without a card the error is one that is raised late, or at once where launches are waited for, as CUDA's are.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ADVICE = "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."
PROGRAM = f"""
import os
import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=1)
MESSAGE = "CUDA error: an illegal memory access was encountered\\n{ADVICE}"


def launch(step):
    if step == 5 and os.environ.get("CUDA_LAUNCH_BLOCKING") == "1":
        raise RuntimeError(MESSAGE)


def hear(step):
    if step == 5:
        raise torch.AcceleratorError(MESSAGE) if hasattr(torch, "AcceleratorError") else RuntimeError(MESSAGE)


model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(8):
    loss = model(torch.randn(8, 4)).square().mean()
    launch(step)
    optimizer.zero_grad()
    loss.backward()
    hear(step)
    optimizer.step()
"""


def test_the_line_that_launched_what_failed_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    first = (sys.executable, "-m", "firstcause")
    subprocess.run(
        [*first, "run", "-q", "-o", "run", sys.executable, "train.py"], cwd=tmp_path, capture_output=True
    )
    done = subprocess.run(
        [*first, "diagnose", "run", "--yes", "--json", "said.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    said = json.loads((tmp_path / "said.json").read_text())
    line = next(i for i, x in enumerate(PROGRAM.splitlines(), 1) if "raise RuntimeError(MESSAGE)" in x)
    assert said["status"] == "not-established", done.stdout
    # The replay is of the device that was recorded: what the advice says of assertions is no assertion.
    assert f"comes from the launch at train.py:{line}" in said["missing"], done.stdout + done.stderr

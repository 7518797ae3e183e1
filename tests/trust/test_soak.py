"""A million recorded steps: the memory of the recorded process stays flat, and the record can be read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

STEPS = int(os.environ.get("SOAK_STEPS", "1000000"))
# What an allocator may keep for itself between two looks.
GROWTH = 4 << 20
TRAIN = """
import sys
import torch

torch.manual_seed(0)
weight = torch.zeros(4, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1e-3)
given = torch.randn(64, 4)
steps = int(sys.argv[1])


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


with open("resident", "w") as looks:
    for step in range(steps):
        loss = (weight - given[step % 64]).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % (steps // 20) == 0:
            print(step + 1, resident(), file=looks, flush=True)
"""


@pytest.mark.slow
def test_memory_is_flat(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    firstcause = [sys.executable, "-m", "firstcause"]
    words = ["run", "-q", "-o", "run", "--json", "run.json", "python", "train.py", str(STEPS)]
    subprocess.run(
        [*firstcause, *words], cwd=tmp_path, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=True
    )
    looks = [tuple(map(int, line.split())) for line in (tmp_path / "resident").read_text().splitlines()]
    assert len(looks) == 20
    assert looks[-1][1] - looks[0][1] < GROWTH, looks
    shown = subprocess.run(
        [*firstcause, "diagnose", "run", "--json", "-", "-q"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(shown.stdout)["status"] == "healthy"
    sys.stderr.write(
        f"resident after {looks[0][0]} and {looks[-1][0]} steps: {looks[0][1] / 2**20:.1f} and {looks[-1][1] / 2**20:.1f} MiB\n"
    )

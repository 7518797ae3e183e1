"""What watching costs a call of a model: microseconds a call, plain and recorded, in processes of their own."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """
import time
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 8)).eval().to(device)
x = torch.randn(4, 64, device=device)
wait = torch.cuda.synchronize if device == "cuda" else lambda: None
@torch.inference_mode()
def answer(x):
    return model(x)
def block(calls=3000):
    wait()
    began = time.perf_counter()
    for _ in range(calls):
        answer(x)
    wait()
    return (time.perf_counter() - began) / calls * 1e6
block()
print(min(block() for _ in range(5)))
"""
PAIRS = 5


def main() -> None:
    """Print the median of both, of ``PAIRS`` pairs."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    figures: dict[str, list[float]] = {"plain": [], "recorded": []}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "serve.py").write_text(PROGRAM)
        plain = [sys.executable, "serve.py"]
        commands = {"plain": plain, "recorded": [sys.executable, "-m", "firstcause", "run", "-q", *plain]}
        for _ in range(PAIRS):
            for name, command in commands.items():
                done = subprocess.run(
                    command, cwd=folder, env=environment, capture_output=True, text=True, check=True
                )
                figures[name].append(float(done.stdout))
    for name, values in figures.items():
        print(f"{name:9} {statistics.median(values):6.1f} us a call (of {PAIRS} runs)")


if __name__ == "__main__":
    main()

"""What those cost that look closer: ``run --memory`` beside memray and tracemalloc, ``profile`` beside torch.profiler.

    python benchmarks/observers.py [--pairs 7] [--only TEXT] [--json FILE]

The program is a small GPT whose steps keep the last losses; each observer's run is paired with a plain one next to it,
in an order that alternates. ``loop`` is the processor time of the program's own loop from the fifth step on, ``peak``
the largest resident set of its process, ``whole`` the wall time of the command: that of ours holds the sealed runs
afterwards, in which the questions are asked. Medians of the pairs' ratios with a 95 % bootstrap interval.
memray is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from overhead import ratio

PROGRAM = """
import contextlib
import json
import os
import resource
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
tokens, head = nn.Embedding(512, 128), nn.Linear(128, 512)
layers = [nn.TransformerEncoderLayer(128, 4, 512, batch_first=True) for _ in range(4)]
model = nn.Sequential(tokens, *layers, head)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
data = torch.randint(0, 512, (1024, 65), generator=torch.Generator().manual_seed(1))
losses = []
watched = contextlib.nullcontext()
if "torch.profiler" in sys.argv:
    watched = torch.profiler.profile()
if "tracemalloc" in sys.argv:
    import tracemalloc

    tracemalloc.start()
with watched:
    for step in range(60):
        if step == 5:
            began = time.process_time()
        batch = data[torch.randint(0, len(data), (8,))]
        loss = F.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses = [*losses[-9:], loss.item()]
spent = time.process_time() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with contextlib.suppress(OSError):
    descriptor = os.open(os.environ["FIGURES"], os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(descriptor, json.dumps([spent, peak]).encode())
    os.close(descriptor)
"""
PLAIN = [sys.executable, "train.py"]
OURS = [sys.executable, "-m", "firstcause"]
OBSERVERS = {
    "run": [*OURS, "run", "-q", *PLAIN],
    "run --memory": [*OURS, "run", "-q", "--memory", *PLAIN],
    "memray": [sys.executable, "-m", "memray", "run", "-q", "-o", "memray.bin", "train.py"],
    "memray, Python's allocator traced": [
        sys.executable,
        "-m",
        "memray",
        "run",
        "-q",
        "--trace-python-allocators",
        "-o",
        "memray.bin",
        "train.py",
    ],
    "tracemalloc": [*PLAIN, "tracemalloc"],
    "profile": [*OURS, "profile", "-q", *PLAIN],
    "torch.profiler": [*PLAIN, "torch.profiler"],
}
KINDS = ("loop", "peak", "whole")


def measure(command: list[str]) -> tuple[float, float, float]:
    """Processor seconds of the loop, KiB at the peak of its first process, and wall seconds of the command."""
    with tempfile.TemporaryDirectory() as folder:
        work, figures = Path(folder, "work"), Path(folder, "figures.json")
        work.mkdir()
        (work / "train.py").write_text(PROGRAM)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "FIGURES": str(figures)}
        began = time.perf_counter()
        subprocess.run(command, cwd=work, env=environment, check=True, capture_output=True)
        whole = time.perf_counter() - began
        spent, peak = json.loads(figures.read_text())
        return spent, peak, whole


def paired(name: str, command: list[str], pairs: int) -> dict[str, object]:
    """The ratios of one observer, printed as soon as they are there."""
    both = []
    for number in range(pairs):
        order = [command, PLAIN] if number % 2 == 0 else [PLAIN, command]
        first, second = map(measure, order)
        both.append((first, second) if number % 2 == 0 else (second, first))
    told: dict[str, object] = {"pairs": pairs}
    for place, kind in enumerate(KINDS):
        told[kind] = ratio([[ours[place], plain[place]] for ours, plain in both])
    told["seconds"] = sorted(ours[2] for ours, _ in both)[pairs // 2]
    shown = "  ".join("{} {:.3f} [{:.3f}, {:.3f}]".format(kind, *told[kind]) for kind in KINDS)
    print(f"{name:34s} {shown}  {told['seconds']:.1f} s", flush=True)
    return told


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--only", default="", help="observers whose name holds this text")
    parser.add_argument("--json", metavar="FILE", type=Path)
    options = parser.parse_args()
    found = {}
    for name, command in OBSERVERS.items():
        if options.only not in name or ("memray" in name and importlib.util.find_spec("memray") is None):
            continue
        found[name] = paired(name, command, options.pairs)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

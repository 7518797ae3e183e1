"""What observing costs: CPU time in paired blocks of one process, and peak memory in two.

    python benchmarks/overhead.py [--blocks 30] [--turns 1] [--steps 8] [--only TEXT] [--json FILE]

The program is a GPT of 6 layers, d=256 (5.3 M parameters, 77 tensors) with AdamW and 4 sequences of 64 tokens a step,
or 12 as nanoGPT has them for a CPU, or a variant of its loop. Blocks of steps alternate between the recorder on and off,
and where a block has several turns, each of --steps, the two of a pair take them alternately: on a machine whose speed
drifts that tells smaller differences. The control alternates between off and off, anomaly mode between
torch.autograd.set_detect_anomaly(True) and False, the floor between a hook that only reads the norm of every gradient
and none. Medians of the pairs' ratios with a 95 % bootstrap interval. What a step costs more is fitted to the number of
tensors by a line through the programs of small tensors.
Peak memory is the largest resident set of a process with and one without us, the median of three each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).parent / "overhead_program.py"
# What is measured: a name, and the program's arguments. Anomaly mode costs so much that few blocks tell it.
TIMED = [
    ("zero_grad at the top", ["--program", "top"]),
    ("zero_grad at the top: control", ["--program", "top", "--toggle", "nothing"]),
    ("zero_grad at the top: norms alone", ["--program", "top", "--toggle", "norms"]),
    ("zero_grad at the top: anomaly mode", ["--program", "top", "--toggle", "anomaly"]),
    ("zero_grad at the end", ["--program", "end"]),
    ("zero_grad at the end: control", ["--program", "end", "--toggle", "nothing"]),
    # nanoGPT's batch for a CPU: three times the work for each gradient that is read.
    ("12 sequences, zero_grad at the top", ["--program", "top", "--batch", "12"]),
    (
        "12 sequences, zero_grad at the top: control",
        ["--program", "top", "--batch", "12", "--toggle", "nothing"],
    ),
    ("12 sequences, zero_grad at the end", ["--program", "end", "--batch", "12"]),
    ("accumulation over 4", ["--program", "accumulation"]),
    ("two optimizers (GAN)", ["--program", "gan"]),
    ("compiled (aot_eager)", ["--program", "end", "--compile", "aot_eager"]),
    ("100 small tensors", ["--program", "tensors", "--tensors", "100"]),
    ("1,000 small tensors", ["--program", "tensors", "--tensors", "1000"]),
    ("5,000 small tensors", ["--program", "tensors", "--tensors", "5000"]),
]
MEMORY = [("memory, zero_grad at the top", "top"), ("memory, zero_grad at the end", "end")]


def ratio(pairs: list[list[float]]) -> tuple[float, float, float]:
    """The median of the pairs' ratios, and its 95 % bootstrap interval."""
    draw = random.Random(0)

    def of(sample: list[list[float]]) -> float:
        return statistics.median(a / b for a, b in sample)

    resampled = sorted(of(draw.choices(pairs, k=len(pairs))) for _ in range(2000))
    return of(pairs), resampled[50], resampled[1949]


def measure(arguments: list[str], recorded: bool) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = [sys.executable, str(PROGRAM), "--out", str(out), *arguments]
        if recorded:
            ours = [sys.executable, "-m", "firstcause", "run", "-q", "-o", str(Path(folder) / "run")]
            command = [*ours, *command]
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, cwd=folder)
        return json.loads(out.read_text())


def timed(name: str, arguments: list[str], size: list[str]) -> dict:
    data = measure([*size, *arguments], not {"anomaly", "norms"} & {*arguments})
    middle, low, high = ratio(data["pairs"])
    print(f"{name:44s} {middle:.3f} [{low:.3f}, {high:.3f}] of {data['step_ms']:.1f} ms", flush=True)
    return {
        "ratio": middle,
        "low": low,
        "high": high,
        "step_ms": data["step_ms"],
        "pairs": len(data["pairs"]),
    }


def fitted(result: dict) -> dict:
    """Microseconds that a step costs more, as a line over the number of small tensors; nothing below two points."""
    points = [
        (int(arguments[-1]), 1e3 * result[name]["step_ms"] * (result[name]["ratio"] - 1))
        for name, arguments in TIMED
        if "tensors" in arguments and name in result
    ]
    if len(points) < 2:
        return {}
    # By their relative errors: the largest program alone would decide otherwise.
    weighed = [(1 / max(cost, 1.0) ** 2, n, cost) for n, cost in points]
    total = sum(w for w, _, _ in weighed)
    x = sum(w * n for w, n, _ in weighed) / total
    y = sum(w * cost for w, _, cost in weighed) / total
    spread = sum(w * (n - x) ** 2 for w, n, _ in weighed)
    slope = sum(w * (n - x) * (cost - y) for w, n, cost in weighed) / spread
    print(f"{'a step of n small tensors':36s} {y - slope * x:.0f} + {slope:.2f} n microseconds")
    return {"fit": {"us_per_step": y - slope * x, "us_per_tensor": slope, "points": points}}


def peak(name: str, program: str) -> dict:
    few = ["--blocks", "2", "--steps", "4", "--program", program]
    ours, plain = (
        statistics.median(measure(few, recorded)["peak_kib"] for _ in range(3)) for recorded in (True, False)
    )
    print(f"{name:44s} {ours / plain:.4f} ({ours / 1024:.0f} against {plain / 1024:.0f} MiB)", flush=True)
    return {"peak_kib": ours, "without_kib": plain, "ratio": ours / plain}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--turns", type=int, default=1, help="turns of a block")
    parser.add_argument("--steps", type=int, default=8, help="steps of a turn")
    parser.add_argument("--only", default="", help="measure what has this text in its name")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    size = ["--blocks", str(options.blocks), "--turns", str(options.turns), "--steps", str(options.steps)]
    result = {name: timed(name, arguments, size) for name, arguments in TIMED if options.only in name}
    result |= fitted(result)
    result |= {name: peak(name, program) for name, program in MEMORY if options.only in name}
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""What observing costs: CPU time in paired blocks of one process, and peak memory in two.

    python benchmarks/overhead.py [--blocks 30] [--steps 4] [--json FILE]

The program is a GPT of 6 layers, d=256 (5.3 M parameters, 77 tensors) with AdamW. Blocks of steps alternate
between the recorder on and off; the control alternates between off and off. Ratios of medians with a 95 %
bootstrap interval over the pairs. Peak memory is the maximum resident set of a run with and one without us.
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


def ratio(pairs: list[list[float]]) -> tuple[float, float, float]:
    """The ratio of sums over all pairs, and its 95 % bootstrap interval."""
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
            command = [
                sys.executable,
                "-m",
                "firstcause",
                "run",
                "-q",
                "-o",
                str(Path(folder) / "run"),
                *command,
            ]
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, cwd=folder)
        return json.loads(out.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--blocks", type=int, default=30)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    size = ["--blocks", str(options.blocks), "--steps", str(options.steps)]
    result = {}
    for zero in ("top", "end"):
        for name, toggle in (("recorder", "recorder"), ("control", "nothing")):
            data = measure([*size, "--zero", zero, "--toggle", toggle], True)
            middle, low, high = ratio(data["pairs"])
            step = data["step_ms"]
            result[f"{name}, zero_grad at the {zero}"] = {
                "ratio": middle,
                "low": low,
                "high": high,
                "step_ms": step,
            }
            interval = f"{middle:.3f} [{low:.3f}, {high:.3f}]"
            print(f"{name:9s} zero_grad at the {zero}: {interval} of a {step:.0f} ms step", flush=True)
        without = measure(["--blocks", "2", "--steps", "4", "--zero", zero], False)["peak_kib"]
        with_us = measure(["--blocks", "2", "--steps", "4", "--zero", zero], True)["peak_kib"]
        memory = {"peak_kib": with_us, "without_kib": without, "ratio": with_us / without}
        result[f"memory, zero_grad at the {zero}"] = memory
        peaks = f"{with_us >> 10} against {without >> 10} MiB"
        print(f"peak memory, zero_grad at the {zero}: {with_us / without:.4f} ({peaks})", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()

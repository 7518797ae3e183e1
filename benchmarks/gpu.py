"""What observing costs on a card: paired blocks of steps in one process a row, with the recorder on and off.

    python benchmarks/gpu.py [--out FILE] [--only TEXT,…] [--limit SECONDS] [--device cpu --tiny]

Each row is one process under `firstcause run`. Blocks alternate between the recorder and nothing, and in some rows
between nothing and what is often used instead: `.item()` of the loss or of each gradient's norm at each step, a histogram
of each gradient, torch.autograd.set_detect_anomaly. Ratios are medians over pairs of blocks, with a 95 % bootstrap
interval. Synchronisations are counted by torch's sync debug mode and by its profiler, with the recorder and without; graph
breaks and recompiles by torch._dynamo; memory is the allocator's peak of a block. The last rows give the milliseconds that
a step costs more against the number of parameters, with a line fitted through them.

The rows of two cards are ranks of torchrun; with one card they are left out, by --only.

Results are written after each row. A row that is not through after its own limit, or for which none of --limit is left,
is told as such. --device cpu --tiny tries the script where there is no card.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from overhead import ratio

HERE = Path(__file__).parent
# Name, seconds at most, arguments.
ROWS = [
    (
        "GPT-2 124M, eager, fused AdamW",
        90,
        "--network gpt-124m --steps 10 --modes recorder:16,item:6,norms:4,histogram:3,anomaly:3",
    ),
    (
        "GPT-2 124M, compiled, fused AdamW",
        120,
        "--network gpt-124m --compile --steps 12 --modes recorder:16,item:6",
    ),
    (
        # Its steps are short and the host's speed swings, so that many short blocks tell more than few long ones.
        "launch-bound tiny GPT, fused AdamW",
        140,
        "--network gpt-tiny --steps 15 --modes recorder:120,off:60,item:10",
    ),
    (
        "ResNet-50, channels_last, fused AdamW",
        80,
        "--network resnet-50 --steps 8 --modes recorder:16,item:4,anomaly:2",
    ),
    (
        "GPT 1.3B, checkpointed, fused AdamW",
        110,
        "--network gpt-1300m --steps 4 --warm 6 --modes recorder:10,item:3",
    ),
    (
        "GPT-2 124M, eager, foreach AdamW",
        60,
        "--network gpt-124m --optimizer foreach --steps 10 --modes recorder:12",
    ),
    (
        "control: GPT-2 124M, eager, nothing against nothing",
        45,
        "--network gpt-124m --steps 10 --modes off:12",
    ),
    # Ranks wait for each other, so that their steps differ more from block to block: many short blocks again.
    (
        "two cards: GPT-2 124M, DDP, fused AdamW",
        120,
        "--network gpt-124m --parallel ddp --steps 6 --modes recorder:80",
    ),
    (
        "two cards: GPT-2 124M, FSDP2, fused AdamW",
        150,
        "--network gpt-124m --parallel fsdp --steps 6 --modes recorder:80",
    ),
    (
        "two cards: control, DDP, nothing against nothing",
        80,
        "--network gpt-124m --parallel ddp --steps 6 --modes off:40",
    ),
    (
        "two cards: control, FSDP2, nothing against nothing",
        100,
        "--network gpt-124m --parallel fsdp --steps 6 --modes off:40",
    ),
    # With 124 million parameters, or 350 and 8 sequences, the host is what its steps wait for; with 48 it is the card.
    (
        "two cards: GPT 350M with FSDP2 and 48 sequences, fused AdamW",
        160,
        "--network gpt-350m-48 --parallel fsdp --steps 4 --modes recorder:24",
    ),
    (
        "two cards: control of GPT 350M with FSDP2 and 48 sequences, nothing against nothing",
        140,
        "--network gpt-350m-48 --parallel fsdp --steps 4 --modes off:16",
    ),
    ("by parameters: GPT 10M", 40, "--network gpt-10m --steps 12 --modes recorder:12"),
    ("by parameters: GPT 30M", 40, "--network gpt-30m --steps 12 --modes recorder:12"),
    ("by parameters: GPT 350M", 50, "--network gpt-350m --steps 8 --modes recorder:12"),
]
# The rows whose cost a step is put against their number of parameters.
FITTED = ("GPT-2 124M, eager, fused AdamW", "GPT 1.3B, checkpointed, fused AdamW", "by parameters")


def measured(arguments: list[str], seconds: float, device: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
        words = launch if "--parallel" in arguments else []
        command = [sys.executable, *words, str(HERE / "gpu_program.py"), "--out", str(out), *arguments]
        run = [sys.executable, "-m", "firstcause", "run", "-q", "-o", str(Path(folder) / "run"), *command]
        more = {"FIRSTCAUSE_DEFERRED": "cpu"} if device == "cpu" else {}
        with open(Path(folder) / "log", "w+") as log:
            started = subprocess.Popen(
                run, stdout=log, stderr=log, env={**os.environ, **more}, cwd=folder, start_new_session=True
            )
            try:
                code = started.wait(seconds)
            except subprocess.TimeoutExpired:
                # With all that it started: the program holds the card.
                os.killpg(started.pid, signal.SIGKILL)
                started.wait()
                return {"failed": f"not through after {seconds:.0f} s"}
            log.seek(0)
            said = log.read()[-1500:]
        if code or not out.exists():
            return {"failed": f"exit code {code}: {said}"}
        return {**json.loads(out.read_text()), "said": said}


def told(data: dict) -> dict:
    """The figures of one row, from its blocks."""
    timed = [b for b in data.pop("blocks") if b["kind"] == "time"] if "failed" not in data else []
    return data | {"ratios": ratios(timed)} if timed else data


def ratios(timed: list[dict]) -> dict:
    result = {}
    for mode in dict.fromkeys(b["of"] for b in timed):
        pairs, peaks = [], []
        for number in {b["pair"] for b in timed if b["of"] == mode}:
            # Of the control, both are off.
            both = [b for b in timed if b["of"] == mode and b["pair"] == number]
            watched = next((b for b in both if b["mode"] == mode and mode != "off"), both[0])
            alone = next(b for b in both if b is not watched)
            pairs.append([watched["ms"], alone["ms"]])
            if alone.get("peak"):
                peaks.append(watched["peak"] / alone["peak"])
        middle, low, high = ratio(pairs)
        result[mode] = {
            "ratio": middle,
            "low": low,
            "high": high,
            "ms": statistics.median(a for a, _ in pairs),
            "ms_without": statistics.median(b for _, b in pairs),
            "ms_more": statistics.median(a - b for a, b in pairs),
            "peak_ratio": statistics.median(peaks) if peaks else None,
            "pairs": pairs,
        }
    return result


def counted(blocks: list[dict]) -> dict:
    """What was counted of the blocks with the recorder and of those without."""
    return {b["kind"] + " " + b["mode"]: b for b in blocks if b["kind"] != "time"}


def printed(name: str, row: dict) -> None:
    if "failed" in row:
        print(f"{name:54s} FAILED: {row['failed'][-300:]}", flush=True)
        return
    for mode, r in row["ratios"].items():
        peak = f", peak {r['peak_ratio']:.4f}" if r["peak_ratio"] else ""
        print(
            f"{name:54s} {mode:10s} {r['ratio']:.4f} [{r['low']:.4f}, {r['high']:.4f}] of {r['ms_without']:.2f} ms{peak}",
            flush=True,
        )
    for what, found in row.get("counted", {}).items():
        print(
            f"{'':54s} {what}: { {k: v for k, v in found.items() if k not in ('kind', 'mode', 'of', 'pair')} }"
        )
    print(f"{'':54s} deferred {row['deferred']}, compiled {row['compiled_at_the_end']}", flush=True)


def fitted(rows: dict) -> dict:
    """Milliseconds that a step costs more, as a line over the number of parameters, in billions."""
    points = [
        (r["parameters"] / 1e9, r["ratios"]["recorder"]["ms_more"], r["ratios"]["recorder"]["ms_without"])
        for name, r in rows.items()
        if "ratios" in r and name.startswith(FITTED) and "recorder" in r["ratios"]
    ]
    if len({p[0] for p in points}) < 2:
        return {}
    slope, intercept = statistics.linear_regression([p[0] for p in points], [p[1] for p in points])
    print(f"a step of n billion parameters costs {intercept:.3f} + {slope:.3f} n ms more")
    return {"ms": intercept, "ms_per_billion": slope, "points": sorted(points)}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=HERE / "results" / "overhead-gpu.json")
    parser.add_argument("--only", default="", help="rows that hold one of these texts, separated by commas")
    parser.add_argument("--limit", type=float, default=480.0, help="seconds for all rows")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small networks and few steps, to try the script")
    options = parser.parse_args()
    began, rows = time.monotonic(), {}
    for name, seconds, arguments in ROWS:
        if options.only and not any(text in name for text in options.only.split(",")):
            continue
        left = options.limit - (time.monotonic() - began)
        more = [
            "--device",
            options.device,
            *(("--tiny", "--steps", "2", "--warm", "5") if options.tiny else ()),
        ]
        if left < 15:
            rows[name] = {"failed": "no time was left for it"}
        else:
            data = measured([*arguments.split(), *more], min(seconds, left), options.device)
            rows[name] = told(data | ({"counted": counted(data["blocks"])} if "blocks" in data else {}))
        printed(name, rows[name])
        options.out.write_text(json.dumps({"rows": rows, "fit": fitted(rows)}, indent=1) + "\n")
    return 1 if any("failed" in row for row in rows.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Says whether `firstcause ranks` names rank and line on programs of 2 and 4 ranks, and is silent on healthy ones.

    python benchmarks/ranks.py [--only NAME,…] [--firstcause PATH] [--out FILE]

Each program of `ranks_program.py` is recorded and looked at; those whose fault leaves no trace in a run, and the healthy
ones, are run again and watched (`--yes`). Exit code 1: one is not named, or a healthy one is.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = Path(__file__).with_name("ranks_program.py")
# How many ranks, whether its fault shows only when watched, and the rank that is to be named (None: any).
FAULTY = {
    "other-op": (2, False, 1),
    "other-shape": (4, False, 1),
    "missing-rank": (2, False, 1),
    "swapped-order": (2, False, 1),
    "early-exit": (4, False, 1),
    "aborts": (2, False, 1),
    "slow-rank": (2, False, 1),
    "diverged-weights": (2, True, 1),
    "same-sampler": (2, True, None),
    "unused-on-one": (2, False, 1),
    "loader-deadlock": (2, False, 1),
    "uneven-last-batch": (2, False, 1),
}
HEALTHY = {
    "healthy-unused-on-purpose": 2,
    "healthy-join": 2,
    "healthy-rank-0-saves": 2,
    "healthy-own-seeds": 4,
}
LIMIT = 300


def line_of(name: str) -> int:
    lines = PROGRAM.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {name}"))


def looked_at(firstcause: str, name: str, ranks: int, watched: bool) -> tuple[list[str], float]:
    """What is said of one program, and the seconds that recording and looking took."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(PROGRAM, Path(folder) / "train.py")
        env = {k: v for k, v in os.environ.items() if not k.startswith("FIRSTCAUSE")}
        env |= {"OMP_NUM_THREADS": "1", "NO_COLOR": "1"}

        def call(*words: str) -> None:
            # No pipes: a loader's worker that hangs would hold them open.
            none = subprocess.DEVNULL
            command = [firstcause, *words]
            subprocess.run(command, cwd=folder, env=env, stdout=none, stderr=none, timeout=LIMIT, check=False)

        call("run", "-q", "-o", "run", sys.executable, "train.py", name, str(ranks))
        call("ranks", "run", "--json", "seen.json", *(("--yes",) if watched else ()))
        seen = json.loads((Path(folder) / "seen.json").read_text())["seen"]
    return seen, time.monotonic() - began


def named(seen: list[str], name: str, rank: int | None) -> bool:
    """Whether one of the sentences has the rank, and any of them the line."""
    text = "\n".join(seen)
    has_rank = rank is None or re.search(rf"\brank {rank}\b", text, re.IGNORECASE) is not None
    return has_rank and re.search(rf"train\.py:{line_of(name)}\b", text) is not None


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--firstcause", default="firstcause")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    only = set(filter(None, args.only.split(",")))
    plan = [(n, r, w, True, rank) for n, (r, w, rank) in FAULTY.items()]
    plan += [(n, r, True, False, None) for n, r in HEALTHY.items()]
    rows = []
    for name, ranks, watched, faulty, rank in plan:
        if only and name not in only:
            continue
        seen, seconds = looked_at(args.firstcause, name, ranks, watched)
        right = named(seen, name, rank) if faulty else not seen
        rows.append(
            {"name": name, "ranks": ranks, "right": right, "seconds": round(seconds, 1), "seen": seen}
        )
        print(
            f"{name:28s} {ranks} ranks  {'right' if right else 'WRONG'}  {seconds:6.1f} s  {seen[:1]}",
            flush=True,
        )
        if args.out:
            args.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{sum(r['right'] for r in rows)} of {len(rows)} right")
    return 0 if all(r["right"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

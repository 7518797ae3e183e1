"""What `firstcause ranks` takes for many ranks: a record as 16 to 1,024 of them leave it, read and answered.

    python benchmarks/many_ranks.py [--ranks 16,64,256,1024] [--out FILE]

Each rank's file is as `record/observe/ranks.py` writes it, with as many collectives as it keeps; the last rank leaves the
common sequence. Bytes and renames are those of one second in which every rank has moved.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from firstcause.record.observe.ranks import interval

KEPT = 200
FRAME = {"file": "/home/user/project/training/loop.py", "line": 212, "function": "train_step"}


def calls(odd: bool) -> list[dict]:
    made = [
        {
            "group": "0",
            "seq": seq,
            "op": "all_reduce",
            "sizes": [[7_087_872]],
            "dtypes": ["BFloat16"],
            "waiting": seq == KEPT,
            "time": 1e9 + seq * 0.01,
            "frames": [
                FRAME,
                FRAME | {"line": 88, "function": "main"},
                FRAME | {"line": 301, "function": "<module>"},
            ],
        }
        for seq in range(1, KEPT + 1)
    ]
    if odd:
        made[-1] |= {"op": "broadcast", "sizes": [[4]]}
    return made


def written(folder: Path, ranks: int) -> int:
    """The record's bytes of ranks."""
    total = 0
    for rank in range(ranks):
        facts = {
            "rank": rank,
            "world": ranks,
            "pid": 1000 + rank,
            "restart": "0",
            "began": 1e9,
            "changed": 1e9 + 2,
            "time": 1e9 + 3,
            "steps": 40,
            "calls": calls(rank == ranks - 1),
            "stack": [FRAME | {"text": "loss.backward()"}],
            "inside": "torch.autograd.graph._engine_run_backward",
            "met": {f"{FRAME['file']}:{line}": 3 for line in range(200, 220)},
            "ended": None,
            "audit": None,
        }
        text = json.dumps(facts)
        total += len(text)
        place = folder / "ranks" / str(rank)
        place.mkdir(parents=True)
        (place / "now.json").write_text(text)
    return total


def read(folder: Path) -> dict:
    """One overview in a process of its own: its seconds of processor time and its peak memory."""
    program = (
        "import sys, time; began = time.process_time()\n"
        "from firstcause.record.standing import overview\n"
        "seen = overview(sys.argv[1])\n"
        "assert seen.parting is not None and seen.parting.odd == len(seen.standings) - 1\n"
        "print(time.process_time() - began)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"seconds": float(done.stdout), "peak_mib": peak}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", default="16,64,256,1024")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for ranks in map(int, options.ranks.split(",")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            began = time.perf_counter()
            size = written(folder, ranks)
            row = {"ranks": ranks, "bytes_a_rank": size // ranks, "mib": size / 2**20}
            writes = 1 / interval(ranks)
            row |= {"mib_a_second": writes * size / 2**20, "renames_a_second": writes * ranks}
            row |= {"written_s": time.perf_counter() - began} | read(folder)
        rows.append(row)
        print(row, flush=True)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

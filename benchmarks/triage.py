"""What triage costs: CPU seconds and memory for logs of 100 MB and 1 GB, beside grep, and for a line from a cold start.

    python benchmarks/triage.py [--sizes MB,…] [--out FILE] [--folder FOLDER]

Each figure is the least of several fresh processes. The logs are made from a seed, like those of 512 ranks that train for
days and then fail; they are removed afterwards. grep gets the same literals and finds them; triage also reads them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from firstcause.catalog.patterns import load_patterns
from firstcause.triage.wordings import Wordings

SEED = 0
RANKS = 512
REPEATS = 3
LINE = "RuntimeError: CUDA error: device-side assert triggered\n"
FAILURE = """\
[rank417]: Traceback (most recent call last):
[rank417]:   File "pretrain.py", line 190, in <module>
[rank417]:     loss = step(model, batch)
[rank417]:   File "pretrain.py", line 88, in step
[rank417]:     return model(ids).loss
[rank417]: RuntimeError: CUDA error: an illegal memory access was encountered
"""
WAITED = (
    "[rank{rank}]:[E1016 03:31:38.90 ProcessGroupNCCL.cpp:607] [Rank {rank}] Watchdog caught collective operation timeout: "
    "WorkNCCL(SeqNum=96120, OpType=ALLREDUCE, NumelIn=25165824, NumelOut=25165824, Timeout(ms)=600000) ran for 600013 "
    "milliseconds before timing out.\n"
)


_WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "a",
    "is",
    "that",
    "for",
    "it",
    "as",
    "was",
    "with",
    "be",
    "by",
    "on",
    "not",
    "he",
    "his",
    "but",
    "at",
    "are",
    "this",
    "have",
    "from",
    "or",
    "had",
    "an",
    "they",
    "which",
    "one",
    "you",
    "were",
    "all",
    "her",
    "she",
    "there",
    "would",
    "their",
    "we",
    "him",
    "been",
    "has",
    "when",
    "who",
    "will",
    "no",
    "more",
    "if",
    "out",
    "so",
    "up",
    "said",
    "what",
    "its",
    "about",
    "than",
    "into",
    "them",
    "can",
    "only",
    "other",
    "time",
    "new",
    "some",
    "could",
    "these",
    "two",
    "may",
    "first",
    "then",
    "do",
    "any",
    "like",
    "my",
    "now",
    "over",
    "such",
    "our",
    "man",
    "me",
    "even",
    "most",
    "made",
    "after",
]


def main() -> None:
    """Measure, print and write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="100,1000", help="megabytes, separated by commas")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "triage-cpu.json")
    parser.add_argument("--folder", help="where the logs are written, and removed again")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=args.folder))
    try:
        figures = _figures(folder, [int(size) for size in args.sizes.split(",")])
    finally:
        shutil.rmtree(folder)
    args.out.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))


def _figures(folder: Path, sizes: list[int]) -> dict[str, object]:
    line = folder / "line.txt"
    line.write_text(LINE)
    literals = folder / "literals.txt"
    words = sorted(Wordings(load_patterns()).literals())
    literals.write_bytes(b"\n".join(words) + b"\n")
    logs = {}
    for size in sizes:
        log = folder / f"{size}.log"
        with log.open("w", encoding="utf-8") as file:
            file.writelines(_log(size * 1_000_000))
        ours = _least(_triage(log))
        grep = _least(["grep", "-c", "-a", "-F", "-f", str(literals), str(log)])
        logs[f"{size} MB"] = {
            "triage CPU s": ours[0],
            "triage peak MB": ours[1],
            "grep -F -f CPU s": grep[0],
            "triage over grep": round(ours[0] / grep[0], 2),
        }
        log.unlink()
    cold, bare = _least(_triage(line), 7), _least([sys.executable, "-c", "pass"], 7)
    return {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "literals": len(words),
        "logs": logs,
        "a line from a cold start CPU s": cold[0],
        "the interpreter alone CPU s": bare[0],
    }


def _triage(log: Path) -> list[str]:
    return [sys.executable, "-m", "firstcause", "triage", "-q", str(log)]


def _least(command: list[str], repeats: int = REPEATS) -> tuple[float, float]:
    """The least CPU seconds of a command, and its peak memory in megabytes."""
    environment = {**os.environ, "LC_ALL": "C", "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    found = []
    for _ in range(repeats):
        child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, status, usage = os.wait4(child.pid, 0)
        assert child.stderr is not None
        said = child.stderr.read().decode()
        child.stderr.close()
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 3):
            raise SystemExit(f"{command}: {child.returncode}: {said}")
        scale = 1 if sys.platform == "darwin" else 1024
        found.append((usage.ru_utime + usage.ru_stime, usage.ru_maxrss * scale / 1e6))
    return round(min(cpu for cpu, _ in found), 3), round(min(peak for _, peak in found), 1)


def _log(size: int) -> Iterator[str]:
    """A log of many ranks: progress, warnings and statistics, then one rank fails and the others wait for it."""
    rng = random.Random(SEED)
    ending = FAILURE + "".join(WAITED.format(rank=rank) for rank in range(RANKS) if rank != 417)
    written = 0
    # Drawn once, and written many times with other numbers of steps: the log is made in seconds.
    block = [_line(rng, at) for at in range(20_000)]
    for step in itertools.count():
        lines = "".join(line.replace("STEP", str(step)) for line in block)
        if written + len(lines) > size - len(ending):
            break
        yield lines
        written += len(lines)
    yield ending


def _line(rng: random.Random, at: int) -> str:
    rank = rng.randrange(RANKS)
    kinds = (
        f"[rank{rank}]: step STEP | loss {rng.random():.4f} | lr 3.0e-04 | grad_norm {rng.random():.3f} | 512 samples/s\n",
        f"2025-06-24 17:29:{at % 60:02} INFO trainer.py:{rng.randrange(900)}] tokens/s {rng.randrange(90000)} memory 71.2GiB\n",
        f"[rank{rank}]:[W1016 03:31:38.90 Reducer.cpp:1457] Warning: find_unused_parameters=True was specified\n",
        f"[rank{rank}]: sample: {' '.join(rng.choices(_WORDS, k=12))}\n",
        f"{{'loss': {rng.random():.4f}, 'learning_rate': 1e-05, 'epoch': {rng.random():.2f}}}\n",
        f"NCCL INFO Channel {at % 32:02}/0 : {rank}[{rank % 8}] -> {(rank + 1) % RANKS}[{(rank + 1) % 8}] via P2P/CUMEM/read\n",
    )
    return kinds[rng.choices(range(6), (60, 20, 2, 3, 7, 8))[0]]


if __name__ == "__main__":
    main()

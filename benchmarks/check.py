"""What a check costs: CPU and wall seconds of all code rules beside ``ast.parse`` on the same files, by rule, and warm.

    python benchmarks/check.py FOLDER… [--files N] [--jobs N] [--out FILE]

Files that import torch are taken from the folders, N at most. Cold: no cache, in a fresh process each time. Warm: the cache
filled, then one file edited, for several files in turn: an edit costs what the program costs that the file is a part of.
``ast.parse`` reads the same bytes; both are the least of three. An interpreter's start is not in it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 3
EDITED = 9
KINDS = {"least": min, "median": statistics.median, "most": max}
_TORCH = re.compile(rb"^\s*(?:import|from)\s+(?:torch|transformers|lightning|accelerate)\b", re.MULTILINE)
_PARSE = """
import ast, sys, time
texts = [open(p, "rb").read() for p in sys.argv[1:]]
start = time.process_time()
for text in texts:
    ast.parse(text)
print(time.process_time() - start)
"""
_CHECK = """
import json, os, resource, sys, time
from firstcause.check.cache import Cache
from firstcause.check.engine import run_programs
from firstcause.source.project import Project
root, jobs, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
files = [l.strip() for l in sys.stdin]
wall, cpu = time.perf_counter(), time.process_time()
outcome = run_programs(Project(root, files), {}, jobs=jobs, cache=Cache(folder) if folder else None)
children = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({
    "wall": time.perf_counter() - wall,
    "cpu": time.process_time() - cpu + children.ru_utime + children.ru_stime,
    "findings": len(outcome.findings),
    "failed": [f.slug for f in outcome.failed],
    "rules": outcome.seconds,
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        result = measured(args.folders, args.files, args.jobs, place)
    text = json.dumps(result, indent=1)
    if args.out:
        Path(args.out).write_text(text + "\n", encoding="utf-8")
    print(text)


def measured(folders: list[str], most: int, jobs: int, place: str) -> dict[str, object]:
    files, root = copied(folders, most, place)
    lines = sum(Path(f).read_bytes().count(b"\n") for f in files)
    parse = min(float(python(_PARSE, files, "")) for _ in range(REPEATS))
    one = min((checked(files, root, 1, "") for _ in range(REPEATS)), key=lambda r: r["cpu"])
    many = min((checked(files, root, jobs, "") for _ in range(REPEATS)), key=lambda r: r["wall"])
    cache = os.path.join(place, "cache")
    checked(files, root, jobs, cache)
    warm = checked(files, root, jobs, cache)
    edited = []
    for path in files[:: max(len(files) // EDITED, 1)][:EDITED]:
        with open(path, "a", encoding="utf-8") as file:
            file.write("\nedited = 1\n")
        edited.append(checked(files, root, jobs, cache))
    rules = sorted(one["rules"].items(), key=lambda item: -item[1])
    return {
        "machine": {
            "system": platform.platform(),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
        },
        "files": len(files),
        "lines": lines,
        "ast_parse_seconds": round(parse, 3),
        "one_process": {"cpu": round(one["cpu"], 2), "times_ast_parse": round(one["cpu"] / parse, 1)},
        "processes": {"number": jobs, "wall": round(many["wall"], 2), "cpu": round(many["cpu"], 2)},
        "warm": {"wall": round(warm["wall"], 3), "cpu": round(warm["cpu"], 3)},
        "one_file_edited": {
            name: {kind: round(of(e[name] for e in edited), 3) for kind, of in KINDS.items()}
            for name in ("wall", "cpu")
        },
        "findings": one["findings"],
        "failed": one["failed"],
        "rules": {
            slug: {"seconds": round(s, 3), "percent": round(100 * s / one["cpu"], 1)} for slug, s in rules
        },
    }


def copied(folders: list[str], most: int, place: str) -> tuple[list[str], str]:
    """The files that import torch, copied: nothing beside them is looked at, and one of them will be edited."""
    root = os.path.join(place, "code")
    files: list[str] = []
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.py")):
            if len(files) < most and _TORCH.search(path.read_bytes()):
                target = os.path.join(root, Path(folder).name, path.relative_to(folder))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(path, target)
                files.append(target)
    return files, root


def checked(files: list[str], root: str, jobs: int, cache: str) -> dict[str, object]:
    started = time.perf_counter()
    found: dict[str, object] = json.loads(python(_CHECK, [root, str(jobs), cache], "\n".join(files)))
    found["process"] = time.perf_counter() - started
    return found


def python(program: str, arguments: list[str], given: str) -> str:
    # With what Python has compiled, as it is where a package is installed.
    compiled = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        env=compiled,
    )
    return done.stdout


if __name__ == "__main__":
    main()

"""Who holds what grows: 24 generated leaks and 12 programs that only look like leaks, through the command line.

    python benchmarks/leaks.py [--only NAME] [--json FILE] [--write FOLDER]

A leak is a kind (graph, outputs, tensors, host objects, hooks, exceptions, state) in a holder (a list, a dict by step, a
closure, an lru_cache, a generator's frame ...) at some depth below a name of the program, in a loop of some shape. It is found
if ``firstcause run --memory`` names the variable that holds it; the line is counted beside that. In a look-alike
nothing may be established.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from leak_program import Program
from leaks_alike import LOOKALIKES
from leaks_kept import LEAKS
from one_by_one import environment


def measure(program: Program) -> dict[str, Any]:
    text, lines = program.text()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(text)
        began = time.monotonic()
        command = [
            sys.executable,
            "-m",
            "firstcause",
            "run",
            "-q",
            "--memory",
            "--json",
            "run.json",
            "python",
            "train.py",
        ]
        ended = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, env=environment(sys.executable)
        )
        seen = json.loads(Path(folder, "run.json").read_text()).get("memory") or {}
    diagnosis = seen.get("diagnosis") or {}
    site = diagnosis.get("site") or {}
    found = {
        "kind": program.kind,
        "shape": program.shape,
        "depth": program.depth,
        "exit": ended.returncode,
        "status": diagnosis.get("status"),
        "cause": diagnosis.get("cause"),
        "held_by": seen.get("held_by"),
        "line": site.get("line"),
        "seconds": round(time.monotonic() - began, 1),
    }
    if program.name is None:
        return found | {"right": diagnosis.get("status") != "established"}
    right = seen.get("name") == program.name and diagnosis.get("status") == "established"
    return found | {
        "right": right,
        "line_right": any(abs((site.get("line") or -99) - x) <= 1 for x in lines),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="measure what has this text in its name")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--write", metavar="FOLDER", help="write the programs there and measure nothing")
    options = parser.parse_args()
    chosen = [p for p in (*LEAKS, *LOOKALIKES) if options.only in p.label]
    if options.write:
        for program in chosen:
            Path(options.write, program.label + ".py").write_text(program.text()[0])
        return
    result = {}
    for program in chosen:
        result[program.label] = measure(program)
        print(f"{program.label:22s} {json.dumps(result[program.label])}", flush=True)
    leaks = [r for r in result.values() if "line_right" in r]
    clean = [r for r in result.values() if "line_right" not in r]
    summary = {
        "leaks": len(leaks),
        "holder_named": sum(r["right"] for r in leaks),
        "line_right": sum(r["line_right"] for r in leaks),
        "look_alikes": len(clean),
        "invented": sum(not r["right"] for r in clean),
    }
    print(json.dumps(summary))
    if options.json:
        Path(options.json).write_text(json.dumps({"summary": summary, "programs": result}, indent=1) + "\n")


if __name__ == "__main__":
    main()

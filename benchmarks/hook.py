"""What one question to the hook costs: CPU of the whole process, beside a Python that does nothing.

    python benchmarks/hook.py [--times N] [--out FILE]

The question is an edit of a file that no case covers, as a client asks before every edit. Both kinds of process take turns,
so that the machine's load meets both.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

NOTHING = (sys.executable, "-c", "pass")
HOOK = (sys.executable, "-m", "firstcause", "hook", "--client", "claude")


def cpu_of(command: tuple[str, ...], folder: str) -> float:
    """CPU seconds of a process and its children, fed one edit."""
    edit = {"cwd": folder, "tool_name": "Edit", "tool_input": {"file_path": f"{folder}/train.py"}}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, input=json.dumps(edit), cwd=folder, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=25)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(cpu_of(NOTHING, folder), cpu_of(HOOK, folder)) for _ in range(args.times)]
    nothing, hook = (statistics.median(column) for column in zip(*pairs, strict=True))
    found = {
        "times": args.times,
        "python_cpu_seconds": round(nothing, 4),
        "hook_cpu_seconds": round(hook, 4),
        "hook_cpu_seconds_worst": round(max(pair[1] for pair in pairs), 4),
        "ratio": round(hook / nothing, 2),
    }
    text = json.dumps(found, indent=2)
    print(text)
    if args.out:
        args.out.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Slow trainings of each class: class and line named, and the stated gain beside the one that is measured after the fix.

    python benchmarks/speed.py [--only TEXT] [--firstcause PATH] [--out FILE] [--print NAME]

Each program of ``speed_programs.py`` goes through ``firstcause profile`` in an empty folder. The gain after the fix is that of
the program itself: the processor time of its loop from the second step on, the best of three runs of each side.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

from speed_programs import PROGRAMS, Slow

# The stated gain is right within this share of the measured one.
NEAR = 0.2
RUNS = 3


def environment(tool: str) -> dict[str, str]:
    path = f"{Path(tool).parent}{os.pathsep}{os.environ['PATH']}"
    return dict(os.environ, OMP_NUM_THREADS="1", NO_COLOR="1", PATH=path)


def seconds(text: str, env: dict[str, str]) -> float:
    """The processor time of a program's loop, the best of ``RUNS`` runs."""
    found = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "train.py").write_text(text)
            words = ["python", "train.py"]
            done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=True)
        found.append(float(done.stdout.rpartition("seconds")[2]))
    return min(found)


def row(one: Slow, tool: str) -> dict[str, object]:
    """What the profile says of one program, beside the truth."""
    env = environment(tool)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(one.text)
        words = [tool, "profile", "--json", "p.json", "--budget", "240s", "python", "train.py"]
        subprocess.run(words, cwd=folder, env=env, capture_output=True, timeout=600)
        answer = json.loads(Path(folder, "p.json").read_text())
    diagnosis = answer["diagnosis"] or {}
    cause = diagnosis.get("cause") or ""
    line = (diagnosis.get("site") or {}).get("line", 0)
    wanted = next((n for n, text in enumerate(one.text.splitlines(), 1) if text.endswith("# slow")), 0)
    after = seconds(one.text, env) / seconds(one.fixed, env) if one.cause else None
    stated = answer.get("gain")
    return {
        "name": one.name,
        "wanted": one.cause,
        "cause": cause,
        "class": cause == one.cause,
        "line": bool(wanted) and abs(line - wanted) <= 3,
        "stated": stated,
        "measured": after,
        "near": bool(after and stated) and abs(stated - after) <= NEAR * after,
        "why": answer.get("why") or "; ".join(answer.get("tried") or ())[:300],
    }


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", metavar="TEXT", help="programs whose name holds it")
    p.add_argument("--firstcause", default="firstcause", metavar="PATH")
    p.add_argument("--out", type=Path, metavar="FILE", help="every answer as JSON")
    p.add_argument("--print", metavar="NAME", help="print one program")
    args = p.parse_args()
    chosen = [one for one in PROGRAMS if args.only in one.name]
    if args.print:
        print(next(one.text for one in PROGRAMS if one.name == args.print))
        return 0
    rows = []
    for one in chosen:
        rows.append(row(one, args.firstcause))
        print(json.dumps(rows[-1]), flush=True)
    slow = [r for r in rows if r["wanted"]]
    told = {
        "slow": len(slow),
        "class": sum(bool(r["class"]) for r in slow),
        "line": sum(bool(r["class"] and r["line"]) for r in slow),
        "gain": sum(bool(r["class"] and r["near"]) for r in slow),
        "healthy": len(rows) - len(slow),
        "accused": sum(bool(r["cause"]) for r in rows if not r["wanted"]),
    }
    print(json.dumps(told))
    if args.out:
        args.out.write_text(json.dumps(told | {"rows": rows}, indent=1) + "\n")
    return int(told["class"] < told["slow"] or told["accused"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())

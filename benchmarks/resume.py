"""Resumed trainings with each part of the state forgotten, alone and in pairs: is what is missing named, and no more.

    python benchmarks/resume.py [--only TEXT] [--firstcause PATH] [--out FILE] [--print NAME]

Each program of ``resume_programs.py`` goes through ``firstcause resume-check`` in an empty folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import resume_programs


def row(name: str, program: str, forget: tuple[str, ...], tool: str) -> dict[str, object]:
    """What resume-check says of one program, beside what it forgets."""
    env = dict(
        os.environ,
        OMP_NUM_THREADS="1",
        NO_COLOR="1",
        PATH=f"{Path(tool).parent}{os.pathsep}{os.environ['PATH']}",
    )
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        work.mkdir()
        (work / "train.py").write_text(program)
        words = [tool, "resume-check", "--json", "../r.json", "python", "train.py"]
        done = subprocess.run(words, cwd=work, env=env, capture_output=True, text=True, timeout=600)
        path = Path(folder, "r.json")
        if not path.exists():
            return {"name": name, "right": False, "why": done.stderr[-300:]}
        answer = json.loads(path.read_text())
    named = sorted({m["kind"] for m in answer["missing"]})
    return {
        "name": name,
        "forgets": sorted(forget),
        "named": named,
        "right": named == sorted(forget) and not answer["why"],
        "control": answer["control"],
        "why": answer["why"],
    }


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", metavar="TEXT", help="programs whose name holds it")
    p.add_argument("--firstcause", default="firstcause", metavar="PATH")
    p.add_argument("--out", type=Path, metavar="FILE", help="every answer as JSON")
    p.add_argument("--print", metavar="NAME", help="print one program")
    args = p.parse_args()
    every = resume_programs.programs()
    if args.print:
        print(every[args.print][0])
        return 0
    rows = []
    for name in (n for n in every if args.only in n):
        rows.append(row(name, *every[name], args.firstcause))
        print(json.dumps(rows[-1]), flush=True)
    right = sum(bool(r["right"]) for r in rows)
    print(f"named, and no more: {right} of {len(rows)}")
    if args.out:
        args.out.write_text(json.dumps({"right": right, "of": len(rows), "rows": rows}, indent=1) + "\n")
    return int(right < len(rows))


if __name__ == "__main__":
    raise SystemExit(main())

"""Resumed trainings with each part of the state forgotten, alone and in pairs: is what is missing named, and no more.

    python benchmarks/resume.py [--only TEXT] [--firstcause PATH] [--out FILE] [--print NAME]

Each program of ``resume_programs.py`` goes through ``firstcause resume-check`` in an empty folder.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import resume_programs
from one_by_one import Row, arguments, asked, environment, keep


def row(name: str, program: str, forget: tuple[str, ...], tool: str) -> Row:
    """What resume-check says of one program, beside what it forgets."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        work.mkdir()
        (work / "train.py").write_text(program)
        words = [tool, "resume-check", "--json", "../r.json", "python", "train.py"]
        done = subprocess.run(
            words, cwd=work, env=environment(tool), capture_output=True, text=True, timeout=600
        )
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
    every = resume_programs.programs()
    args = arguments(__doc__, {name: text for name, (text, _) in every.items()})
    rows = asked(args, every, lambda name: row(name, *every[name], args.firstcause))
    right = sum(bool(r["right"]) for r in rows)
    print(f"named, and no more: {right} of {len(rows)}")
    keep(args.out, {"right": right, "of": len(rows)}, rows)
    return int(right < len(rows))


if __name__ == "__main__":
    raise SystemExit(main())

"""Slow trainings of each class: class and line named, and the stated gain beside the one that is measured after the fix.

    python benchmarks/speed.py [--only TEXT] [--firstcause PATH] [--out FILE] [--print NAME]

Each program of ``speed_programs.py`` goes through ``firstcause profile`` in an empty folder. The gain after the fix,
which is the patch that was offered and else our own, is that of the program itself: the processor time of its loop from the
second step on, the best of three runs of each side.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from one_by_one import Row, arguments, asked, environment, is_near, keep, lines_of
from speed_programs import PROGRAMS, Slow

# The stated gain, as the share of a step's time that goes away, is right within this share of the measured one. (Of a part
# that takes nearly the whole step the factor is as good as unbounded: 21 and 33 times are 95 and 97 % of the time.)
NEAR = 0.2
RUNS = 3


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


def saved(times: float) -> float:
    """The share of a step's time that goes away where it becomes so many times faster."""
    return 1 - 1 / times


def patched(text: str, diff: str) -> str:
    """The program with the patch that was proposed; empty where none was, or it does not apply."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "train.py")
        program.write_text(text)
        Path(folder, "fix.diff").write_text(diff)
        done = subprocess.run(["patch", "-s", "-p1", "-i", "fix.diff"], cwd=folder, capture_output=True)
        return program.read_text() if diff and done.returncode == 0 else ""


def row(one: Slow, tool: str) -> Row:
    """What the profile says of one program, beside the truth."""
    env = environment(tool)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(one.text)
        words = [tool, "profile", "--json", "p.json", "--budget", "240s", "python", "train.py"]
        subprocess.run(words, cwd=folder, env=env, capture_output=True, timeout=600)
        answer = json.loads(Path(folder, "p.json").read_text())
    diagnosis = answer["diagnosis"] or {}
    cause = diagnosis.get("cause") or ""
    changed = patched(one.text, (diagnosis.get("fix") or {}).get("diff") or "") or one.fixed
    after = seconds(one.text, env) / seconds(changed, env) if one.cause else None
    stated = answer.get("gain")
    return {
        "name": one.name,
        "wanted": one.cause,
        "cause": cause,
        "class": cause == one.cause,
        "line": any(is_near(diagnosis, line) for line in lines_of(one.text, "# slow")),
        "at": (diagnosis.get("site") or {}).get("line"),
        "stated": stated,
        "measured": after,
        "near": bool(after and stated) and abs(saved(stated) - saved(after)) <= NEAR * abs(saved(after)),
        "why": answer.get("why") or "; ".join(answer.get("tried") or ())[:300],
    }


def main() -> int:
    every = {one.name: one for one in PROGRAMS}
    args = arguments(__doc__, {name: one.text for name, one in every.items()})
    rows = asked(args, every, lambda name: row(every[name], args.firstcause))
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
    keep(args.out, told, rows)
    return int(told["class"] < told["slow"] or told["accused"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())

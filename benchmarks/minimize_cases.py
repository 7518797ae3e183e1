"""Minimizes the failing programs of `cases/`: lines, seconds, and whether the script fails as the program did.

    benchmarks/minimize_cases.py [--cases FOLDER] [--firstcause COMMAND] [--only PREFIX,PREFIX] [--out FILE]

Needs Python 3.11 and its standard library only. A script counts when it ends, in an empty folder, with the exception
that the program ended with, or with the assertion of a value that is not finite, or of the invariant that a silent training
breaks: such a program is diagnosed first. With `--pytest`, also whether the test that is written is red on the faulty
program and green on the fixed one.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import tomllib

CASES = Path(__file__).resolve().parent / "cases"
PROGRAM = "train.py"
SYMPTOMS = ("nan", "exception")
MOST = {"distributed": 30, "loader": 30, "": 20}


def call(command: list[str], folder: Path, env: dict[str, str], limit: float) -> tuple[int, str, str]:
    try:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return 124, "", f"no answer within {limit:.0f} s"
    return done.returncode, done.stdout, done.stderr


def measure(case: Path, truth: dict, args: argparse.Namespace) -> dict:
    tool = os.path.abspath(shutil.which(args.firstcause) or args.firstcause)
    path = f"{Path(tool).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    env = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", NO_COLOR="1", PATH=path)
    row: dict = {"id": case.name, "cause": truth["cause"], "symptom": truth["symptom"]}
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp) / "work"
        folder.mkdir()
        shutil.copy(case / "buggy.py", folder / PROGRAM)
        for extra in truth.get("extra_files", []):
            shutil.copy(case / extra, folder / extra)
        command = shlex.split(truth.get("launch", "python buggy.py").replace("buggy.py", PROGRAM))
        code, _, err = call([tool, "run", "-q", "-o", "run", *command], folder, env, 400)
        said = [line for line in err.splitlines() if line.strip()]
        row["program"] = said[-1][:160] if code and said else f"exit code {code}"
        if truth["symptom"] not in SYMPTOMS:
            call([tool, "diagnose", "run", "--yes"], folder, env, 400)
        start = time.monotonic()
        code, _, err = call(
            [tool, "minimize", "run", "-o", "repro.py", "--json", "out.json"], folder, env, 200
        )
        row["seconds"] = round(time.monotonic() - start, 1)
        if code:
            return row | {"lines": None, "why": err.strip()[-300:]}
        told = json.loads((folder / "out.json").read_text())
        script = (folder / "repro.py").read_text()
        if args.keep:
            args.keep.mkdir(parents=True, exist_ok=True)
            (args.keep / f"{case.name}.py").write_text(script)
        if args.pytest:
            test = folder / "test_repro.py"
            call([tool, "minimize", "run", "--pytest", "-o", str(test)], folder, env, 200)
            check = [
                str(Path(tool).with_name("python")),
                "-m",
                "pytest",
                "-q",
                "-p",
                "no:cacheprovider",
                str(test),
            ]
            row["red"] = call(check, folder, env, 300)[0] == 1
            shutil.copy(case / "fixed.py", folder / PROGRAM)
            row["green"] = call(check, folder, env, 300)[0] == 0
    lines = [x for x in script.splitlines() if x.strip() and not x.startswith(("#", '"""'))]
    return row | {"lines": len(lines), "ends": told["ends"][:160], "tried": told["tried"]}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=Path, default=CASES)
    parser.add_argument("--firstcause", default="firstcause")
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--keep", type=Path, help="keep the scripts in this folder")
    parser.add_argument(
        "--silent", action="store_true", help="also the programs that train badly without a word"
    )
    parser.add_argument("--pytest", action="store_true", help="also try the test that --pytest writes")
    args = parser.parse_args()
    rows = []
    for file in sorted(args.cases.glob("*/case.toml")):
        truth = tomllib.loads(file.read_text())
        wanted = file.parent.name.startswith(tuple(args.only.split(",")))
        failing = truth.get("kind", "run") == "run" and truth.get("cause", "none") != "none"
        if not wanted or not failing or (not args.silent and truth["symptom"] not in SYMPTOMS):
            continue
        rows.append(measure(file.parent, truth, args))
        print(json.dumps(rows[-1]), flush=True)
    small = [row["lines"] for row in rows if row["lines"]]
    middle = statistics.median(small) if small else None
    print(f"{len(small)} of {len(rows)} made; median {middle} lines, at most {max(small, default=0)}")
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if len(small) == len(rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())

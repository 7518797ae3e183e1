"""Scores an installed firstcause on the programs in `cases/`, through its command line only.

    python benchmarks/score.py [--only PREFIX,…] [--jobs N] [--fixed-as-healthy] [--firstcause PATH] [--out FILE]

Needs Python 3.11 and its standard library only; the rules are in `benchmarks/README.md`.
Exit code 1: an answer is wrong, a healthy program was accused, or the tool failed.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tomllib

CASES = Path(__file__).resolve().parent / "cases"
PROOF = ("replay", "counterfactual", "experiment")
PROGRAM = "train.py"  # a name that tells nothing of the case


def call(command: list[str], folder: Path, env: dict[str, str], limit: float = 400) -> tuple[int, str, str]:
    try:
        p = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=limit)
        return p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired:
        return 124, "", f"no answer within {limit:.0f} s"


def prepare(case: Path, truth: dict, name: str, folder: Path) -> list[str]:
    """Copies one program and its extra files into an empty folder; the command that starts it."""
    shutil.copy(case / name, folder / PROGRAM)
    for extra in truth.get("extra_files", []):
        shutil.copy(case / extra, folder / extra)
    return shlex.split(truth["launch"].replace("buggy.py", PROGRAM))


def proves(evidence: dict) -> bool:
    """An observation counts when it carries the values that break the invariant."""
    kind, values = evidence.get("kind"), evidence.get("values")
    return bool(evidence.get("supports") and (kind in PROOF or (kind == "observation" and values)))


def judge(answer: dict, expected: set[str]) -> str:
    cause, healthy = answer.get("cause"), "none" in expected
    if answer.get("status") != "established":
        return "clean" if healthy else "missed" if answer.get("status") == "healthy" else "not-established"
    if healthy or cause not in expected:
        return "false-alarm" if healthy else "wrong"
    named = [h for h in answer.get("hypotheses") or [] if h.get("cause") == cause]
    return "hit" if any(proves(e) for h in named for e in h.get("evidence", [])) else "unproven"


def near(site: dict, truth: dict) -> bool:
    """Within three lines of a place where the fault can be fixed, in the same file."""
    places = [(PROGRAM, line) for line in truth["fault_lines"]]
    places += [(f, int(line)) for f, line in (s.split(":") for s in truth.get("fault_sites", []))]
    name, line = Path(site.get("file") or "").name, site.get("line") or -9
    return any(name == f and abs(line - wanted) <= 3 for f, wanted in places)


def patched_ends_well(case: Path, truth: dict, diff: str, env: dict[str, str]) -> bool:
    """With the patch, in a copy, the program ends with 0 and a finite last number, half the way to the fixed one's at least."""
    with tempfile.TemporaryDirectory() as temp:
        folder = Path(temp)
        command = prepare(case, truth, "buggy.py", folder)
        (folder / "fix.diff").write_text(diff if diff.endswith("\n") else diff + "\n")
        if call(["patch", "-p1", "-i", "fix.diff"], folder, env, 20)[0]:
            return False
        code, out, _ = call(command, folder, env, 180)
    patched = last_number(out)
    faulty, fixed = last_number(truth["observed_buggy"]), last_number(truth["observed_fixed"])
    if code != 0 or patched is None:
        return False
    if faulty is None or fixed is None or faulty == fixed:
        return True
    return (patched - faulty) / (fixed - faulty) >= 0.5


def last_number(text: str) -> float | None:
    """The finite number after ``final NAME`` at the end of a text; None where there is none."""
    found = re.search(r"final [\w ,-]*?(-?[\d.]+(?:e[-+]\d+)?)$", text.strip())
    return float(found.group(1)) if found is not None else None


def score(case: Path, args: argparse.Namespace) -> dict:
    truth = tomllib.loads((case / "case.toml").read_text())
    cause, name = ("none", "fixed.py") if args.fixed_as_healthy else (truth["cause"], "buggy.py")
    expected = {cause} if cause == "none" else {cause, *truth.get("also_accept", [])}
    # The programs are started as `python`, which must be the one that has torch: the tool's neighbour.
    tool = os.path.abspath(shutil.which(args.firstcause) or args.firstcause)
    path = f"{Path(tool).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    env = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", NO_COLOR="1", PATH=path)
    with tempfile.TemporaryDirectory() as temp:
        folder, answer = Path(temp) / "work", Path(temp) / "answer.json"
        folder.mkdir()
        command = prepare(case, truth, name, folder)
        before = {f.name: f.read_bytes() for f in folder.iterdir()}
        call([tool, "run", "-o", "run", "--json", str(answer.with_name("run.json")), *command], folder, env)
        start = time.monotonic()
        diagnose = ["diagnose", "run", "--json", str(answer), "--yes", "--budget", "120s"]
        code, _, err = call([tool, *diagnose], folder, env)
        row = {"id": truth["id"], "expected": cause, "seconds": round(time.monotonic() - start, 1)}
        if args.keep and (folder / "run").exists():
            shutil.copytree(folder / "run", args.keep / truth["id"], dirs_exist_ok=True)
        if any((folder / file).read_bytes() != text for file, text in before.items()):
            return row | {"outcome": "error", "note": "the program was changed without approval"}
        if not answer.exists():
            return row | {"outcome": "error", "note": f"no JSON, exit code {code}: {err.strip()[-200:]}"}
        data = json.loads(answer.read_text())
    row |= {"outcome": judge(data, expected), "got": data.get("cause"), "site": data.get("site")}
    row["line_hit"] = cause != "none" and near(data.get("site") or {}, truth)
    diff = (data.get("fix") or {}).get("diff")
    if diff and row["outcome"] in ("hit", "unproven"):
        row["fix_works"] = patched_ends_well(case, truth, diff, env)
    return row | {"diagnosis": data}


def totals(rows: list[dict]) -> dict:
    n = collections.Counter(r["outcome"] for r in rows)
    claims = n["hit"] + n["unproven"] + n["wrong"] + n["false-alarm"]
    faulty = sum(r["expected"] != "none" for r in rows)
    works = [r["fix_works"] for r in rows if "fix_works" in r]
    share = {"precision": f"{n['hit']}/{claims}", "recall": f"{n['hit']}/{faulty}"}
    share |= {"lines": f"{sum(r.get('line_hit', False) for r in rows)}/{faulty}"}
    return {"cases": len(rows), **n, **share, "fixes": f"{sum(works)}/{len(works)}"}


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", metavar="PREFIX,…", help="cases whose id starts so")
    p.add_argument("--jobs", type=int, default=1, metavar="N")
    p.add_argument("--fixed-as-healthy", action="store_true", help="run fixed.py: all must be clean")
    p.add_argument("--firstcause", default="firstcause", metavar="PATH")
    p.add_argument("--out", type=Path, metavar="FILE", help="every answer as JSON")
    p.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the recorded runs, one folder a case")
    args = p.parse_args()
    cases = [c for c in sorted(CASES.glob("*/")) if c.name.startswith(tuple(args.only.split(",")))]
    rows = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda c: score(c, args), cases):
            rows.append(row)
            said = row.get("note") or ("line" if row.get("line_hit") else "")
            print(f"{row['id']:28s} {row['outcome']:16s} {row.get('got') or '-':30s} {said}", flush=True)
    print(json.dumps(totals(rows)))
    if args.out:
        args.out.write_text(json.dumps({"cases": rows, "totals": totals(rows)}, indent=1) + "\n")
    return int(any(r["outcome"] in ("wrong", "false-alarm", "error") for r in rows))


if __name__ == "__main__":
    raise SystemExit(main())

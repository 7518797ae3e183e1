"""Functions with a backward written by hand: which are told wrong, how they are classified, and which are left alone.

    python benchmarks/functions.py [--only TEXT] [--firstcause PATH] [--out FILE] [--print NAME]

Each function of ``functions_written.py`` stands in a small training, which is recorded and diagnosed by the command line.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

from functions_written import Written, programs


def row(program: str, one: Written, tool: str) -> dict[str, object]:
    """What the diagnosis says of one function, beside the truth."""
    env = dict(
        os.environ,
        OMP_NUM_THREADS="1",
        NO_COLOR="1",
        PATH=f"{Path(tool).parent}{os.pathsep}{os.environ['PATH']}",
    )
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "train.py").write_text(program)
        run = [tool, "run", "-q", "-o", "run", "python", "train.py"]
        subprocess.run(run, cwd=folder, env=env, capture_output=True, timeout=300)
        diagnose = [tool, "diagnose", "run", "--json", "d.json", "--yes", "--budget", "150s"]
        subprocess.run(diagnose, cwd=folder, env=env, capture_output=True, timeout=400)
        answer = json.loads(Path(folder, "d.json").read_text())
    said = " ".join(
        e["text"] for h in answer["hypotheses"] if h["status"] == "confirmed" for e in h["evidence"]
    )
    wrong = next((n for n, text in enumerate(program.splitlines(), 1) if text.endswith("# wrong")), 0)
    line = (answer.get("site") or {}).get("line", 0)
    cause = answer.get("cause")
    if one.form is None:
        right = cause is None
    else:
        right = cause == "wrong-backward-formula" and one.form in said and abs(line - wrong) <= 3
    return {
        "name": one.name,
        "wrong": one.form is not None,
        "cause": cause,
        "line": bool(wrong) and abs(line - wrong) <= 3,
        "right": right,
        "said": said[:300],
    }


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", metavar="TEXT", help="functions whose name holds it")
    p.add_argument("--firstcause", default="firstcause", metavar="PATH")
    p.add_argument("--out", type=Path, metavar="FILE", help="every answer as JSON")
    p.add_argument("--print", metavar="NAME", help="print one program")
    args = p.parse_args()
    every = programs()
    if args.print:
        print(every[args.print][0])
        return 0
    rows = []
    for name in (n for n in every if args.only in n):
        rows.append(row(*every[name], args.firstcause))
        print(json.dumps(rows[-1]), flush=True)
    right = sum(bool(r["right"]) for r in rows)
    accused = sum(r["cause"] is not None for r in rows if not r["wrong"])
    print(f"classified {right} of {len(rows)}; accused without reason {accused}")
    if args.out:
        args.out.write_text(json.dumps({"right": right, "of": len(rows), "rows": rows}, indent=1) + "\n")
    return int(right < len(rows))


if __name__ == "__main__":
    raise SystemExit(main())

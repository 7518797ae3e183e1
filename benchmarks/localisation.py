"""Whether the first bad op and its line are found, on 60 programs that turn non-finite at a known line.

    python benchmarks/localisation.py [--only WORD,…] [--jobs N] [--firstcause PATH] [--out FILE] [--write FOLDER]

Needs the standard library only, beside an installed firstcause; `benchmarks/README.md` says what is counted.
Exit code 1: an op or a line was missed.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from localisation_programs import MODES, POSITIONS, Program, programs


def call(command: list[str], folder: Path, env: dict[str, str], limit: float = 180) -> str:
    """Runs it; what it printed."""
    try:
        p = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"no answer within {limit:.0f} s"
    return p.stdout + p.stderr


def names_op(place: dict[str, Any], ops: tuple[str, ...]) -> bool:
    """By its own name, or, in a backward, by the node of the op that is differentiated."""
    node = (place.get("node") or "").lower()
    return place.get("op") in ops or any(node.startswith(f"{op.strip('_')}backward") for op in ops)


def on_line(site: dict[str, Any] | None, program: Program) -> bool:
    site = site or {}
    return Path(site.get("file") or "").name == program.file and site.get("line") == program.line


def diagnosed(answer: dict[str, Any]) -> dict[str, Any]:
    """The op and site of the first replay that the diagnosis rests on, whatever it supports."""
    for hypothesis in answer.get("hypotheses") or []:
        for evidence in hypothesis["evidence"]:
            values = evidence.get("values") or {}
            if evidence["kind"] == "replay" and values.get("op"):
                return {"op": values["op"], "node": values.get("node"), "site": evidence["site"]}
    return {}


def births(run: Path) -> tuple[int | None, list[dict[str, Any]]]:
    """The failing step, and what was born non-finite in its replay; masks apart."""
    for file in sorted(run.glob("failures/*.json")):
        failure = json.loads(file.read_text())
        trace = (failure.get("replay") or {}).get("trace") or {}
        return failure.get("step"), [b for b in trace.get("births", []) if not b["constant"]]
    return None, []


def measure(program: Program, args: argparse.Namespace) -> dict[str, Any]:
    tool = os.path.abspath(shutil.which(args.firstcause) or args.firstcause)
    path = f"{Path(tool).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    env = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1", NO_COLOR="1", PATH=path)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temp:
        folder, answer = Path(temp), Path(temp) / "answer.json"
        program.write(folder)
        printed = call([tool, "run", "-q", "-o", "run", "python", "train.py"], folder, env)
        printed += call([tool, "diagnose", "run", "--json", str(answer)], folder, env)
        step, born = births(folder / "run")
        data = json.loads(answer.read_text()) if answer.exists() else {}
    said = diagnosed(data)
    row = {
        "id": program.name,
        "expected": {"ops": program.ops, "file": program.file, "line": program.line, "step": program.step},
        "said": said,
        "op": names_op(said, program.ops),
        "line": on_line(said.get("site"), program),
        "step": step == program.step,
        "recorded": any(names_op(b, program.ops) and on_line(b["site"], program) for b in born),
        "status": data.get("status"),
        "cause": data.get("cause"),
        "seconds": round(time.monotonic() - start, 1),
    }
    return row if said else row | {"note": printed.strip()[-300:]}


def share(rows: list[dict[str, Any]], key: str) -> str:
    return f"{sum(bool(r[key]) for r in rows)}/{len(rows)}"


def table(rows: list[dict[str, Any]], parts: list[Program]) -> list[tuple[str, str, str]]:
    """Op and line found, in all and by position, mode and phase."""
    groups: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for row, program in zip(rows, parts, strict=True):
        for name in ("all", program.position, program.mode, program.op.phase):
            groups[name].append(row)
    order = ("all", *POSITIONS, *MODES, "forward", "backward")
    return [(n, share(groups[n], "op"), share(groups[n], "line")) for n in order if n in groups]


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="", metavar="WORD,…", help="programs whose id holds one of these")
    p.add_argument("--jobs", type=int, default=1, metavar="N")
    p.add_argument("--firstcause", default="firstcause", metavar="PATH")
    p.add_argument("--out", type=Path, metavar="FILE", help="every answer as JSON")
    p.add_argument("--write", type=Path, metavar="FOLDER", help="write the programs there, and stop")
    args = p.parse_args()
    chosen = [c for c in programs() if any(word in c.name for word in args.only.split(","))]
    if args.write:
        for program in chosen:
            (args.write / program.name).mkdir(parents=True, exist_ok=True)
            program.write(args.write / program.name)
        return 0
    rows = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for program, row in zip(chosen, pool.map(lambda c: measure(c, args), chosen), strict=True):
            rows.append(row)
            site = row["said"].get("site") or {}
            said = f"{row['said'].get('op')} {Path(site.get('file') or '-').name}:{site.get('line')}"
            missed = [key for key in ("op", "line", "step", "recorded") if not row[key]]
            verdict = (
                f"missed {', '.join(missed)}; expected {program.file}:{program.line}" if missed else "found"
            )
            print(f"{row['id']:42s} {said:36s} {verdict} {row.get('note', '')}", flush=True)
    found = table(rows, chosen)
    print(f"\n{'programs':14s} {'op':>7s} {'line':>7s}")
    print("\n".join(f"{name:14s} {op:>7s} {line:>7s}" for name, op, line in found))
    totals = {name: {"op": op, "line": line} for name, op, line in found}
    if args.out:
        args.out.write_text(json.dumps({"programs": rows, "totals": totals}, indent=1) + "\n")
    return int(not all(row["op"] and row["line"] for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())

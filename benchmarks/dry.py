"""What a dry run sees before anything was trained, and what it costs: tables in Markdown.

    python benchmarks/dry.py [CASES] [--programs FILE…] [--only PREFIX] [-o FILE]

CASES is a folder of cases (this folder's by default), each with ``buggy.py``, ``fixed.py`` and ``case.toml``. Every program
is run dry by itself, without the rules that read code; whatever is found in a fixed or a healthy program is false.
``--programs`` runs other scripts and says how far each went.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from pathlib import Path

import tomllib

from firstcause.check.dry.commands import Command
from firstcause.check.dry.process import Dry, run_dry

HERE = Path(__file__).parent


def run_copy(script: Path, beside: list[Path]) -> Dry:
    """A script in a folder of its own, with what it reads, named as any training script."""
    folder = os.path.realpath(tempfile.mkdtemp())
    try:
        for path in beside:
            shutil.copy(path, folder)
        shutil.copy(script, os.path.join(folder, "train.py"))
        return run_dry(Command(os.path.join(folder, "train.py"), (), folder), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def errors(run: Dry) -> list[str]:
    return sorted({f["slug"] for f in run.findings if f["category"] != "suggestion"})


def ended(run: Dry) -> str:
    why = (
        f" (line {run.end['place'][1]}: {run.end['why'][:60]})"
        if run.end["outcome"] in ("error", "lost")
        else ""
    )
    return run.end["outcome"] + why


def cases(folder: Path, only: str) -> list[str]:
    lines = [
        "| case | cause | faulty: found | faulty: ended | healthy: found | CPU s |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    seen = faulty = false = healthy = 0
    costs: list[float] = []
    for case in sorted(folder.glob(f"{only}*/")):
        if not (case / "case.toml").exists() or not (case / "buggy.py").exists():
            continue
        truth = tomllib.loads((case / "case.toml").read_text())
        beside = [case / name for name in truth.get("extra_files", [])]
        first = run_copy(case / "buggy.py", beside)
        second = run_copy(case / "fixed.py", beside) if truth["cause"] != "none" else first
        costs += [first.cpu, second.cpu]
        found = errors(first)
        healthy, false = healthy + 1, false + bool(errors(second))
        if truth["cause"] != "none":
            faulty += 1
            seen += bool({truth["cause"], *truth.get("also_accept", [])} & set(found))
        says = ", ".join(found) if truth["cause"] != "none" else "-"
        row = f"{case.name} | {truth['cause']} | {says} | {ended(first)} | {', '.join(errors(second))} | {first.cpu:.1f}"
        lines.append(f"| {row} |")
        print(row, flush=True)
    costs.sort()
    if costs:
        middle, most = costs[len(costs) // 2], costs[-1]
        lines.append(
            f"\n{seen} of {faulty} faults seen before the run; {false} of {healthy} right programs with a finding; "
        )
        lines[-1] += f"CPU {middle:.1f} s in the middle, {most:.1f} s at most."
    return lines


def programs(paths: list[Path]) -> list[str]:
    lines = ["| program | steps | ended | found | CPU s |", "| --- | --- | --- | --- | --- |"]
    for path in paths:
        folder = str(path.resolve().parent)
        run = run_dry(Command(str(path.resolve()), (), folder), folder)
        lines.append(
            f"| {path.name} | {run.end.get('steps', 0)} | {ended(run)} | {', '.join(errors(run))} | {run.cpu:.1f} |"
        )
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="?", type=Path, default=HERE / "cases")
    parser.add_argument("--only", default="")
    parser.add_argument("--programs", nargs="+", type=Path)
    parser.add_argument("-o", "--out", type=Path)
    args = parser.parse_args()
    lines = programs(args.programs) if args.programs else cases(args.cases, args.only)
    if args.out:
        args.out.write_text("\n".join(lines) + "\n")
    print(lines[-1])


if __name__ == "__main__":
    main()

"""What a dry run sees before anything was trained, and what it costs: tables in Markdown.

    python benchmarks/dry.py [CASES] [--only PREFIX] [-o FILE]
    python benchmarks/dry.py --programs LINE… [-o FILE]

CASES is a folder of cases (this folder's by default), each with ``buggy.py``, ``fixed.py`` and ``case.toml``. Every program
is run dry by itself, without the rules that read code; whatever is found in a fixed or a healthy program is false.
``--programs`` runs other scripts or launch lines, such as "python train.py --lr 1", and says how far each went.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import tomllib

from firstcause.check.dry.commands import Command, commands
from firstcause.check.dry.process import Dry, run_dry

HERE = Path(__file__).parent


@dataclass
class Totals:
    """By cause: how many programs, and of how many the cause is found or suggested; and what else is to be looked at."""

    causes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    healthy: int = 0
    false: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    early: list[str] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)

    def faulty(self, name: str, causes: set[str], cause: str, run: Dry) -> None:
        count = self.causes[cause]
        count[0] += 1
        sure, maybe = slugs(run, sure=True), slugs(run, sure=False)
        count[1] += bool(causes & sure)
        count[2] += bool(causes & maybe) and not causes & sure
        self.others += [f"| {name} | {cause} | {slug} |" for slug in sorted(sure - causes)]
        self.costs.append(run.cpu)

    def right(self, name: str, run: Dry) -> None:
        self.healthy += 1
        self.false += [f"| {name} | {slug} |" for slug in sorted(slugs(run, sure=True))]
        if run.end["outcome"] != "finished":
            self.early.append(f"| {name} | {run.end.get('steps', 0)} | {ended(run)} |")
        self.costs.append(run.cpu)

    def lines(self) -> list[str]:
        rows = sorted(self.causes.items(), key=lambda row: (-row[1][1] / row[1][0], -row[1][2], row[0]))
        programs, found, hinted = (sum(count[i] for _, count in rows) for i in range(3))
        unseen = [f"{cause} ({count[0]})" for cause, count in rows if not any(count[1:])]
        costs = sorted(self.costs)
        return [
            f"{found} of {programs} faults found before the run, {hinted} more suggested; {len(self.false)} findings in "
            f"{self.healthy} right programs; CPU {costs[len(costs) // 2]:.1f} s in the middle, {costs[-1]:.1f} s at most.",
            "",
            "| cause | programs | found | suggested |",
            "| --- | --- | --- | --- |",
            *(
                f"| {cause} | {count[0]} | {count[1]} | {count[2]} |"
                for cause, count in rows
                if any(count[1:])
            ),
            "",
            f"Not seen: {', '.join(unseen) or 'none'}.",
            *_table("Found in a right program", "program | found", self.false),
            *_table("Other findings in faulty programs", "program | cause | found", self.others),
            *_table("Right programs that were not run to their end", "program | steps | ended", self.early),
        ]


def _table(title: str, columns: str, rows: list[str]) -> list[str]:
    if not rows:
        return []
    return ["", f"{title}:", "", f"| {columns} |", "|" + " --- |" * (columns.count("|") + 1), *rows]


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


def slugs(run: Dry, sure: bool) -> set[str]:
    return {f["slug"] for f in run.findings if (f["category"] != "suggestion") == sure}


def ended(run: Dry) -> str:
    why = (
        f" (line {run.end['place'][1]}: {run.end['why'][:90]})"
        if run.end["outcome"] in ("error", "lost")
        else ""
    )
    return run.end["outcome"] + why


def cases(folder: Path, only: str) -> list[str]:
    totals = Totals()
    for case in sorted(folder.glob(f"{only}*/")):
        if not (case / "case.toml").exists() or not (case / "buggy.py").exists():
            continue
        truth = tomllib.loads((case / "case.toml").read_text())
        beside = [case / name for name in truth.get("extra_files", [])]
        run = run_copy(case / "buggy.py", beside)
        if truth["cause"] == "none":
            totals.right(case.name, run)
        else:
            totals.faulty(case.name, {truth["cause"], *truth.get("also_accept", [])}, truth["cause"], run)
            totals.right(f"{case.name}, fixed", run_copy(case / "fixed.py", beside))
        print(f"{case.name}: {', '.join(sorted(slugs(run, True))) or '-'}; {ended(run)}", flush=True)
    return totals.lines() if totals.costs else ["no cases"]


def programs(launches: list[str]) -> list[str]:
    lines = ["| program | steps | ended | found | CPU s |", "| --- | --- | --- | --- | --- |"]
    for launch in launches:
        command = commands(os.getcwd(), [], launch)[0]
        run = run_dry(command, os.path.dirname(command.script))
        found = ", ".join(sorted(slugs(run, True))) or "-"
        lines.append(f"| {launch} | {run.end.get('steps', 0)} | {ended(run)} | {found} | {run.cpu:.1f} |")
        print(lines[-1], *(f"    {note}" for note in run.notes), sep="\n", flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="?", type=Path, default=HERE / "cases")
    parser.add_argument("--only", default="")
    parser.add_argument("--programs", nargs="+", metavar="LINE")
    parser.add_argument("-o", "--out", type=Path)
    args = parser.parse_args()
    lines = programs(args.programs) if args.programs else cases(args.cases, args.only)
    if args.out:
        args.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

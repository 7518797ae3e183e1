"""Faults put into healthy programs: which are noticed, and which are named.

    python benchmarks/silent_mutants.py --measure            run all mutants and 3 seeds of each program, unobserved
    python benchmarks/silent_mutants.py --judge [--most N]   diagnose the measurable ones that were not judged yet
    python benchmarks/silent_mutants.py --judge --again      those once more whose answer was wrong or none
    python benchmarks/silent_mutants.py --table              what is known so far

A mutant is measurable where its final loss lies beyond 3 standard deviations of 3 healthy seeds, fixed before any is
judged; the others are listed. Each answer is written to ``results/silent-mutants.json`` at once: the work can be
broken off and taken up again. Needs Python 3.11 and its standard library; firstcause and torch beside each other.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib
from one_by_one import environment

HERE = Path(__file__).resolve().parent
PROGRAMS, RESULTS = HERE / "silent", HERE / "results" / "silent-mutants.json"
TOOL = shutil.which("firstcause") or "firstcause"
# A fault is put into so many of the programs that have a place for it, the first ones after its own number.
EACH, SEEDS, BEYOND = 3, 3, 3.0
# Healthy seeds may agree by chance: nothing nearer than this share of their mean is measurable.
FLOOR = 0.02
MISSED = ("wrong", "not named")


@dataclass(frozen=True)
class Fault:
    """Changes of one text, all needed; ``causes`` are the slugs that name it."""

    name: str
    causes: tuple[str, ...]
    changes: tuple[tuple[str, str], ...]

    def put_into(self, text: str) -> str | None:
        """The program with the fault; None where it has no place for it, or more than one."""
        for old, new in self.changes:
            if text.count(old) != 1:
                return None
            text = text.replace(old, new)
        return text


def faults() -> list[Fault]:
    """Those of ``silent/faults.toml``."""
    found = tomllib.loads((PROGRAMS / "faults.toml").read_text())["fault"]
    return [Fault(f["name"], tuple(f["causes"]), tuple((a, b) for a, b in f["changes"])) for f in found]


def mutants() -> dict[str, tuple[Fault, str, str]]:
    """By name: the fault, the program, and its text with the fault."""
    texts = {p.stem: p.read_text() for p in sorted(PROGRAMS.glob("*.py"))}
    found = {}
    for number, one in enumerate(faults()):
        fits = [(n, t) for n, text in texts.items() if (t := one.put_into(text)) is not None and t != text]
        if not fits:
            raise SystemExit(f"no program has a place for the fault {one.name!r}")
        start = number % len(fits)
        for name, text in (fits[start:] + fits[:start])[:EACH]:
            found[f"{name}: {one.name}"] = (one, name, text)
    return found


def final(text: str, seed: int) -> float | None:
    """The last number that a program prints; None where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(text)
        env = environment(TOOL, SEED=str(seed))
        command = ["python", "train.py"]
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
        )
    words = done.stdout.split()
    return float(words[-1]) if done.returncode == 0 and words else None


def measure(known: dict[str, Any], jobs: int) -> None:
    """The healthy seeds of each program, then each mutant's figure, and whether it lies beyond their noise."""
    healthy, made = known.setdefault("healthy", {}), known.setdefault("mutants", {})
    with ThreadPoolExecutor(jobs) as pool:
        new = [p for p in sorted(PROGRAMS.glob("*.py")) if p.stem not in healthy]
        figures = pool.map(lambda work: final(*work), [(p.read_text(), s) for p in new for s in range(SEEDS)])
        for path in new:
            healthy[path.stem] = [next(figures) for _ in range(SEEDS)]
            keep(known)
        waiting = {name: one for name, one in mutants().items() if name not in made}
        figures = pool.map(lambda one: final(one[2], 0), waiting.values())
        for (name, (one, program, _)), figure in zip(waiting.items(), figures, strict=True):
            seeds = healthy[program]
            middle = statistics.mean(seeds)
            bound = max(BEYOND * statistics.stdev(seeds), FLOOR * abs(middle))
            far = figure is not None and (not math.isfinite(figure) or abs(figure - middle) > bound)
            made[name] = {"causes": one.causes, "final": figure, "measurable": far}
            keep(known)


def judge(known: dict[str, Any], most: int, jobs: int, again: bool) -> None:
    """Diagnose what is measurable and has no answer yet, or where asked no right one."""
    everything = mutants()
    waiting = [
        n
        for n, m in known.get("mutants", {}).items()
        if m["measurable"] and n in everything and (m.get("verdict") in MISSED if again else "got" not in m)
    ]
    with ThreadPoolExecutor(jobs) as pool:
        asked = {pool.submit(answer_to, *everything[name]): name for name in spread(waiting)[:most]}
        for done in as_completed(asked):
            found, name = done.result(), asked[done]
            known["mutants"][name] |= found
            keep(known)
            print(f"{name:52s} {found['verdict']:10s} {found['got'] or found['status']}", flush=True)


def answer_to(fault: Fault, _: str, text: str) -> dict[str, Any]:
    """What firstcause establishes of a mutant: its cause, the verdict on it, and the seconds that it took."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temp:
        folder, answer = Path(temp) / "work", Path(temp) / "answer.json"
        folder.mkdir()
        (folder / "train.py").write_text(text)
        call([TOOL, "run", "-q", "-o", "run", "python", "train.py"], folder)
        call([TOOL, "diagnose", "run", "--json", str(answer), "--yes", "--budget", "120s"], folder)
        data = json.loads(answer.read_text()) if answer.exists() else {"status": "error"}
    got = data.get("cause") if data["status"] == "established" else None
    return {
        "got": got,
        "status": data["status"],
        "verdict": "right" if got in fault.causes else "wrong" if got else "not named",
        "seconds": round(time.monotonic() - began, 1),
    }


def spread(names: list[str]) -> list[str]:
    """The first mutant of each fault before the second one of any."""
    seen: dict[str, int] = {}
    order = []
    for name in names:
        own = name.partition(": ")[2]
        order.append((seen.setdefault(own, 0), name))
        seen[own] += 1
    return [name for _, name in sorted(order, key=lambda o: o[0])]


def call(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, env=environment(TOOL), capture_output=True, timeout=600, check=False)


def keep(known: dict[str, Any]) -> None:
    known["totals"] = totals(known)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.with_suffix(".new").write_text(json.dumps(known, indent=1) + "\n")
    RESULTS.with_suffix(".new").replace(RESULTS)


def totals(known: dict[str, Any]) -> dict[str, Any]:
    made = known.get("mutants", {})
    judged = [m for m in made.values() if "got" in m]
    verdicts = {v: sum(m["verdict"] == v for m in judged) for v in ("right", "wrong", "not named")}
    return {
        "faults": len({n.partition(": ")[2] for n in made}),
        "mutants": len(made),
        "measurable": sum(m["measurable"] for m in made.values()),
        "excluded": sorted(n for n, m in made.items() if not m["measurable"]),
        "judged": len(judged),
        **verdicts,
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument(
        "--again",
        action="store_true",
        help="judge once more what was wrong or not named, in place of the new",
    )
    parser.add_argument("--most", type=int, default=1000, metavar="N", help="judge no more than N of them")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many programs at a time")
    parser.add_argument(
        "--table", action="store_true", help="the fault, the program and the verdict, a line each"
    )
    args = parser.parse_args()
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if args.measure:
        measure(known, args.jobs)
    if args.judge:
        judge(known, args.most, args.jobs, args.again)
    if args.table:
        for name, m in sorted(known.get("mutants", {}).items()):
            verdict = m.get("verdict", "-" if m["measurable"] else "not measurable")
            print(f"{name:52s} {m['final'] or math.nan:9.4g} {verdict:14s} {m.get('got') or ''}")
    print(json.dumps(totals(known)))
    return int(totals(known)["wrong"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())

"""Check whether a training goes on after a break as if there had been none, and name what its checkpoint leaves out.

The command runs four times in copies of this folder: straight twice, as the control; then until after a save near its
middle, where it is ended as by a crash; then once more, with the words of --resume behind it where it needs some.
"""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any

from firstcause.cli.budget import add_budget
from firstcause.cli.output import write_json
from firstcause.cli.progress import progress
from firstcause.lab.follow.resumed import Missing, Resumption, check
from firstcause.schema import to_plain

PARTS = {
    "optimizer": "the optimizer's state",
    "scheduler": "the schedule's state",
    "scaler": "the gradient scaler's state",
    "average": "the averaged weights",
    "counter": "a counter",
    "generators": "the state of a random generator",
    "position": "the position in the data",
}

RUNS = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--resume",
        default="",
        metavar="WORDS",
        help="what stands behind the command when it resumes, such as '--resume last.pt' (default: nothing)",
    )
    parser.add_argument(
        "--at",
        type=int,
        metavar="STEP",
        help="break off after so many optimizer steps (default: a save near the middle)",
    )
    add_budget(parser, 600, "at most this long for one of the four runs")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")


def main(args: argparse.Namespace) -> int:
    with progress("resume-check", RUNS * args.budget):
        found = check(os.getcwd(), args.command, shlex.split(args.resume), args.budget, args.at)
    if args.json:
        write_json(args.json, to_json(found))
    if args.json != "-":
        print("\n".join(told(found)))
    return 0 if not found.why and not found.missing else 1


def told(found: Resumption) -> list[str]:
    """The result in lines: what was compared, what is missing with its cause, and what to do next."""
    if found.why:
        return [
            f"not established: {found.why}",
            "next: a save in the middle, and --resume with what the program needs",
        ]
    lines = []
    if not found.control:
        lines.append("two straight runs differ from each other: only the state at the load was compared")
        lines.append("next: firstcause determinism shows where they part")
    if not found.missing:
        return [
            *lines,
            f"saved at step {found.saved_at}: {found.equal} of {found.compared} steps after it are bitwise equal",
        ]
    lines.append(
        f"saved at step {found.saved_at} of {found.steps}: equal for {found.equal} of {found.compared} steps after it"
    )
    lines += [f"  missing: {_part(m)}" for m in found.missing]
    return [
        *lines,
        "next: put it into the file that is saved, and load it; a start from weights alone on purpose needs nothing",
    ]


def _part(missing: Missing) -> str:
    name = missing.name.partition(" ")[2] or missing.name
    own = "" if name == missing.kind or missing.kind == "position" else f", {name}"
    cause = f" [{missing.cause}]" if missing.cause else ""
    return f"{PARTS[missing.kind]}{own}{_values(missing)}{cause}"


def _values(missing: Missing) -> str:
    if missing.kind == "optimizer":
        return "" if missing.resumed else " (empty after the load)"
    if missing.kind == "position":
        return f": {missing.straight} steps are left without the break, {missing.resumed} were taken after it"
    if missing.kind in ("generators", "average"):
        return ""
    return f": {missing.straight} without the break, {missing.resumed} after it"


def to_json(found: Resumption) -> dict[str, Any]:
    """The result as plain values, with the catalogue's slug of each missing part."""
    plain: dict[str, Any] = to_plain(found)
    return plain | {"causes": sorted({m.cause for m in found.missing if m.cause})}

"""Run a command without each of its components in turn, and say which of them carries what goes wrong.

Activation checkpointing, DistributedDataParallel, autocast, torch.compile (off, and its backends eager and aot_eager),
batches of varying sizes, and loader workers: those that the command uses are switched off one at a time, each in a fresh
copy of this folder. What goes wrong is an exception, a value that is not finite, or memory that grows.
"""

from __future__ import annotations

import argparse
import os

from firstcause.cli.budget import add_budget
from firstcause.cli.output import write_json
from firstcause.cli.progress import progress
from firstcause.lab.without import COMPONENTS
from firstcause.lab.without.asked import Arm, Bisection, Seen, bisect
from firstcause.report.plain import cropped, one_line
from firstcause.schema import to_plain

# A message is shown up to so many columns.
MOST = 120


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_budget(parser, 600, "at most this long in all")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")


def main(args: argparse.Namespace) -> int:
    with progress("bisect", args.budget):
        found = bisect(os.getcwd(), args.command, args.budget)
    if args.json:
        write_json(args.json, to_plain(found) | {"carriers": list(found.carriers)})
    if args.json != "-":
        print("\n".join(told(found)))
    return 3 if found.why else 0


def told(found: Bisection) -> list[str]:
    """The result in lines: a row for each run, and which component carries the symptom."""
    if found.why:
        return [
            f"not established: {found.why}",
            "next: firstcause run COMMAND, then firstcause diagnose last",
        ]
    rows = [("as it is", _seen(found.seen)), *((_name(a), _told(a)) for a in found.arms)]
    width = max(len(name) for name, _ in rows)
    return [*(f"{name:<{width}}  {text}" for name, text in rows), *_verdict(found)]


def _name(arm: Arm) -> str:
    if arm.component == "all":
        return "all of them off"
    word = COMPONENTS[arm.component][0]
    return f"{word} off" if arm.level == "off" else f"{word}, backend {arm.level}"


def _seen(seen: Seen) -> str:
    if seen.kind:
        return f"{cropped(one_line(seen.symptom), MOST)}, after {seen.steps} steps"
    return seen.why or f"{seen.steps} steps without it"


def _told(arm: Arm) -> str:
    return f"gone: {_seen(arm.seen)}" if arm.gone else _seen(arm.seen)


def _verdict(found: Bisection) -> list[str]:
    carriers = found.carriers
    if not carriers:
        together = any(a.component == "all" and a.gone for a in found.arms)
        if together:
            return [
                "",
                "No component carries it alone, and with all of them off it is gone: two carry it together.",
            ]
        names = ", ".join(COMPONENTS[n][0] for n in found.used)
        return ["", f"None of the components carries it ({names}): it is in the training itself."]
    lines = ["", f"It is carried by {' and by '.join(COMPONENTS[n][0] for n in carriers)}."]
    stays = next(
        (a for a in found.arms if a.component == "compilation" and a.level != "off" and not a.gone), None
    )
    if "compilation" in carriers:
        stage = f"from the backend {stays.level} on" if stays is not None else "by the inductor backend alone"
        lines.append(f"Of torch.compile, {stage}.")
    return [*lines, "next: firstcause run COMMAND, then firstcause diagnose last, for the cause in it"]

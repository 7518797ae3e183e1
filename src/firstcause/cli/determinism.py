"""Run a command twice, and say at which step and op the runs part, and which source of chance parts them.

Each run is a fresh process in a copy of this folder. Where the runs part, each source of chance is held still in turn.
"""

from __future__ import annotations

import argparse
import os

from firstcause.cli.budget import add_budget
from firstcause.cli.output import write_json
from firstcause.cli.progress import progress
from firstcause.lab.follow.unequal import WORDS, Determinism, check
from firstcause.schema import to_plain

# Two, and one more for each source of chance, and all of them.
RUNS = 2 + len(WORDS) + 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_budget(parser, 600, "at most this long for one run")
    parser.add_argument("--json", metavar="FILE", help="write the result as JSON")


def main(args: argparse.Namespace) -> int:
    with progress("determinism", RUNS * args.budget):
        found = check(os.getcwd(), args.command, args.budget)
    if args.json:
        write_json(args.json, to_plain(found) | {"cause": "seed-incomplete" if found.sources else None})
    if args.json != "-":
        print("\n".join(told(found)))
    return 0 if found.equal else 1


def told(found: Determinism) -> list[str]:
    """The result in lines: where the runs part, at which op, and what keeps them together."""
    if found.why:
        return [f"not established: {found.why}"]
    if found.step is None:
        return [f"two runs are equal: weights, batches and gradients of all {found.steps} steps, bit for bit"]
    lines = [f"two runs part at step {found.step} of {found.steps}: they do not have the same {found.part}"]
    if found.op is not None:
        name, site, *_ = found.op
        lines.append(
            f"  first op that differs: {name} at {os.path.basename(site['file'])}:{site['line']} `{site['text']}`"
        )
    if len(found.sources) == len(WORDS):
        return [*lines, "  they agree with all sources of chance held still together, and with none alone"]
    for source in found.sources:
        lines.append(
            f"  seed-incomplete: {WORDS[source]}; with it held still, the runs agree beyond that step"
        )
    if not found.sources:
        lines.append(
            "  no source of chance that can be held still explains it: an op that is not deterministic, or threads"
        )
    return [*lines, "next: seed what is named at the program's start"]

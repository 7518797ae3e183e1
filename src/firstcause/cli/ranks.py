"""Say where each rank of a run stands: who waits for whom, which one left the others first, which one is slow.

With --yes the ranks are run again in a confined copy, and watched for what a run leaves no trace of: parameters that
differ, samples that repeat, an order that is the same in every epoch, files that several of them write.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys

from firstcause.cli.budget import add_budget
from firstcause.cli.output import look, write_json
from firstcause.cli.progress import progress
from firstcause.errors import RecordError
from firstcause.lab.counterfactual import Lab
from firstcause.record import standing
from firstcause.record.folder import RunFolder, find_run
from firstcause.record.supervise import afterwards
from firstcause.report.ranks_page import ranks_to_json, render_ranks
from firstcause.schema import Hypothesis, Symptom


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", nargs="?", default="last", help="a run's folder or id (default: the last one)")
    parser.add_argument(
        "--yes", action="store_true", help="run all ranks again in a confined copy, and watch them"
    )
    add_budget(parser, 120, "for that at most this long")
    parser.add_argument("--json", metavar="FILE", help='write it as JSON ("-" for standard output)')


def main(args: argparse.Namespace) -> int:
    """0 where nothing is seen, 1 where something is."""
    folder = _folder(args.run)
    seen, cwd = standing.overview(folder.path), folder.run().folder
    if not seen.standings:
        raise RecordError(
            "no-ranks",
            f"no process of {folder.path} joined a process group",
            "record a program that calls torch.distributed.init_process_group",
        )
    told = []
    if args.yes:
        with progress("ranks", args.budget):
            told = _watched(folder, args.budget)
    answer = ranks_to_json(seen, told, cwd)
    if args.json:
        write_json(args.json, answer)
    if args.json != "-":
        following = f"firstcause diagnose {shlex.quote(args.run)}" if answer["seen"] else ""
        color, width = look(sys.stdout)
        render_ranks(seen, told, sys.stdout, cwd, color, width, following)
    return 1 if answer["seen"] else 0


def _folder(name: str) -> RunFolder:
    """The run, also one that is still recorded: that its ranks stand still is what one wants to see."""
    try:
        return afterwards.found(name, os.getcwd())
    except RecordError as error:
        if error.slug != "run-unfinished":
            raise
        return find_run(name, os.getcwd())


def _watched(folder: RunFolder, budget: float) -> list[str]:
    from firstcause.specialists.distributed_training_strategies import SPECIALIST
    from firstcause.specialists.examination import Examination
    from firstcause.specialists.ranked import as_audit
    from firstcause.specialists.specialist import SilentCause

    lab = Lab(folder, {}, budget)
    found = as_audit(lab.ranks)
    examination = Examination(folder, folder.run(), Symptom("invariant", ""), None, lab)
    silent = [m for m in SPECIALIST.modules if isinstance(m, SilentCause)]
    told = []
    for module in silent:
        text = module.seen(found, examination)
        if text is not None:
            site = SPECIALIST.settle(Hypothesis(module.CAUSE, None, 0), examination).site
            told.append(f"{text} ({site})" if site is not None else text)
    return told or ([found.why] if found.why else [])

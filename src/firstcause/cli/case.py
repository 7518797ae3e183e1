"""Approve, apply and verify a fix; see where each case stands.

A case is a failure being worked on, below .firstcause/cases. No patch reaches a file before a person
has approved it at a terminal, for this diagnosis and this diff, once.
"""

from __future__ import annotations

import argparse
import importlib
from typing import NamedTuple

from firstcause.cli.budget import add_budget


class Step(NamedTuple):
    """A step's one-line help and the module of ``cli.cases`` that does it."""

    help: str
    module: str


STEPS = {
    "list": Step("List the cases with their states.", "listing"),
    "open": Step(
        "Begin a case with a text, before there is a run; a run that shows the same gains it.", "open"
    ),
    "show": Step("Show where a case stands, with its diagnosis.", "show"),
    "approve": Step("Approve the proposed fix; needs a person at a terminal.", "approve"),
    "reject": Step("Send a proposed fix back; the reason becomes evidence.", "reject"),
    "apply": Step("Apply the approved patch to the files it was shown for.", "apply"),
    "verify": Step("Run the program again and see whether the symptom is gone.", "verify"),
    "try": Step("Try the proposed fix in a throw-away copy.", "attempt"),
    "close": Step("Close a case with its lesson and write its retrospective.", "close"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    for name, step in STEPS.items():
        one = steps.add_parser(name, help=step.help, description=step.help, allow_abbrev=False)
        if name == "list":
            continue
        if name == "open":
            one.add_argument("case", nargs="?", metavar="FILE", help="the text; - or none is standard input")
        else:
            one.add_argument(
                "case", nargs="?", metavar="CASE", help="id or its beginning; the newest open one"
            )
        if name in ("open", "show", "verify", "try"):
            one.add_argument(
                "--json", metavar="FILE", help='write the result as JSON; "-" is standard output'
            )
        if name in ("verify", "try"):
            add_budget(one, 600)
        if name == "reject":
            one.add_argument("--because", required=True, metavar="TEXT", help="the reason, kept as evidence")
        if name == "close":
            one.add_argument("--lesson", required=True, metavar="TEXT", help="what this case taught")


def main(args: argparse.Namespace) -> int:
    module = importlib.import_module(f"firstcause.cli.cases.{STEPS[args.step].module}")
    code: int = module.main(args)
    return code

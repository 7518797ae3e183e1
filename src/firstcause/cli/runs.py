"""List, show, remove and pack what was recorded.

Runs lie below .firstcause/runs. Of those beyond keep-runs and keep-size ([tool.firstcause] in pyproject.toml, or the
options of `firstcause run`) the oldest healthy ones go first; one that a case points to never goes by itself.
"""

from __future__ import annotations

import argparse
import importlib

STEPS = {
    "list": ("List the runs with their sizes and how they ended.", "listing"),
    "show": ("Show one run: what was run, how it ended, what is kept of it.", "show"),
    "rm": ("Remove runs; one that a case points to only with --force.", "rm"),
    "pack": ("Write a run into one archive, with a list of what was left out.", "pack"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    steps = parser.add_subparsers(dest="step", metavar="STEP", required=True)
    for name, (text, _) in STEPS.items():
        one = steps.add_parser(name, help=text, description=text, allow_abbrev=False)
        if name == "rm":
            one.add_argument("runs", nargs="+", metavar="RUN", help="ids or their beginnings, or last")
            one.add_argument("-f", "--force", action="store_true", help="also those that a case points to")
        elif name != "list":
            one.add_argument(
                "run", nargs="?", default="last", metavar="RUN", help="a run's folder or id; the last one"
            )
        if name == "pack":
            one.add_argument(
                "-o", "--output", metavar="FILE", help=".tar.gz or .zip (default: the run's id, .tar.gz)"
            )
            one.add_argument(
                "--without",
                action="append",
                default=[],
                choices=["data", "sources"],
                help="leave out batches and weights (data) or the text of your files (sources)",
            )
            one.add_argument("-f", "--force", action="store_true", help="replace FILE")
        one.add_argument("--json", metavar="FILE", help='write the result as JSON; "-" is standard output')


def main(args: argparse.Namespace) -> int:
    module = importlib.import_module(f"firstcause.cli.recorded.{STEPS[args.step][1]}")
    code: int = module.main(args)
    return code

"""Follow one value of your program through the failing step: its shape, dtype, device and range at each line of its way.

EXPR is a name with attributes and subscripts as the program spells them, such as loss, self.hidden or batch['x']; with
train.py:12:x only the function around that line is meant.
"""

from __future__ import annotations

import argparse
import os
import sys

from firstcause.cli.budget import add_budget
from firstcause.cli.output import look, write_json
from firstcause.lab.expression.asked import follow
from firstcause.lab.expression.spelled import spelled
from firstcause.record.supervise import afterwards
from firstcause.report.way_page import render_way
from firstcause.schema import to_plain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="a run's folder or id, or last")
    parser.add_argument("expression", metavar="EXPR", help="the value to follow: EXPR or FILE:LINE:EXPR")
    parser.add_argument(
        "--step",
        type=int,
        metavar="N",
        help="follow it through step N of the program, the first being 0 (default: the step that failed, or else step 0)",
    )
    add_budget(parser, 120)
    parser.add_argument("--json", metavar="FILE", help="write the rows as JSON")


def main(args: argparse.Namespace) -> int:
    meant = spelled(args.expression)
    way = follow(afterwards.found(args.run, os.getcwd()), meant, args.budget, args.step)
    if args.json:
        write_json(args.json, to_plain(way))
    if args.json != "-":
        color, width = look(sys.stdout)
        render_way(way, sys.stdout, os.getcwd(), color=color, width=width)
    return 0

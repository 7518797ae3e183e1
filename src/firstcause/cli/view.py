"""Show runs and cases in the browser, live, at an address of this machine that is printed with its token.

Started at a terminal, the page may approve and reject a fix as `firstcause case` does; started without one, by a
program, it only shows.
"""

from __future__ import annotations

import argparse
import os
import sys

from firstcause.cli.extra import need


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", metavar="RUN|CASE", help="what is shown first (default: the list)")
    parser.add_argument("--port", type=int, default=0, metavar="PORT", help="default: one that is free")


def main(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    need("the page", "numpy", "starlette", "uvicorn")
    from firstcause.cli.shown import shown
    from firstcause.view.project import Project
    from firstcause.view.server import serve

    extra, start = shown(args.what, os.getcwd()) if args.what else (None, "")
    serve(Project(os.getcwd(), extra), _person(), args.port, start, _tell)
    return 0


def _person() -> str:
    """Who may approve: the person at this terminal; empty where there is none."""
    from firstcause.cli.cases.place import person

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return ""
    return f"{person()} on the page, started at {os.ttyname(sys.stdin.fileno())}"


def _tell(address: str) -> None:
    print(address, flush=True)
    print("Ctrl-C ends it", file=sys.stderr, flush=True)

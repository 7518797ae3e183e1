"""Follow a run in the terminal while it is recorded: step, loss, gradient norm and pace, once a second."""

from __future__ import annotations

import argparse
import os
import sys
import time
from array import array
from typing import TYPE_CHECKING

from firstcause.cli.extra import need
from firstcause.record.folder import RunFolder, find_run
from firstcause.report.run_line import run_line
from firstcause.report.watch_line import Seen, watch_lines

if TYPE_CHECKING:
    from firstcause.view.following import Follower

EVERY = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="?", default="last", metavar="RUN", help="a run's folder or id; the last one"
    )


def main(args: argparse.Namespace) -> int:
    """Show a line a process until the run has ended; 0 without a symptom, 1 with one."""
    need("watch", "numpy")
    from firstcause.view.following import Follower, journals_of

    folder = find_run(args.run, os.getcwd())
    followers: dict[str, Follower] = {}
    drawn = 0
    while True:
        # Asked before reading: what is written until the end is then read.
        still = folder.is_held()
        for path in journals_of(folder):
            followers.setdefault(path, Follower(path)).advance()
        lines = watch_lines([_seen(f) for f in followers.values()])
        if sys.stdout.isatty():
            # Back over the lines of before, each cleared.
            sys.stdout.write(f"\x1b[{drawn}A" if drawn else "")
            sys.stdout.writelines(f"\x1b[2K{line}\n" for line in lines)
            drawn = len(lines)
        elif not still:
            sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
        if not still:
            return _end(folder)
        time.sleep(EVERY)


def _seen(follower: Follower) -> Seen:
    track = max(follower.tracks.values(), key=lambda t: t.last_step, default=None)
    if track is None or not track.rows:
        return Seen(follower.name, -1, {})
    values = array("f", track.last_row)
    return Seen(follower.name, track.last_step, dict(zip(track.columns, values, strict=True)))


def _end(folder: RunFolder) -> int:
    run = folder.run()
    print(run_line(run, folder.path))
    return 1 if run.symptoms else 0

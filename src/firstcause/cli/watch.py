"""Follow a run in the terminal while it is recorded: step, loss, gradient norm, pace and time left, once a second.

How many steps it is to take is known from --steps, or else from the last run of the same command that ended well.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from array import array
from typing import TYPE_CHECKING

from firstcause.cli.extra import need
from firstcause.record.blocks import journals_of
from firstcause.record.folder import RunFolder, find_run
from firstcause.record.kept_runs import listed
from firstcause.report.run_line import run_line
from firstcause.report.watch_line import Seen, watch_lines

if TYPE_CHECKING:
    from firstcause.view.following import Follower
    from firstcause.view.thinning import Thinned

EVERY = 1.0
# Steps, or intervals of them, that tell the pace of now.
LAST = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run", nargs="?", default="last", metavar="RUN", help="a run's folder or id; the last one"
    )
    parser.add_argument(
        "--steps", type=int, metavar="N", help="so many steps it takes in all, for the time left"
    )


def main(args: argparse.Namespace) -> int:
    """Show a line a process until the run has ended; 0 without a symptom, 1 with one."""
    need("watch", "numpy")
    from firstcause.view.following import Follower

    folder = find_run(args.run, os.getcwd())
    followers: dict[str, Follower] = {}
    drawn = 0
    steps = args.steps or (_steps_before(folder) if folder.is_held() else 0)
    while True:
        # Asked before reading: what is written until the end is then read.
        still = folder.is_held()
        for path in journals_of(folder):
            followers.setdefault(path, Follower(path)).advance()
        lines = watch_lines([_seen(f, steps if still else 0) for f in followers.values()])
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


def _steps_before(folder: RunFolder) -> int:
    """Steps that the last run of the same command took, if it ended well; 0 where there is none."""
    from firstcause.view.following import Follower

    run = folder.run()
    for one in reversed(listed(run.folder)):
        before = one.run
        if before is None or one.held or before.id == run.id or before.command != run.command:
            continue
        if before.exit_code != 0 or before.symptoms:
            continue
        followers = [Follower(path) for path in journals_of(find_run(before.id, run.folder))]
        for follower in followers:
            follower.advance()
        return 1 + max((t.last_step for f in followers for t in f.tracks.values()), default=-1)
    return 0


def _seen(follower: Follower, steps: int) -> Seen:
    track = max(follower.tracks.values(), key=lambda t: t.last_step, default=None)
    if track is None or not track.rows:
        return Seen(follower.name, -1, {})
    values = array("f", track.last_row)
    figures = dict(zip(track.columns, values, strict=True))
    return Seen(follower.name, track.last_step, figures, steps, _pace(track))


def _pace(track: Thinned) -> float:
    """Seconds of a step, in the middle of the last ones; 0 where they are not recorded."""
    if "seconds" not in track.columns:
        return 0.0
    _, low, high, _ = track.buckets()
    at = track.columns.index("seconds")
    last = [float(a + b) / 2 for a, b in zip(low[-LAST:, at], high[-LAST:, at], strict=True)]
    return (
        statistics.median(one for one in last if math.isfinite(one)) if any(map(math.isfinite, last)) else 0.0
    )


def _end(folder: RunFolder) -> int:
    run = folder.run()
    print(run_line(run, folder.path))
    return 1 if run.symptoms else 0

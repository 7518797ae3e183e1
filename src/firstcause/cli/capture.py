"""Look at a program that is already going: its processes, the line at which each one stands, who waits for whom, memory.

Nothing is sent to it and nothing ends: the kernel is asked, and py-spy for the stacks where it is installed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

from firstcause.cli.output import write_json
from firstcause.lab.going.capture import Captured, Standing, capture
from firstcause.lab.going.stacks import Frame
from firstcause.record.folder import relative
from firstcause.report.plain import cropped, one_line
from firstcause.schema import to_plain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pid", type=int, required=True, metavar="PID", help="the program's process, or its launcher's"
    )
    parser.add_argument("--stacks", action="store_true", help="print the whole stack of every thread")
    parser.add_argument("--json", metavar="FILE", help='write it as JSON ("-" for standard output)')


def main(args: argparse.Namespace) -> int:
    found = capture(args.pid)
    if args.json:
        write_json(args.json, to_plain(found))
    if args.json != "-":
        print("\n".join(_told(found, os.getcwd(), args.stacks)))
    return 0


def _told(found: Captured, cwd: str, whole: bool) -> Iterator[str]:
    for one in found.standing:
        memory = f"{one.process.resident / 1e6:.0f} MB, at most {one.process.highest / 1e6:.0f} MB"
        moves = "stands still" if one.still else "moves"
        yield f"{one.role} ({one.process.pid}) {moves}, {one.process.cpu:.1f} s of processor time, {memory}"
        yield f"  {cropped(one_line(one.process.command), 100)}"
        if one.line is not None:
            yield f"  at {_place(one.line, cwd)} in {one.line.function}{_within(one)}"
        if whole:
            yield from _stacks(one, cwd)
    yield from ("", *found.waits) if found.waits else ()
    yield from found.notes


def _within(one: Standing) -> str:
    if one.inside is None or one.inside == one.line:
        return ""
    return f", inside {one.inside.function} ({os.path.basename(one.inside.file)}:{one.inside.line})"


def _stacks(one: Standing, cwd: str) -> Iterator[str]:
    for name, frames in (("main thread", one.stacks.main), *one.stacks.others):
        yield f"  {name}"
        yield from (f"    {_place(f, cwd)} in {f.function}" for f in frames)


def _place(frame: Frame, cwd: str) -> str:
    return f"{relative(frame.file, cwd)}:{frame.line}"

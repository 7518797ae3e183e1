"""`firstcause case close`."""

from __future__ import annotations

import argparse

from firstcause.case import close
from firstcause.cli.cases.place import chosen


def main(args: argparse.Namespace) -> int:
    """Close a case and name its retrospective."""
    folder = chosen(args.case)
    close(folder, args.lesson)
    print(f"case {folder.id} is closed: {folder.file('retrospective.md')}")
    return 0

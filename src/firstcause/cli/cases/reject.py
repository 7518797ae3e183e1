"""`firstcause case reject`."""

from __future__ import annotations

import argparse

from firstcause.case import next_step, reject
from firstcause.cli.cases.place import chosen, person


def main(args: argparse.Namespace) -> int:
    """Send the proposed fix back with its reason; no strike."""
    folder = chosen(args.case)
    progress = reject(folder, args.because, person())
    print(f"case {folder.id} is back at its hypotheses; the reason is kept as evidence")
    print(f"next: {next_step(progress)}")
    return 0

"""The option --budget, in one form for every verb that has it."""

from __future__ import annotations

import argparse
import re


def add_budget(parser: argparse.ArgumentParser, default: int, what: str = "at most this long") -> None:
    """Let the parser take ``--budget TIME``; ``default`` is in seconds, ``what`` says what is bounded."""
    parser.add_argument(
        "--budget",
        type=seconds,
        default=float(default),
        metavar="TIME",
        help=f"{what}, such as 90s or 5m (default: {default}s)",
    )


def seconds(text: str) -> float:
    """A time such as 90, 90s or 5m in seconds, more than none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)?", text)
    found = float(match[1]) * {"s": 1, "m": 60, "h": 3600, None: 1}[match[2]] if match else 0.0
    if not 0.0 < found < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 90s or 5m")
    return found

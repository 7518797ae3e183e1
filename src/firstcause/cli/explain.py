"""Say what the catalogue knows about a cause.

Its mechanism, what confirms and refutes it, its fix, what the fix does not fix, and what is
often taken for it. Without a slug, list the causes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from firstcause.catalog import cause, load
from firstcause.cli.output import look
from firstcause.report.frame import body, heading, title
from firstcause.report.style import Style, style_on
from firstcause.schema import Cause


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("slug", nargs="?", metavar="SLUG", help="the cause, such as log-of-zero")


def main(args: argparse.Namespace) -> int:
    style = style_on(sys.stdout, *look(sys.stdout))
    lines = _page(cause(args.slug), style) if args.slug else _list(style)
    sys.stdout.writelines(line.rstrip() + "\n" for line in lines)
    return 0


def _list(style: Style) -> Iterator[str]:
    causes = load()
    width = max(map(len, causes))
    for slug, entry in causes.items():
        yield f"{style.bold(f'{slug:<{width}}')}  {entry.title}"


def _page(entry: Cause, style: Style) -> Iterator[str]:
    yield from title(entry.title, entry.slug, "cyan", style)
    parts: tuple[tuple[str, str | tuple[str, ...]], ...] = (
        ("Mechanism", entry.mechanism),
        ("Symptoms", entry.symptoms),
        ("Confirmed By", entry.confirms),
        ("Refuted By", entry.refutes),
        ("Experiment", entry.experiment),
        ("Fix", entry.fix),
        ("What The Fix Changes", entry.fix_changes),
        ("What The Fix Does NOT Fix", entry.fix_does_not),
        ("Often Taken For It", entry.decoys),
    )
    for name, text in parts:
        yield from heading(name, style)
        yield from body(text if isinstance(text, str) else "\n".join(f"- {item}" for item in text), style)
    yield from heading("Settled By", style)
    yield from body(f"{entry.specialist}; proof: {entry.proof}", style)

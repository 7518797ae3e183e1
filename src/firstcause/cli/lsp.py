"""Serve an editor over standard input and output: diagnostics, corrections, and each rule's page under the cursor.

An editor starts it; docs/places.md tells how. Nothing of the files is run.
"""

from __future__ import annotations

import argparse
import importlib.util

from firstcause.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    # Some editors add it to every server's command.
    parser.add_argument(
        "--stdio", action="store_true", help="talk over standard input and output, as it does anyway"
    )


def main(args: argparse.Namespace) -> int:
    """Serve until the editor leaves; 0."""
    if importlib.util.find_spec("pygls") is None:
        message = "the language server needs the package pygls, which is not installed"
        raise InputError("lsp-missing", message, "pip install 'firstcause[lsp]'")
    from firstcause.integrations.lsp.server import make

    make().start_io()
    return 0

"""Serve the gate's tools to a coding agent (Model Context Protocol), for the project in this folder.

Over standard input and output, which is how agents start it; with --http on the loopback interface, at an address with
a token. No tool approves a fix: a person does, at a terminal or in a form of the client.
"""

from __future__ import annotations

import argparse
import importlib.util
import os

from firstcause.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--folder", metavar="DIR", default=".", help="the project's folder (default: here)")
    parser.add_argument(
        "--http", metavar="PORT", type=int, help="serve HTTP on 127.0.0.1 at this port instead"
    )


def main(args: argparse.Namespace) -> int:
    if importlib.util.find_spec("mcp") is None:
        message = "the server needs the package mcp, which is not installed"
        raise InputError("mcp-missing", message, "pip install 'firstcause[mcp]'")
    if not os.path.isdir(args.folder):
        raise InputError(
            "folder-missing", f"{args.folder!r} is no folder", "give --folder the project's folder"
        )
    os.chdir(args.folder)
    from firstcause.mcp.server import serve_http, serve_stdio

    if args.http is None:
        serve_stdio()
    else:
        serve_http(args.http)
    return 0

"""Answer a coding agent that is about to change a file: a denial while a case is open without an approval.

Reads the call that the client describes on standard input, and answers in the client's own form. Only the files of the
case, its tests and its record are guarded, and only for some hours after its last step. With --settings, prints what
belongs into the client's settings.
"""

from __future__ import annotations

import argparse
import sys

from firstcause.hook.calls import CLIENTS
from firstcause.hook.guarding import HOURS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--client", choices=CLIENTS, default="", help="who asks (default: told by the call)")
    parser.add_argument(
        "--hours",
        type=float,
        default=HOURS,
        metavar="N",
        help=f"guard so long after a case's last step (default: {HOURS:g})",
    )
    parser.add_argument(
        "--settings", choices=("claude", "codex", "gemini", "copilot"), help="print a client's settings"
    )


def main(args: argparse.Namespace) -> int:
    if args.settings:
        import json

        from firstcause.hook.settings import SETTINGS

        path, content = SETTINGS[args.settings]
        print(f"put this into {path}:", file=sys.stderr)
        print(json.dumps(content, indent=2))
        return 0
    from firstcause.hook.asked import asked

    said = asked(sys.stdin.read(), args.client, args.hours)
    sys.stdout.write(said.out)
    sys.stderr.write(said.err)
    return said.code

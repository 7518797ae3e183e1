"""Show what was understood of a text that asks for a training or an inference.

FILE is a brief, a transcript (the assistant's words count once accepted), or a requirement file; - is standard input.
With --llm a language model may point at places that were missed; what it says counts only as far as the text bears
it out, and is marked. Nothing else uses the network. FIRSTCAUSE_LLM_KEY holds the server's key where it wants one.
Exit code 0, also where nothing was found; 2 for a file that cannot be read.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys

from firstcause.check.brief import Kind, Text, contradictions, read
from firstcause.cli.output import look, write_json
from firstcause.errors import InputError
from firstcause.report.brief_page import brief_page
from firstcause.report.style import style_on

# Longer than any brief; a log or a data file given by mistake is not read through.
LONGEST = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the text, or - for standard input")
    parser.add_argument("--json", metavar="FILE", help="write what was understood as JSON")
    parser.add_argument(
        "--llm", metavar="URL", help="ask a chat-completions server for what was missed (off by default)"
    )
    parser.add_argument(
        "--llm-model", metavar="NAME", default="default", help="the model that the server is asked for"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")


def main(args: argparse.Namespace) -> int:
    text = read_text(args.file)
    found = read([text])
    if args.llm:
        from firstcause.check.brief.proposals import propose

        found += propose([text], found, args.llm, args.llm_model, os.environ.get("FIRSTCAUSE_LLM_KEY", ""))
    against = contradictions(found)
    if args.json:
        plain = [dataclasses.asdict(i) for i in found]
        write_json(
            args.json,
            {
                "instructions": [i for i in plain if not i["derived"]],
                "derived": [i for i in plain if i["derived"]],
                "contradictions": against,
            },
        )
    if not args.quiet and args.json != "-":
        style = style_on(sys.stdout, *look(sys.stdout))
        sys.stdout.writelines(line.rstrip() + "\n" for line in brief_page(found, against, style))
    return 0


def read_text(path: str) -> Text:
    """The text of a file; raises ``InputError`` where it cannot be read, is no text, or is far too long."""
    name = os.path.basename(path)
    kind: Kind = "requirements" if name.startswith("requirements") and name.endswith(".txt") else "brief"
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(LONGEST + 1)
        else:
            with open(path, "rb") as file:
                raw = file.read(LONGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            "brief-unreadable",
            f"{path} cannot be read: {reason}",
            "name a text file, or - for standard input",
        ) from error
    if len(raw) > LONGEST:
        raise InputError(
            "brief-too-long",
            f"{path} has more than {LONGEST >> 20} MB, which no brief has",
            "give the text that states the wishes",
        )
    if b"\0" in raw and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(
            "brief-binary", f"{path} is no text: it has a zero byte at {raw.index(0)}", "give a text file"
        )
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return Text(raw.decode(encoding, errors="replace"), name if path != "-" else "standard input", kind)

"""Options that end at the first word which is none: the rest is the user's command, untouched."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def parse_before_command(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """Parse the options before the command; ``command`` in the result is the command's words.

    argparse.REMAINDER is not used: it takes "--" and unknown options differently in each version of Python.
    """
    parser.usage = f"{parser.prog} [options] COMMAND …"
    at = _command_start(parser, words)
    arguments = parser.parse_args(words[:at])
    command = list(words[at:])
    arguments.command = command[1:] if command[:1] == ["--"] else command
    instead = any(getattr(arguments, name) for name in getattr(arguments, "instead_of_command", ()))
    if not arguments.command and not instead:
        parser.error("a command is missing, such as: python train.py")
    return arguments


def _command_start(parser: argparse.ArgumentParser, words: Sequence[str]) -> int:
    takes_value = {
        option: action.nargs != 0
        for action in parser._actions  # argparse has no public way to ask which options take a value
        for option in action.option_strings
    }
    at = 0
    while at < len(words):
        word = words[at]
        if not word.startswith("-") or word in ("-", "--"):
            return at
        # "-oX" and "--out=X" carry their value; an unknown option is left for the parser to refuse.
        at += 2 if takes_value.get(word, False) else 1
    return min(at, len(words))

"""What an exception says, without the numbers and hints that differ from one run of the same failure to the next."""

from __future__ import annotations

import re

NUMBER = re.compile(r"0x[0-9a-f]+|-?\d+(\.\d+)?(e[-+]?\d+)?")
LONGEST = 400
# The first line of a traceback that is neither a frame nor the code in it.
HEAD = re.compile(r"([A-Za-z_][\w.]*)(?:: (.*))?$")


def plainly(message: str) -> str:
    """A message with every number replaced by N, on one line, cut to 400 characters."""
    # The hint at the end differs with anomaly mode; shapes and versions are numbers.
    said = NUMBER.sub("N", message.partition(" Hint: ")[0])[:LONGEST]
    return re.sub(r"N(, N)+", "N", re.sub(r"\s+", " ", said)).strip()


def last_exception(text: str) -> tuple[str, str, str]:
    """Type, plain message and first line of the exception that a process of Python's ended with, from what it said.

    Three empty texts where it ended with none.
    """
    lines = text.rpartition("Traceback (most recent call last):")[2].splitlines()
    for n, line in enumerate(lines):
        found = HEAD.match(line)
        if found is not None:
            message = "\n".join([found[2] or "", *lines[n + 1 :]])
            return found[1].rpartition(".")[2] or found[1], plainly(message), line
    return "", "", ""

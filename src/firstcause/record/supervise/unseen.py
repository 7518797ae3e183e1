"""Why no Python of a command could be observed, as far as the command and its script tell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

UNSEEN = "not observed: "
# A launcher is a few hundred lines; what is larger is a program.
MOST_BYTES = 200_000
# What keeps the start-up hook, which comes through PYTHONPATH, from a program, and what to do about it.
REASONS = (
    (
        re.compile(r"""\bPYTHONPATH=(?!"[^"]*\$\{?PYTHONPATH|\S*\$\{?PYTHONPATH)"""),
        "sets PYTHONPATH and drops what was in it",
        "keep it, PYTHONPATH=…:$PYTHONPATH, and run again",
    ),
    (
        re.compile(r"\bunset\s+(?:-v\s+)?PYTHONPATH\b|\benv\s+(?:-\S+\s+)*-u\s*PYTHONPATH\b"),
        "unsets PYTHONPATH, by which the program is reached",
        "leave it as it is, and run again",
    ),
    (
        re.compile(r"\benv\s+(?:-\S+\s+)*-(?:i\b|-ignore-environment\b|\s)|--export=NONE\b"),
        "clears the environment, by which the program is reached",
        "let it keep PYTHONPATH and FIRSTCAUSE_*, or run firstcause on the Python command within",
    ),
    (
        re.compile(r"\bpython[\d.]*\s+(?:-[a-zA-Z]\S*\s+)*-[a-zA-Z]*[IES]"),
        "starts Python without its environment or its site",
        "leave out -I, -E and -S, and run again",
    ),
    (
        re.compile(r"(?:^|[\s;&|(/])(?:sudo|docker|podman|singularity|apptainer|ssh|kubectl)\s"),
        "starts the program outside of this environment",
        "run firstcause there, on the Python command",
    ),
)


def unseen(command: Sequence[str], folder: str) -> str:
    """One line on what kept the program from being observed; empty where nothing tells.

    ``folder`` is where the command was started. Looked at are the command's own words, and the lines of a shell script in it.
    """
    for place, text in (("the command", " ".join(command)), *_lines(command, folder)):
        for form, what, then in REASONS:
            if form.search(text):
                return f"{UNSEEN}{place} {what}; {then}"
    return ""


def _lines(command: Sequence[str], folder: str) -> Iterator[tuple[str, str]]:
    """The lines of the shell script that the command starts, comments left out, each with its place."""
    for word in command[:3]:
        path = os.path.join(folder, word)
        if not os.path.isfile(path) or os.path.getsize(path) > MOST_BYTES:
            continue
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        if lines and (word.endswith((".sh", ".bash", ".zsh")) or _is_shell(lines[0])):
            yield from ((f"{word}:{n}", x) for n, x in enumerate(lines, 1) if not x.lstrip().startswith("#"))
            return


def _is_shell(first: str) -> bool:
    words = first[2:].split() if first.startswith("#!") else []
    return any(os.path.basename(w) in ("sh", "bash", "zsh", "dash", "ksh") for w in words)

"""What the verbs share when they print: the look of a stream, the source beside a site, JSON files."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import Any, TextIO

from firstcause.errors import InputError
from firstcause.report.style import wants_color
from firstcause.schema import Site


def look(out: TextIO) -> tuple[bool, int]:
    """Whether to colour a stream, and how many columns it has."""
    return wants_color(os.environ, out.isatty()), shutil.get_terminal_size().columns


def source_lines(site: Site | None, cwd: str) -> list[str] | None:
    """The lines of the site's file, or None where it cannot be read or does not hold the line any more."""
    if site is None:
        return None
    try:
        with open(os.path.join(cwd, site.file), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except OSError:
        return None
    fits = 1 <= site.line <= len(lines) and site.text.strip() in lines[site.line - 1]
    return lines if fits else None


def write_json(path: str, value: Any) -> None:
    """Write one JSON object to a file, whole or not at all; "-" is standard output.

    Raises ``InputError`` where the file cannot be written.
    """
    text = json.dumps(value, indent=1, default=str, allow_nan=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
        return
    temporary = f"{path}.{os.getpid()}.new"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}"
        raise InputError("json-unwritable", message, "give --json a path in a folder that exists") from error

"""Files and folders of a record, made for their owner's eyes alone whatever the umask says: 0600 and 0700."""

from __future__ import annotations

import os

FILE, FOLDER = 0o600, 0o700


def opener(path: str, flags: int) -> int:
    """For ``open(path, "w", opener=opener)``: a file that is made gets mode 0600; no child inherits it."""
    return os.open(path, flags | os.O_CLOEXEC, FILE)


def make_folder(path: str) -> None:
    """Make a folder and what is missing above it, each with mode 0700; ``os.makedirs`` gives it to the last one alone."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        above = os.path.dirname(path)
        if above == path:
            break
        path = above
    for folder in reversed(missing):
        try:
            os.mkdir(folder, FOLDER)
        except FileExistsError:
            # Another rank was first.
            if not os.path.isdir(folder):
                raise

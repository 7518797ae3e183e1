"""How many bytes of a failing step are kept: a limit of the user's, and never more than half of what the disk has free."""

from __future__ import annotations

import os

from firstcause.record.journal import file_size_limit
from firstcause.record.sizes import size

BYTES = 2 * 10**9
VARIABLE = "FIRSTCAUSE_SNAPSHOT_BYTES"


def limit() -> int:
    """The most bytes that one snapshot may take."""
    given = os.environ.get(VARIABLE, "")
    return int(given) if given.isdigit() else BYTES


def room(folder: str) -> tuple[int, str]:
    """Bytes for a snapshot in ``folder``, and what it is that limits them, in words."""
    place = folder
    while not os.path.isdir(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    found = os.statvfs(place)
    half = found.f_bavail * found.f_frsize // 2
    own = limit()
    if file_size_limit() < min(own, half):
        # Half a file would be worse than none: the kernel ends the program that writes beyond it.
        return 0, "a limit on the size of files is in force (ulimit -f)"
    if half < own:
        return max(1, half), f"more than half of the {size(2 * half)} that the disk has free"
    return own, f"more than the {size(own)} that a snapshot may have (snapshot-size)"

"""Run a whole command so that the kernel lets it write beneath given folders only.

    python -m firstcause.sandbox.confine FOLDER -- COMMAND…

Looser than the seal, since a whole program is run and not one step: it may start processes (loader workers, ranks),
use the network between them, and compute on accelerators. Files outside of ``FOLDER`` are read-only for all of it;
temporary files lie in ``FOLDER/tmp``. Where the kernel has no Landlock the command runs unconfined, and the first line of
its output says so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from firstcause.sandbox import landlock

UNCONFINED = "firstcause: this kernel cannot confine the command"
# Shared memory of loader workers, and the terminals and sinks of /dev.
SHARED = ("/dev/shm", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts")


def command_for(folder: str, command: Sequence[str]) -> list[str]:
    """The command that runs ``command`` confined to ``folder``."""
    return [sys.executable, "-m", "firstcause.sandbox.confine", folder, "--", *command]


def confine(folder: str) -> str:
    """Confine this process and all that it starts; returns an empty string, or why it could not be done."""
    devices = landlock.accelerators()
    # CUDA names the threads of each process, beneath /proc; the memory of processes outside is closed all the same.
    shared = [*SHARED, *devices, *(["/proc"] if devices else [])]
    try:
        landlock.restrict_writes([folder, *(p for p in shared if os.path.exists(p))])
    except OSError as error:
        return f"{UNCONFINED}: {error.strerror}"
    return ""


def main(words: Sequence[str]) -> int:
    folder, command = words[0], list(words[2:])
    temporary = os.path.join(folder, "tmp")
    os.makedirs(temporary, exist_ok=True)
    os.environ["TMPDIR"] = temporary
    why = confine(folder)
    if why:
        sys.stderr.write(why + "\n")
        sys.stderr.flush()
    os.execvp(command[0], command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

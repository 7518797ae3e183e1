"""How long work takes by the clock on a machine that others use as well; no torch here."""

from __future__ import annotations

import os

# Nobody waits longer than this many times what they allowed, however busy the machine is.
MOST = 2.0
# A load that is not worth a word: the recorded run itself is part of it.
NOTED = 1.25


def patience() -> float:
    """By how much a time has to be stretched here, 1 to 2: the load of the last minute for each core that we may use.

    An experiment that gets half a core takes twice as long, and one that is cut off says nothing: a fault would be
    missed because somebody compiles next door.
    """
    try:
        load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    except (OSError, AttributeError):
        # Not told, or a system without affinities.
        return 1.0
    return min(MOST, max(1.0, load / cores))

"""``time.sleep`` returns at once: what a program waits for will not come in a replay."""

from __future__ import annotations

import time

from firstcause.sandbox.writers.rebind import replace

_sleep = time.sleep


def patch() -> None:
    def sleep(seconds: float) -> None:
        if not seconds > 0:
            # The real one raises for a negative number and for what is no number.
            _sleep(seconds)
        # A loop that polls must still let the thread run that it waits for.
        _sleep(0)

    replace(time, "sleep", sleep)


def restore() -> None:
    """Sleep as long as is asked for: in a process where it is looked for what does not come back."""
    time.sleep = _sleep

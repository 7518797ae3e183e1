"""As at a terminal in an activated environment, however the suite was started; ids that are the same in each worker."""

from __future__ import annotations

import os
import signal
import sys

# `python train.py` is this Python; what the product does where it is another one, a test says by itself.
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Functions and bytes are named by their argument: an address or a time in an id differs in each worker."""
    return argname if callable(val) or isinstance(val, bytes) else None

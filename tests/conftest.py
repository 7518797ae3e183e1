"""Signals as at a terminal: a suite that is started in the background inherits an ignored SIGINT."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

"""Begins to follow a program before its first line; found by Python through ``PYTHONPATH``, and chained to the one it shadows."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _begin() -> None:
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != _HERE]
    own = sys.modules.pop("sitecustomize", None)
    try:
        __import__("sitecustomize")
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own
    sys.path.append(os.environ["FIRSTCAUSE_FOLLOW_PATH"])
    try:
        from firstcause.lab.follow import program
    finally:
        sys.path.remove(os.environ["FIRSTCAUSE_FOLLOW_PATH"])
    program.follow()


# Each process of the program, its launcher too; not the one of ours that confines them all.
if "FIRSTCAUSE_FOLLOW" in os.environ and "firstcause.sandbox.confine" not in sys.orig_argv:
    _begin()

"""Switches components of a program off before its first line; found by Python through ``PYTHONPATH``, and chained."""

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
    sys.path.append(os.environ["FIRSTCAUSE_WITHOUT_PATH"])
    try:
        from firstcause.lab.without import program
    finally:
        sys.path.remove(os.environ["FIRSTCAUSE_WITHOUT_PATH"])
    program.begin()


# Each process of the program, its launcher too; not those of ours that confine and record them all.
if "FIRSTCAUSE_WITHOUT" in os.environ and not any(w.startswith("firstcause") for w in sys.orig_argv):
    _begin()

"""Begins an experiment before a program's first line; found through ``PYTHONPATH``, and chained to the one it shadows."""

import importlib
import itertools
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
    module, _, function = os.environ["FIRSTCAUSE_BEGIN"].partition(":")
    sys.path.append(os.environ["FIRSTCAUSE_BEGIN_PATH"])
    try:
        found = importlib.import_module(module)
    finally:
        sys.path.remove(os.environ["FIRSTCAUSE_BEGIN_PATH"])
    getattr(found, function)()


def _is_ours() -> bool:
    """Whether this process is one of those that confine and record the program: ``python -m firstcause...``."""
    pairs = itertools.pairwise(sys.orig_argv)
    return any(a == "-m" and b.partition(".")[0] == "firstcause" for a, b in pairs)


# Each process of the program, its launcher too.
if "FIRSTCAUSE_BEGIN" in os.environ and not _is_ours():
    _begin()

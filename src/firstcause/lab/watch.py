"""Where the program's own code first makes a NaN or an infinity, line by line, from its start to the failing step.

Runs in a sealed process of its own: a line trace is slow, and it is switched on before the first line of the program.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import importlib
import json
import os
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from firstcause.lab import places
from firstcause.lab.statements import Statements, denominators

MOST_ELEMENTS, MOST_NAMES, MOST_EVENTS = 4_000_000, 200, 12


class Watch:
    """A trace function and what it has seen; ``start`` in the frame of ``__main__``, at its first statement."""

    def __init__(self, plan: dict[str, Any], result: int) -> None:
        self.plan, self.result = plan, result
        self.end = time.monotonic() + plan["seconds"]
        self.statements = Statements()
        self.events: list[dict[str, Any]] = []
        # Every bad value that was seen, held so that its identity stays its own.
        self.bad: dict[int, Any] = {}
        self.seen: dict[int, dict[str, Any]] = {}
        # By frame: the line that has just run, the one before it, and how many events there were then.
        self.lines: dict[int, tuple[int, int, int]] = {}
        self.passes = 0

    def start(self, frame: FrameType) -> None:
        atexit.register(self.finish, "the program ended")
        frame.f_trace = self.traced
        sys.settrace(self.called)

    def called(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self.traced if places.is_user_file(frame.f_code.co_filename) else None

    def traced(self, frame: FrameType, event: str, argument: Any) -> Any:
        """After each line: what it changed, and whether that is bad."""
        key = id(frame)
        if event == "call":
            self.seen[key] = dict(frame.f_locals)
        elif event in ("line", "return"):
            self._changed(frame, argument if event == "return" else None)
            last = self.lines.get(key, (frame.f_lineno, 0, 0))[0]
            self.lines[key] = (frame.f_lineno, last, len(self.events))
        if event == "return":
            self.seen.pop(key, None)
            self.lines.pop(key, None)
        elif event == "line" and self._is_unit(frame):
            self.passes += 1
            if self.passes > self.plan["passes"] or any(e["whole_columns"] for e in self.events):
                self.finish("the loop was reached")
        if time.monotonic() > self.end:
            self.finish("the time was used up")
        return self.traced

    def _is_unit(self, frame: FrameType) -> bool:
        return bool(frame.f_lineno == self.plan["line"] and frame.f_code.co_filename == self.plan["file"])

    def _changed(self, frame: FrameType, returned: Any) -> None:
        key = id(frame)
        line, earlier, events = self.lines.get(key, (frame.f_lineno, frame.f_lineno, len(self.events)))
        before = self.seen.get(key, {})
        now = dict(list(frame.f_locals.items())[:MOST_NAMES])
        statement = self.statements.at(frame.f_code.co_filename, line)
        if statement is None and returned is not None:
            # On the way out of a with block its head runs once more, after the return itself.
            line, statement = earlier, self.statements.at(frame.f_code.co_filename, earlier)
        written = self.statements.written(statement)
        values = [(n, v) for n, v in now.items() if n in written or before.get(n, self) is not v]
        # An object's attributes are looked at where the line writes them.
        values += list(_attributes(now.get("self"))) if "self" in written else []
        values += [("", returned)] if returned is not None else []
        fresh = [(n, v) for name, value in values for n, v in _arrays(name, value) if id(v) not in self.bad]
        bad = [(n, v, facts) for n, v in fresh if (facts := badness(v))]
        if bad and len(self.events) < MOST_EVENTS:
            derived = len(self.events) > events or self._reads_bad(statement, before)
            place = places.place(frame.f_code.co_filename, line, frame.f_code.co_name)
            divided = denominators(statement, frame.f_globals, before) if not derived else []
            name, _, facts = bad[0]
            self.events.append({"site": place, "name": name, "derived": derived, "divided": divided, **facts})
        for _, value, _ in bad:
            self.bad[id(value)] = value
        self.seen[key] = now

    def _reads_bad(self, statement: ast.stmt | None, before: dict[str, Any]) -> bool:
        """Whether the line reads a value that is bad already."""
        for node in ast.walk(statement) if statement is not None else ():
            if isinstance(node, ast.Name) and node.id in before:
                value = before[node.id]
                held = [v for _, v in (*_arrays("", value), *_attributes(value))]
                if any(id(v) in self.bad for v in held):
                    return True
        return False

    def finish(self, why: str) -> None:
        """Write what was seen, and leave the process."""
        sys.settrace(None)
        text = json.dumps({"events": self.events, "ended": why}, default=str) + "\n"
        os.write(self.result, text.encode())
        os._exit(0)


def start(plan_path: str, result: int, frame: FrameType) -> None:
    """Watch the program whose ``__main__`` is about to run in ``frame``."""
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    for name in plan["libraries"]:
        # Imported before the trace begins: it would slow a million calls down that are not the program's.
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    Watch(plan, result).start(frame)


def _arrays(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value where it is an array, or the arrays of a small container."""
    kind = type(value)
    if kind in (tuple, list) and len(value) <= 16:
        for item in value:
            yield from ((name, v) for _, v in _arrays(name, item) if type(v) not in (tuple, list, dict))
    elif kind is dict and len(value) <= 64:
        for key, item in value.items():
            yield from _arrays(f"{name}[{key!r}]", item)
    elif kind.__module__.partition(".")[0] in ("numpy", "torch", "pandas") and hasattr(kind, "__array__"):
        yield name, value


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    held = getattr(value, "__dict__", None)
    if type(held) is dict and places.is_user_module(sys.modules.get(type(value).__module__)):
        for name, attribute in list(held.items())[:MOST_NAMES]:
            yield from _arrays(f".{name}", attribute)


def badness(value: Any) -> dict[str, Any]:
    """The shape, the count of bad elements, and whether they fill whole columns; empty for what is good."""
    import torch

    if isinstance(value, torch.Tensor):
        if not value.is_floating_point() or value.layout is not torch.strided or value.device.type != "cpu":
            return {}
        tensor = value.detach()
    else:
        numpy = sys.modules["numpy"]
        array = numpy.asarray(value)
        if array.dtype.kind != "f" or array.dtype.itemsize > 8:
            return {}
        tensor = torch.from_numpy(numpy.ascontiguousarray(array))
    if not tensor.numel() or tensor.numel() > MOST_ELEMENTS:
        return {}
    wrong = torch.isnan(tensor) | (tensor == float("inf"))
    if not bool(wrong.any()):
        return {}
    rows = wrong.reshape(len(tensor), -1) if tensor.dim() else wrong.reshape(1, 1)
    columns = [int(c) for c in torch.nonzero(rows.all(0)).reshape(-1)[:8]] if tensor.dim() > 1 else []
    return {
        "shape": list(tensor.shape),
        "bad": int(wrong.sum()),
        "rows": int(rows.any(1).sum()),
        "columns": columns,
        "whole_columns": bool((rows.any(0) == rows.all(0)).all()) and tensor.dim() > 1,
    }

"""The observer of one expression: every line that gives it another value, the calls that made it and those that take it.

Runs in a sealed child only: it traces lines, and holds weak references to every tensor that the step makes.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import weakref
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch

from firstcause.lab import places, tensors
from firstcause.lab.expression.calls import Calls
from firstcause.lab.expression.spelled import Spelled

MOST_ROWS, MOST_BEHIND = 400, 16
MISSING = object()


class Way:
    """Observe everything between ``__enter__`` and ``__exit__``; ``facts`` gives the rows in order of time."""

    def __init__(self, recorder: Any, window: Any) -> None:
        with open(os.environ["FIRSTCAUSE_EXPRESSION"], encoding="utf-8") as file:
            self.spelled = Spelled(**json.load(file))
        self.code = compile(ast.parse(self.spelled.text, mode="eval"), "<expression>", "eval")
        self.calls = Calls(recorder.reachable.modules)
        self.rows: list[dict[str, Any]] = []
        self.left_out = 0
        # By frame: the line that has just run, and the value that the expression had then.
        self.lines: dict[int, int] = {}
        self.before: dict[int, Any] = {}
        self.functions: dict[str, None] = {}
        # Every value that the expression had, by identity.
        self.met: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        self._wanted: dict[CodeType, bool] = {}

    def __enter__(self) -> Way:
        self.calls.__enter__()
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if places.is_user_file(frame.f_code.co_filename):
                frame.f_trace = self._traced
                # What it holds already is where the way begins.
                self.lines[id(frame)] = frame.f_lineno
                self._look(frame, "given to the step")
            frame = frame.f_back
        sys.settrace(self._called)
        return self

    def __exit__(self, *exception: Any) -> None:
        sys.settrace(None)
        self.calls.__exit__(*exception)

    def pass_begins(self) -> None:
        """One more pass of the window begins: the way goes on."""

    def loss(self, value: torch.Tensor) -> None:
        """The loss is a value like any other here."""

    # ------------------------------------------------------------------ lines

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not places.is_user_file(frame.f_code.co_filename):
            return None
        wanted = self._is_wanted(frame.f_code)
        for name, value in list(frame.f_locals.items()):
            own = wanted and name == self.spelled.text
            if isinstance(value, torch.Tensor) and self._is_met(value) and not own:
                how = f"given to {frame.f_code.co_name} as {name}"
                self._row("given", how, places.standing(frame), value)
        if not wanted:
            return None
        self.lines[id(frame)] = frame.f_lineno
        self._look(frame, f"{self.spelled.text} as {frame.f_code.co_name} begins")
        return self._traced

    def _traced(self, frame: FrameType, event: str, argument: Any) -> Any:
        key = id(frame)
        if event in ("line", "return", "exception") and self._is_wanted(frame.f_code):
            self._look(frame, "")
            self.lines[key] = frame.f_lineno
        if event == "return":
            self.before.pop(key, None)
            self.lines.pop(key, None)
        return self._traced

    def _is_wanted(self, code: CodeType) -> bool:
        known = self._wanted.get(code)
        if known is None:
            names = (*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars)
            known = self._wanted[code] = self.spelled.root in names and self._is_meant(code)
        return known

    def _is_meant(self, code: CodeType) -> bool:
        """Whether this is the function that ``file:line`` names, where one is named."""
        if not self.spelled.file:
            return True
        path = os.path.normpath(self.spelled.file)
        inside = {line for _, _, line in code.co_lines() if line is not None}
        own = code.co_filename == path or code.co_filename.endswith(os.sep + path)
        return own and min(inside, default=0) <= self.spelled.line <= max(inside, default=-1)

    def _look(self, frame: FrameType, how: str) -> None:
        """The expression's value after a line, noted where it is another one than before."""
        if not self._is_wanted(frame.f_code):
            return
        space = {**frame.f_globals, **frame.f_locals}
        try:
            with torch._C.DisableTorchFunction():
                # The user's own expression of names, attributes and subscripts, in a process that can touch nothing.
                value = eval(self.code, space)
                lasts = eval(self.code, space) is value
        except Exception:  # noqa: BLE001 - an expression that is not bound yet has no value, whatever it raises
            return
        key, now = id(frame), _mark(value, lasts)
        old = self.before.get(key, MISSING)
        self.before[key] = now
        if old is not MISSING and _same(old, now):
            return
        line = self.lines.get(key, frame.f_lineno)
        self.functions.setdefault(places.standing(frame)["function"])
        site = places.place(frame.f_code.co_filename, line, frame.f_code.co_name)
        in_place = old is not MISSING and isinstance(value, torch.Tensor) and old[0] == now[0]
        self._row(
            "value", how or (f"{self.spelled.text}, in place" if in_place else self.spelled.text), site, value
        )
        if isinstance(value, torch.Tensor) and lasts:
            self.met[id(value)] = (weakref.ref(value), len(self.rows) - 1)
            self.calls.follow(value, self._gradient(site))

    def _is_met(self, value: torch.Tensor) -> bool:
        known = self.met.get(id(value))
        return known is not None and known[0]() is value

    def _gradient(self, site: dict[str, Any]) -> Callable[[torch.Tensor], None]:
        def arrived(gradient: torch.Tensor) -> None:
            self._row("gradient", f"gradient of {self.spelled.text}", site, gradient)

        return arrived

    def _row(self, kind: str, how: str, site: dict[str, Any] | None, value: Any) -> None:
        if len(self.rows) >= MOST_ROWS:
            self.left_out += 1
            return
        made = self.calls.producer(value) if isinstance(value, torch.Tensor) else None
        row = {"at": self.calls.tick(), "kind": kind, "how": how, "site": site, "made_by": made}
        self.rows.append(row | {"value": figures(value)})

    # ------------------------------------------------------------------ the result

    def facts(self, parameters: list[torch.Tensor], error: BaseException | None) -> dict[str, Any]:
        """Plain data: what led to the value that matters, its own rows, and what took it."""
        own = [r for r in self.rows if r["kind"] == "value"]
        worst = next((r for r in own if _is_bad(r["value"])), own[-1] if own else None)
        behind = self.calls.behind(worst["made_by"], MOST_BEHIND, _is_bad) if worst is not None else []
        # A line whose call made the value is one step, not two.
        lines = {(r["site"]["line"], r["made_by"]) for r in own if r["site"] is not None}
        calls = [*behind, *(self.calls.takers() if own else [])]
        told = [c for c in calls if ((c["site"] or {}).get("line"), c["number"]) not in lines]
        rows = [*self.rows, *told]
        seen = {r["at"]: r for r in rows} if own else {}
        for row in own:
            row["op"] = self.calls.name_of(row["made_by"])
        ordered = [seen[at] for at in sorted(seen)]
        return {"rows": ordered, "functions": list(self.functions), "left_out": self.left_out}


class Step:
    """The same for a step counted from the start: an arm without a change, ended when its optimizer steps."""

    def __init__(self, arm: dict[str, Any], plan: dict[str, Any], recorder: Any) -> None:
        self.way = Way(recorder, ())
        self.finish: Callable[[dict[str, Any]], None]

    def start(self) -> None:
        self.way.__enter__()

    def loss(self, value: Any) -> None:
        """Nothing is measured besides the expression."""

    def arrived(self, optimizer: torch.optim.Optimizer) -> None:
        self._end(None)

    def stepped(self, optimizer: torch.optim.Optimizer) -> None:
        """The arm has ended before."""

    def raised(self, error: BaseException) -> None:
        self._end(error)

    def ended(self) -> None:
        self._end(None)

    def _end(self, error: BaseException | None) -> None:
        self.way.__exit__(None, None, None)
        self.finish({"trace": self.way.facts([], error)})


def figures(value: Any) -> dict[str, Any]:
    """Type, shape, dtype, device and range of a value; of a list or dict, how long it is and its first tensors."""
    if isinstance(value, torch.Tensor):
        with torch._C.DisableTorchFunction():
            found: dict[str, Any] = tensors.figures(value)
        return found | ({"grad": True} if value.requires_grad else {})
    if type(value) in (list, tuple, dict):
        items = list(value.values()) if isinstance(value, dict) else list(value)
        held = [figures(v) for v in items[:4] if isinstance(v, torch.Tensor)]
        return {"type": type(value).__name__, "length": len(items), "held": held}
    if hasattr(value, "__array__") and hasattr(value, "dtype"):
        shape = list(getattr(value, "shape", ()))
        return {"type": type(value).__name__, "shape": shape, "dtype": str(value.dtype)}
    return {"type": type(value).__name__, "text": repr(value)[:80]}


def _mark(value: Any, lasts: bool) -> tuple[Any, Any]:
    """What tells whether a value is another one later, without keeping it alive.

    An expression that makes a new view each time it is asked (``lasts`` is False) is told by its memory.
    """
    if isinstance(value, torch.Tensor):
        version = 0 if value.is_inference() else value._version
        if lasts or value.layout is not torch.strided:
            return (_Held(value), version)
        return ((value.data_ptr(), tuple(value.shape), value.stride(), value.dtype), version)
    if value is None or isinstance(value, (int, float, str, bool)):
        return (value, None)
    return (id(value), len(value) if type(value) in (list, tuple, dict) else None)


class _Held:
    """A tensor by identity, for as long as it lives; equal to nothing once it is gone."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.reference = weakref.ref(tensor)

    def __eq__(self, other: object) -> bool:
        own = self.reference()
        return isinstance(other, _Held) and own is not None and own is other.reference()

    __hash__ = object.__hash__


def _same(old: tuple[Any, Any], new: tuple[Any, Any]) -> bool:
    return type(old[0]) is type(new[0]) and bool(old == new)


def _is_bad(value: dict[str, Any]) -> bool:
    return any(value.get(k) for k in ("nan", "inf", "-inf"))

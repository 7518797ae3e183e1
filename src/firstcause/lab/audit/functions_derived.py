"""The program's own ``autograd.Function``s: whether their backward is the derivative of their forward."""

from __future__ import annotations

from typing import Any

import torch

from firstcause.lab import places
from firstcause.lab.audit import Watcher
from firstcause.lab.derivatives import by_layout, compared, second, written

SHOWN = 8


class Watch(Watcher):
    """Facts: ``derived``, one entry a class and input: the verdict, and pairs of numerical and given derivatives.

    ``order`` is 2 where the backward itself was derived, as the program does; 0 where the pairs are values of an input of
    the program's own that the backward changes.
    """

    def start(self) -> None:
        self.seen: dict[type, tuple[list[Any], dict[str, Any]]] = {}
        # The inputs of each that nothing was computed for: the program has them still, when backward is over.
        self.lasting: dict[type, list[int]] = {}
        # The functions whose gradients are derived once more.
        self.twice: set[type] = set()
        # The functions that were given a gradient whose elements do not lie one after the other.
        self.spread: set[type] = set()
        original = torch.autograd.Function.__dict__["apply"].__func__
        seen, spread, twice, lasting = self.seen, self.spread, self.twice, self.lasting

        def apply(function: Any, *args: Any, **kwargs: Any) -> Any:
            if function not in seen and torch.is_grad_enabled() and _is_users(function):
                seen[function] = ([_kept(a) for a in args], dict(kwargs))
                lasting[function] = [
                    n for n, a in enumerate(args) if isinstance(a, torch.Tensor) and a.is_leaf
                ]
            result = original(function, *args, **kwargs)
            if isinstance(result, torch.Tensor) and result.requires_grad and function in seen:
                result.register_hook(lambda g: None if g.is_contiguous() else spread.add(function))
                result.register_hook(lambda g: twice.add(function) if g.requires_grad else None)
            return result

        torch.autograd.Function.apply = classmethod(apply)

    def facts(self) -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        for function, (args, kwargs) in list(self.seen.items()):
            # Not by inspect: a sealed child may find no source, and a code object knows its lines.
            code = function.backward.__code__  # type: ignore[attr-defined]
            place = {
                "class": function.__name__,
                "file": code.co_filename,
                "line": code.co_firstlineno,
                "end_line": max(line for _, _, line in code.co_lines() if line is not None),
            }
            try:
                inputs = compared(function, args, kwargs)
            except Exception as error:  # noqa: BLE001 - the program's code, on float64 and fewer rows
                found.append(place | {"verdict": "unknown", "why": f"{type(error).__name__}: {error}"[:200]})
                continue
            if function in self.spread:
                found += self._by_layout(place, function, args, kwargs, [i.position for i in inputs])
            found += [
                place | {"verdict": i.verdict, "input": i.position, "pairs": _worst(i.pairs), "form": i.form}
                for i in inputs
            ]
            if all(i.verdict in ("agrees", "unknown") for i in inputs):
                found += self._further(place, function, args, kwargs, [i.position for i in inputs])
        return {"derived": found[:SHOWN]}

    def _further(
        self, place: dict[str, Any], function: Any, args: list[Any], kwargs: dict[str, Any], inputs: list[int]
    ) -> list[dict[str, Any]]:
        """What a right first derivative does not show: values that backward changes, and a wrong second derivative."""
        found = []
        try:
            changed = written(function, args, kwargs)
            for position in (p for p in self.lasting[function] if p in changed):
                found.append(
                    place
                    | {
                        "verdict": "wrong",
                        "order": 0,
                        "input": position,
                        "pairs": changed[position],
                        "form": "",
                    }
                )
            for position in inputs if function in self.twice else ():
                pairs = second(function, args, kwargs, position)
                if pairs:
                    found.append(
                        place
                        | {"verdict": "wrong", "order": 2, "input": position, "pairs": pairs[:4], "form": ""}
                    )
        except Exception as error:  # noqa: BLE001 - the program's code, derived as it may not be meant to be
            found.append(place | {"verdict": "unknown", "why": f"{type(error).__name__}: {error}"[:200]})
        return found

    def _by_layout(
        self, place: dict[str, Any], function: Any, args: list[Any], kwargs: dict[str, Any], inputs: list[int]
    ) -> list[dict[str, Any]]:
        found = []
        for position in inputs:
            try:
                pairs = by_layout(function, args, kwargs, position)
            except RuntimeError as error:
                # It asks for contiguous gradients itself, and says so.
                pairs, place = [], place | {"why": str(error)[:200]}
            if pairs:
                found.append(place | {"verdict": "layout", "input": position, "pairs": pairs})
        return found


def _is_users(function: Any) -> bool:
    code = getattr(getattr(function, "backward", None), "__code__", None)
    return code is not None and places.is_user_file(code.co_filename)


def _kept(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().clone().requires_grad_(value.requires_grad)


def _worst(pairs: tuple[tuple[float, float], ...]) -> list[list[float]]:
    """The pairs that lie furthest apart."""
    return [list(p) for p in sorted(pairs, key=lambda p: -abs(p[0] - p[1]))[:4]]

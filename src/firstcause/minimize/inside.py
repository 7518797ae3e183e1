"""Where the tape stands inside a checkpointed block or an autograd Function: their forward, and what backward calls of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
import torch.utils.checkpoint
from torch.autograd import function

from firstcause.minimize.program import Ref


@dataclass
class Entered:
    """One block or Function that the program entered: its numbered arguments, and what each run of it returned.

    ``kind``: checkpoint or function. ``arriving``: the gradients that backward was given.
    """

    kind: str
    args: tuple[Any, ...]
    name: str = ""
    runs: int = 1
    returned: dict[int, Any] = field(default_factory=dict)
    arriving: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()


class Inside:
    """Follows both kinds while it is entered; ``at`` is what was entered last, and which run of it goes on."""

    def __init__(
        self,
        given: Callable[[Any], Any],
        numbered: Callable[[Any], int],
        alike: Callable[[Any], int | None],
        listening: Callable[[], Any],
    ) -> None:
        self.given, self.numbered, self.alike, self.listening = given, numbered, alike, listening
        self.entered: list[Entered] = []
        self.at: tuple[int, int] | None = None
        self.of_node: dict[int, int] = {}
        self.held: list[Any] = []
        self.put_back: list[Callable[[], None]] = []

    def forget(self) -> None:
        """The tape begins anew: its numbers stand for other tensors from here on."""
        for known in (self.entered, self.of_node, self.held):
            known.clear()

    @contextmanager
    def _run(self, number: int, which: int) -> Iterator[None]:
        """Within the outermost one only: what stands inside of it belongs to it."""
        if self.at is not None:
            yield
            return
        self.at = (number, which)
        try:
            yield
        finally:
            self.at = None

    def __enter__(self) -> Inside:
        for owner, name, made in (
            (torch.utils.checkpoint, "_checkpoint_without_reentrant_generator", self._block),
            (function.Function, "apply", self._function),
            (function.BackwardCFunction, "apply", self._backward),
            (function.BackwardCFunction, "apply_boxed", self._boxed),
        ):
            if name in vars(owner):
                before = vars(owner)[name]
                setattr(owner, name, made(before))
                self.put_back.append(partial(setattr, owner, name, before))
        return self

    def __exit__(self, *_: object) -> None:
        while self.put_back:
            self.put_back.pop()()

    def _block(self, before: Any) -> Any:
        def generator(fn: Any, *settings_and_args: Any, **kwargs: Any) -> Iterator[None]:
            if self.at is not None:
                yield from before(fn, *settings_and_args, **kwargs)
                return
            number = len(self.entered)
            entered = Entered("checkpoint", ())
            self.entered.append(entered)

            def again(*args: Any, **kwargs: Any) -> Any:
                if number >= len(self.entered) or self.entered[number] is not entered:
                    # Entered before the tape began anew.
                    return fn(*args, **kwargs)
                entered.runs += 1
                with self.listening(), self._run(number, entered.runs - 1):
                    return fn(*args, **kwargs)

            inner = before(again, *settings_and_args, **kwargs)
            next(inner)
            with self._run(number, 0):
                yield
            yield from inner

        return generator

    def _function(self, before: Any) -> Any:
        plain = before.__func__

        def apply(kind: Any, *args: Any, **kwargs: Any) -> Any:
            if self.at is not None or kwargs:
                return plain(kind, *args, **kwargs)
            number = len(self.entered)
            entered = Entered("function", tuple(self.given(x) for x in args), kind.__name__)
            self.entered.append(entered)
            with self._run(number, 0):
                result = plain(kind, *args)
            made = result if isinstance(result, tuple) else (result,)
            # What leaves forward is another object than what it made, with a graph, over the same memory.
            seen = [self.alike(x) if isinstance(x, torch.Tensor) else None for x in made]
            entered.returned[0] = tuple(None if n is None else Ref(n) for n in seen)
            entered.outputs = tuple(self.numbered(x) if isinstance(x, torch.Tensor) else 0 for x in made)
            for x in made:
                node = getattr(x, "grad_fn", None)
                if node is not None:
                    self.held.append(node)
                    self.of_node[id(node)] = number
            return result

        return classmethod(apply)

    def _backward(self, before: Any) -> Any:
        def apply(node: Any, *gradients: Any) -> Any:
            return self._differentiated(before, node, gradients, gradients)

        return apply

    def _boxed(self, before: Any) -> Any:
        def apply_boxed(node: Any, gradients: Any, *rest: Any) -> Any:
            held = tuple(gradients) if isinstance(gradients, (list, tuple)) else (gradients,)
            return self._differentiated(before, node, (gradients, *rest), held)

        return apply_boxed

    def _differentiated(self, before: Any, node: Any, args: Any, gradients: Any) -> Any:
        number = self.of_node.get(id(node))
        if number is None or self.at is not None:
            return before(node, *args)
        entered = self.entered[number]
        entered.arriving = tuple(self.numbered(g) if isinstance(g, torch.Tensor) else 0 for g in gradients)
        entered.runs = 2
        with self.listening(), self._run(number, 1):
            result = before(node, *args)
            entered.returned[1] = tuple(
                self.given(x) for x in (result if isinstance(result, tuple) else (result,))
            )
        return result

"""The way back through what things were made from, by their numbers. No torch here."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator


def nearest_first(roots: Iterable[int], makers: Callable[[int], Iterable[int]]) -> Iterator[int]:
    """``roots`` and all that stands behind them, each once; ``makers`` gives what one thing was made from."""
    queue, seen = deque(roots), set[int]()
    while queue:
        number = queue.popleft()
        if number not in seen:
            seen.add(number)
            yield number
            queue.extend(makers(number))

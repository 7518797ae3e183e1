"""Which candidate is the unit of replay: the innermost one around the step that was entered before its forward.

What was computed before is told by autograd's sequence numbers: every node of the graph gets the next one, so
a candidate whose mark came before the loss's first node holds the whole forward.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

import torch

from firstcause.record.observe.marks import CANDIDATES

if TYPE_CHECKING:
    from firstcause.record.observe.snapshot import Snapshot

NODES = 100_000


def sequence() -> int | None:
    """Autograd's next sequence number in this thread; None where this torch does not tell it."""
    with torch.enable_grad():
        node = torch.zeros((), requires_grad=True).view(()).grad_fn
    number = getattr(node, "_sequence_nr", None)
    return int(number()) if number is not None else None


def first_node(loss: torch.Tensor, since: int) -> int | None:
    """The least sequence number among the nodes behind ``loss`` that are not older than ``since``."""
    root = loss.grad_fn
    if root is None or not hasattr(root, "_sequence_nr"):
        return None
    least: int | None = None
    seen, queue = {root}, [root]
    while queue and len(seen) < NODES:
        node = queue.pop()
        number = int(node._sequence_nr())
        # AccumulateGrad has the greatest number there is, so that it runs first; it is no part of a forward.
        if number >= since and (least is None or number < least):
            least = number
        for following, _ in node.next_functions:
            if following is not None and following not in seen and hasattr(following, "_sequence_nr"):
                seen.add(following)
                queue.append(following)
    return least


def choose(
    candidates: dict[int, Snapshot], first: int | None, places: Iterable[tuple[FrameType, int]]
) -> int | None:
    """The unit among the candidates, or None where none is around the step.

    ``places`` are the frames around the step with the line that each stands at.
    """
    at = {id(frame): (frame.f_code, line) for frame, line in places}
    chosen: int | None = None
    for k, snapshot in candidates.items():
        code, line = at.get(snapshot.frame_id, (None, 0))
        candidate = CANDIDATES[k]
        if code is not snapshot.code or not candidate.line <= line <= candidate.end_line:
            continue
        if first is None or snapshot.sequence is None or snapshot.sequence <= first or chosen is None:
            chosen = k
    return chosen


def stack(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """The frames of a running stack, innermost first."""
    while frame is not None:
        yield frame, frame.f_lineno
        frame = frame.f_back


def raised(error: BaseException) -> Iterator[tuple[FrameType, int]]:
    """The frames that an exception passed, and those still around its handler."""
    trace: TracebackType | None = error.__traceback__
    if trace is not None:
        yield from stack(trace.tb_frame.f_back)
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next


def is_running(snapshot: Snapshot) -> bool:
    """Whether the marked frame is on the stack, so that an exception raised here reaches its handler."""
    return any(id(f) == snapshot.frame_id and f.f_code is snapshot.code for f, _ in stack(sys._getframe(1)))

"""Where autograd has threads for a card, a replay of backward in a fork is refused, and is left to a fresh process."""

from __future__ import annotations

from typing import Any

import pytest

from firstcause.record.observe.failure import _needs_own_process

SAID = (
    "Unable to handle autograd's threading in combination with fork-based multiprocessing. "
    "See https://github.com/pytorch/pytorch/wiki/Autograd-and-Fork"
)


@pytest.mark.parametrize(
    ("replayed", "needed"),
    [
        ({"exact": False, "exception": {"type": "RuntimeError", "message": SAID}}, True),
        ({"exact": False, "why": f"the replay raised RuntimeError: {SAID} and did not reach the step"}, True),
        (
            {"exact": True, "exception": {"type": "RuntimeError", "message": "shapes differ"}, "why": ""},
            False,
        ),
        ({"exact": True, "exception": None, "why": ""}, False),
        ({"status": "lost", "why": "the replay ended without a result", "exact": False}, False),
    ],
)
def test_replay_is_left_to_a_fresh_process(replayed: dict[str, Any], needed: bool) -> None:
    assert _needs_own_process(replayed) is needed

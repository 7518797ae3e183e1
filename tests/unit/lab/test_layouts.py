"""Views that give axes another order, told from those that split, merge or stack."""

from __future__ import annotations

import pytest
import torch

from firstcause.lab.audit.axes_swapped import Views, laid_out
from firstcause.lab.layouts import order_of

SWAPPED = [
    ((8, 6, 12), (8, 3, 6, 4), ("after", (0, 2, 1, 3))),
    ((8, 3, 6, 4), (8, 6, 12), ("before", (0, 2, 1, 3))),
    ((6, 8, 4), (8, 6, 4), ("after", (1, 0, 2))),
    ((8, 28, 28, 3), (8, 3, 28, 28), ("after", (0, 2, 3, 1))),
    ((8, 64, 7, 7), (8, 49, 64), ("before", (0, 2, 3, 1))),
]
KEPT = [
    ((8, 6, 12), (8, 6, 3, 4)),
    ((8, 4, 6), (32, 6)),
    ((8, 10, 40), (8, 5, 80)),
    ((480,), (8, 60)),
    ((8, 64, 7, 7), (8, 64, 49)),
    ((16, 16), (8, 32)),
    ((8, 1, 6), (8, 6, 1)),
]


@pytest.mark.parametrize(("before", "after", "order"), SWAPPED)
def test_axes_that_change_places_are_seen_and_can_be_moved_with_their_elements(before, after, order) -> None:
    assert order_of(before, after) == order
    x = torch.arange(torch.Size(before).numel()).view(before)
    moved = laid_out(x, after, order)
    assert tuple(moved.shape) == after
    assert not torch.equal(moved, x.view(after))


@pytest.mark.parametrize(("before", "after"), KEPT)
def test_splits_merges_and_stacked_frames_are_meant(before, after) -> None:
    assert order_of(before, after) is None


def test_a_view_at_a_line_that_is_put_right_gives_the_transpose() -> None:
    def heads(x: torch.Tensor) -> torch.Tensor:
        return x.view(2, 3, 6, 4)

    x = torch.randn(2, 6, 12, requires_grad=True)
    with Views() as views:
        heads(x)
    (key,) = views.seen
    with Views(frozenset({key})):
        assert torch.equal(heads(x)[:, 1], x[:, :, 4:8])

"""When steps that a GradScaler leaves out are no accident."""

import math

import pytest
import torch

from firstcause.record.observe.left_out import IN_A_ROW, LeftOut, are_narrow

NAN, INF, FINE = math.nan, math.inf, 0.5


@pytest.mark.parametrize(
    ("losses", "narrow", "told"),
    [
        # A scale that is being found, and one outlier.
        ([INF] * (IN_A_ROW - 1) + [FINE] * 20, True, None),
        ([FINE, NAN, FINE, FINE], False, None),
        # A loss that no scale explains, again later.
        ([FINE, NAN, FINE, FINE, NAN, FINE], True, 4),
        ([FINE, INF, FINE, INF], False, 3),
        # Two in a long run are accidents.
        ([FINE, NAN, *[FINE] * 300, NAN, FINE], False, None),
        # The scale was raised too far now and then.
        ([INF, FINE, FINE] * 6, True, None),
        ([INF] * IN_A_ROW, True, IN_A_ROW - 1),
    ],
)
def test_a_loss_that_no_scale_explains_counts_over_the_whole_run(
    losses: list[float], narrow: bool, told: int | None
) -> None:
    steps = LeftOut()
    at = [n for n, value in enumerate(losses) if steps.too_many([value], [narrow])]
    assert (at[0] if at else None) == told


def test_of_the_kinds_of_losses_float16_alone_is_made_infinite_by_a_scale() -> None:
    losses = [torch.zeros((), dtype=kind) for kind in (torch.float16, torch.float32, torch.bfloat16)]
    assert are_narrow(losses) == (True, False, False)
    steps = LeftOut()
    assert [steps.too_many([FINE, INF], are_narrow(losses[:2])) for _ in range(2)] == [False, True]

"""Births as the replay's observer records them, on real ops."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from firstcause.lab import outliers, tensors
from firstcause.lab.births import Births, call_of

INF = float("inf")


class Observed(TorchDispatchMode):
    """The part of the replay's observer that asks for births."""

    def __init__(self) -> None:
        super().__init__()
        self.births = Births(lambda tensor: {"shape": list(tensor.shape)}, lambda: None)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        given = [x for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)]
        worst = max([tensors.badness(x) for x in given], default=tensors.FINITE)
        before = frozenset[int]().union(*(self.births.ancestors(x) for x in given))
        call = call_of(func, args, kwargs)
        result = func(*args, **kwargs)
        op: dict[str, Any] = {"phase": "forward", "site": None, "module": None, "inputs": []}
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor):
                state = tensors.badness(tensor)
                self.births.made(call, op, tensor, state, worst, before if state else frozenset())
        return result


def born(run: Any) -> list[dict[str, Any]]:
    with Observed() as observed:
        run()
    return observed.births.found


def test_a_softmax_over_a_hidden_row_tells_which_rows() -> None:
    scores = torch.zeros(3, 2, 4)
    hidden = torch.zeros(3, 2, 4, dtype=torch.bool)
    hidden[1, 0] = True

    fill, softmax = born(lambda: scores.masked_fill(hidden, -INF).softmax(2))

    assert fill["constant"]
    assert softmax["masked"] == {"rows": 1, "of": 6, "first": [[1, 0]], "dim": -1, "length": 4}
    assert softmax["ancestors"] == [0]


def test_a_nan_is_told_at_its_own_element_and_not_at_an_infinity_beside_it() -> None:
    scores = torch.tensor([[-INF, 1.0], [-INF, -INF]])

    (birth,) = born(lambda: scores - scores.max(1, keepdim=True).values)

    assert (birth["element"], birth["rows"], birth["first_rows"]) == ([1, 0], 1, [1])
    assert birth["operands_at"] == [-INF, -INF]


@pytest.mark.parametrize(
    ("run", "spread"),
    [
        (lambda x: x[:1].std(), {"values": 1, "correction": 1.0, "shape": [1]}),
        (lambda x: x.reshape(4, 1).var(1, unbiased=True), {"values": 1, "correction": 1.0, "shape": [4, 1]}),
        (
            lambda x: torch.std_mean(x.reshape(2, 2), 0, correction=2),
            {"values": 2, "correction": 2.0, "shape": [2, 2]},
        ),
    ],
)
def test_a_spread_tells_of_how_many_values_it_was_taken(run: Any, spread: dict[str, Any]) -> None:
    (birth,) = born(lambda: run(torch.arange(4.0)))

    assert birth["spread"] == spread


def test_a_loss_tells_how_many_targets_count() -> None:
    target = torch.tensor([7, 7, 7])

    (birth,) = born(lambda: F.cross_entropy(torch.zeros(3, 4), target, ignore_index=7))

    assert birth["targets"] == {"count": 3, "ignored": 3, "ignore_index": 7}


def test_a_mean_over_nothing_is_empty() -> None:
    (birth,) = born(lambda: torch.ones(3)[torch.zeros(3, dtype=torch.bool)].mean())

    assert (birth["op"], birth["empty"]) == ("mean", True)


def test_an_op_that_writes_in_place_is_told_with_what_it_was_given() -> None:
    (birth,) = born(lambda: torch.tensor([2.0, 0.0]).log_())

    assert (birth["op"], birth["operands_at"], birth["element"]) == ("log_", [0.0], [1])


def test_half_precision_is_done_again_in_float32() -> None:
    loud = torch.tensor([300.0, 400.0]).half()

    (birth,) = born(lambda: loud * loud)

    assert birth["wider"] == {"half": "float16", "alone": 300.0 * 300.0}


def test_a_chain_in_bfloat16_keeps_its_epsilon_in_float32() -> None:
    p = torch.ones(2).bfloat16()

    (birth,) = born(lambda: (1 - p.clamp(1e-6, 1 - 1e-6)).log())

    assert birth["wider"]["alone"] == -INF
    assert birth["wider"]["together"] == pytest.approx(-13.8, abs=0.1)


def test_a_narrowed_mask_is_a_constant_and_a_narrowed_value_is_none() -> None:
    mask, value = born(lambda: (torch.tensor([-3.4e38]).half(), torch.tensor([1e6]).half()))

    assert (mask["constant"], value["constant"]) == (True, False)


def test_one_row_in_another_unit_is_far_outside() -> None:
    batch = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    batch[17, 2] = 5000.0

    found = outliers.find(batch)

    assert found is not None
    assert (found.rows, found.columns, found.values) == ([17], [2], [5000.0])
    assert found.rest < 6


@pytest.mark.parametrize(
    "batch",
    [
        torch.randn(200, 8, generator=torch.Generator().manual_seed(1)),
        torch.exp(2 * torch.randn(200, 3, generator=torch.Generator().manual_seed(2))),
        torch.eye(50),
        torch.zeros(30, 2).index_fill(0, torch.tensor([4]), 1.0),
        # The one 0 among counts lies far outside and is not large.
        torch.full((40, 1), 100.0).index_fill(0, torch.tensor([3]), 0.0) + torch.linspace(0, 3, 40)[:, None],
        torch.cat([torch.zeros(20, 1), torch.full((20, 1), 1e6)]),
        torch.full((20, 2), float("nan")),
        torch.ones(4, 2),
    ],
    ids=["normal", "heavy-tail", "one-hot", "rare-one", "rare-zero", "two-groups", "nan", "few-rows"],
)
def test_what_is_no_outlier(batch: torch.Tensor) -> None:
    assert outliers.find(batch) is None


def test_only_what_meets_weights_is_looked_at_and_once() -> None:
    screen = outliers.Screen()
    batch = torch.ones(20, 1) + torch.rand(20, 1)
    batch[3] = 1e6
    weight = torch.ones(1, 1, requires_grad=True)

    assert list(screen.look((batch, batch), {})) == []
    assert [f.rows for _, f in screen.look((batch, weight), {})] == [[3]]
    assert list(screen.look((batch, weight), {})) == []
    with torch.no_grad():
        assert list(screen.look((batch.clone(), weight), {})) == []

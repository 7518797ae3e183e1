"""Where a graph ends in a training pass: each way out of it is seen, with the parameters behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from firstcause.lab.cuts import Cuts

WAYS: list[tuple[str, Callable[[torch.Tensor], object]]] = [
    ("detach", lambda x: x.detach()),
    ("detach", lambda x: x.data),
    ("detach", lambda x: x.detach().numpy()),
    ("tolist", lambda x: x.tolist()),
    ("argmax", lambda x: x.argmax(1)),
    ("argmin", lambda x: torch.argmin(x, dim=1)),
    ("multinomial", lambda x: torch.multinomial(x.softmax(1), 1)),
]


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_a_way_out_of_the_graph_is_noted_with_the_parameters_behind_it(
    kind: str, way: Callable[[torch.Tensor], object]
) -> None:
    layer = nn.Linear(3, 4)

    with Cuts() as cuts:
        way(layer(torch.randn(2, 3)))

    (found,) = cuts.found.values()
    assert found["kind"] == kind
    assert found["parameters"] == {id(p) for p in layer.parameters()}


@pytest.mark.parametrize(
    "way", [lambda p: p.data, lambda p: p.detach(), lambda p: p.detach().argmax(1), lambda p: p.tolist()]
)
def test_a_look_at_a_parameter_itself_cuts_nothing(way: Callable[[torch.Tensor], object]) -> None:
    weight = nn.Linear(3, 4).weight

    with Cuts() as cuts:
        way(weight)

    assert not cuts.found


def test_an_undone_cut_leaves_the_graph_whole() -> None:
    layer = nn.Linear(3, 4)

    def out() -> torch.Tensor:
        return layer(torch.ones(2, 3)).data  # type: ignore[no-any-return]

    with Cuts() as cuts:
        assert not out().requires_grad
    with Cuts(frozenset(cuts.found)):
        assert out().requires_grad

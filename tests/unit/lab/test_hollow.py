"""What is let go of in place: as many items, without their graph, their memory or their frames."""

from __future__ import annotations

import functools
from collections import deque
from typing import Any

import torch

from firstcause.lab.hollow import hollow


def _graph() -> torch.Tensor:
    return torch.ones(3, requires_grad=True) * 2


def test_graphs_are_cut_in_containers_and_the_values_stay() -> None:
    held: dict[str, Any] = {"a": [_graph(), (1, _graph())], "b": deque([_graph()])}
    assert hollow(held, "graph") is held
    tensors = [held["a"][0], held["a"][1][1], held["b"][0]]
    assert [t.grad_fn for t in tensors] == [None, None, None]
    assert all(torch.equal(t, torch.full((3,), 2.0)) for t in tensors)


def test_values_lose_their_memory_and_keep_their_shapes() -> None:
    held = [torch.ones(100, 100), (7, torch.ones(5))]
    hollow(held, "values")
    assert held[0].shape == (100, 100)  # type: ignore[attr-defined]
    assert held[0].untyped_storage().nbytes() == 4  # type: ignore[attr-defined]
    assert held[1][0] == 7  # type: ignore[index]


def test_one_tensor_is_handed_back_without_its_graph() -> None:
    state = _graph()
    then = hollow(state, "graph")
    assert then.grad_fn is None
    assert state.grad_fn is not None


def test_a_cache_is_cleared_and_parameters_are_left_alone() -> None:
    @functools.cache
    def table(n: int) -> torch.Tensor:
        return torch.ones(n)

    table(3)
    hollow(table, "values")
    assert table.cache_info().currsize == 0
    weights = [torch.nn.Parameter(torch.ones(2))]
    hollow(weights, "values")
    assert torch.equal(weights[0], torch.ones(2))


def test_frames_of_kept_exceptions_are_cleared() -> None:
    def fails() -> None:
        kept = torch.ones(5)
        raise ValueError(str(kept))

    errors = []
    try:
        fails()
    except ValueError as error:
        errors.append(error)
    hollow(errors, "frames")
    trace = errors[0].__traceback__
    assert trace is not None
    assert trace.tb_next is not None
    assert "kept" not in trace.tb_next.tb_frame.f_locals

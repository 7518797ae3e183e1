"""What the recorder reads at each step: gradient norms, the states of random numbers, and what a pass writes."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstcause.record.observe import check, rng
from firstcause.record.observe.groups import FEWEST, Groups
from firstcause.record.observe.plan import MOST, Plans
from firstcause.record.observe.reachable import everything_of
from firstcause.record.observe.writes import ALIKE, SMALL_BYTES, Writes

SHAPES = [(8, 8), (5,), (), (70, 70), (1, 3), (0, 4)]


def some(shapes: list[tuple[int, ...]], dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    return [torch.randn(shape).to(dtype) for shape in shapes]


@settings(deadline=None, max_examples=30)
@given(shapes=st.lists(st.sampled_from(SHAPES), min_size=1, max_size=90))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_norms_read_together_are_those_of_each(dtype: torch.dtype, shapes: list[tuple[int, ...]]) -> None:
    gradients = some(shapes, dtype)
    assert Groups.possible(gradients)
    verdict = check.weigh([torch.tensor(2.5)], gradients, Groups(gradients))
    assert verdict.healthy
    assert verdict.losses == (2.5,)
    assert verdict.norms == pytest.approx([float(g.double().norm()) for g in gradients], rel=1e-5)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_one_bad_value_is_found_in_its_gradient(value: float) -> None:
    gradients = some([(8, 8)] * (3 * FEWEST) + [(300, 300)] * 2)
    groups = Groups(gradients)
    for place in (0, FEWEST, len(gradients) - 1):
        changed = [g.clone() for g in gradients]
        changed[place].view(-1)[-1] = value
        assert check.weigh([], changed, groups).bad_gradients == (place,)
        assert check.weigh([], changed).bad_gradients == (place,)


def test_a_norm_beyond_float32_is_no_failure() -> None:
    gradients = some([(8,)] * (2 * FEWEST))
    gradients[3].fill_(3e38)
    assert check.weigh([], gradients, Groups(gradients)).healthy
    assert check.weigh([torch.tensor(1e300, dtype=torch.float64)], gradients).healthy


def test_a_loss_of_several_elements_or_of_another_type() -> None:
    gradients = some([(4,)])
    losses = [torch.tensor([1.0, 2.0]), torch.tensor(3.0, dtype=torch.bfloat16), torch.tensor(math.nan)]
    for groups in (None, Groups(gradients)):
        verdict = check.weigh(losses, gradients, groups)
        assert verdict.losses[:2] == (3.0, 3.0)
        assert verdict.bad_losses == (2,)


def test_gradients_that_are_no_longer_dense_are_read_one_by_one() -> None:
    gradients = some([(8, 8)] * (2 * FEWEST) + [(100, 100)])
    groups = Groups(gradients)
    for place in (2, len(gradients) - 1):
        sparse = [g.to_sparse() if i == place else g for i, g in enumerate(gradients)]
        verdict = check.weigh([], sparse, groups)
        assert verdict.norms == pytest.approx([float(g.detach().norm()) for g in gradients], rel=1e-5)
    assert not Groups.possible([gradients[0].to_sparse()])
    assert not Groups.possible([torch.ones(2), torch.ones(2, dtype=torch.float64)])
    assert not Groups.possible([torch.ones(2, dtype=torch.complex64)])
    assert not Groups.possible([])


def test_gradients_of_other_strides_and_with_a_graph() -> None:
    gradients = [torch.randn(6, 4).t() * torch.ones(1, requires_grad=True) for _ in range(2 * FEWEST)]
    verdict = check.weigh([], gradients, Groups(gradients))
    assert verdict.norms == pytest.approx([float(g.detach().norm()) for g in gradients], rel=1e-5)


def test_each_set_of_parameters_has_its_plan() -> None:
    plans = Plans()
    one, two = some([(3,)] * 4), some([(3,)] * 4)
    first = plans.of(one, one)
    assert first.groups is None
    assert plans.of(two, two) is not first
    again = plans.of(one, one)
    assert again is first
    assert again.groups is not None
    for size in range(1, 2 * MOST):
        plans.of(some([(1,)] * size), [])
    assert len(plans._known) <= MOST


DRAWS = {
    "python": lambda: random.random(),
    "normal": lambda: random.gauss(0, 1),
    "numpy": lambda: np.random.rand(),
    "numpy normal": lambda: np.random.randn(),
    "numpy binomial": lambda: np.random.binomial(10, 0.3),
    "torch": lambda: torch.rand(1),
    "seed": lambda: (random.seed(1), np.random.seed(1), torch.manual_seed(1)),
    "back": lambda: np.random.set_state(np.random.get_state()),
    "nothing": lambda: None,
}


@settings(deadline=None)
@given(draws=st.lists(st.sampled_from(sorted(DRAWS)), max_size=12))
def test_a_state_is_the_one_of_now(draws: list[str]) -> None:
    for draw in draws:
        DRAWS[draw]()
        state = rng.global_state()
        assert state["python"] == random.getstate()
        for ours, own in zip(state["numpy"], np.random.get_state(), strict=True):
            assert np.array_equal(ours, own)
        assert torch.equal(state["torch"], torch.get_rng_state())


def test_a_state_is_asked_for_again_only_after_a_draw() -> None:
    one = rng.global_state()
    assert rng.global_state()["python"] is one["python"]
    assert rng.global_state()["numpy"] is one["numpy"]
    random.random()
    assert rng.global_state()["python"] is not one["python"]
    assert rng.global_state()["numpy"] is one["numpy"]


def test_another_generator_of_numpy(recwarn: pytest.WarningsRecorder) -> None:
    own = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(7))
        state = rng.global_state()
        drawn = np.random.rand()
        rng.set_global_state(state)
        assert np.random.rand() == drawn
    finally:
        np.random.set_bit_generator(own)
    assert rng.global_state()["numpy"][0] == "MT19937"
    assert not recwarn.list


def passes(writes: Writes, parameters: list[torch.Tensor], steps: int) -> None:
    for _ in range(steps):
        writes.at_mark()
        writes.at_step()
        for p in parameters:
            p.add_(1)


def test_what_a_pass_writes_is_learned_at_once() -> None:
    parameters = some([(3,)] * 5)
    writes = Writes()
    writes.follow(parameters)
    passes(writes, parameters, 3)
    assert writes.written == set()
    writes.at_mark()
    parameters[2].mul_(2)
    writes.at_step()
    assert writes.written == {id(parameters[2])}


def test_a_rare_write_is_learned_without_a_reading_at_its_mark() -> None:
    parameters = some([(3,)] * 5)
    writes = Writes()
    writes.follow(parameters)
    passes(writes, parameters, 3 * ALIKE)
    assert writes._at_mark is None
    writes.at_mark()
    parameters[4].mul_(2)
    writes.at_step()
    assert writes.written == {id(parameters[4])}


def test_a_rare_write_of_much_is_told_from_one_before_the_mark() -> None:
    parameters = [torch.zeros(SMALL_BYTES // 4 + 1), torch.zeros(1), torch.zeros(1)]
    writes = Writes()
    writes.follow(parameters)
    passes(writes, parameters, 3 * ALIKE)
    parameters[0].mul_(2)
    passes(writes, parameters, 3)
    assert writes.written == set()
    writes.at_mark()
    parameters[0].mul_(2)
    writes.at_step()
    assert writes.written == {id(parameters[0])}


def test_a_step_that_was_left_out_is_no_write() -> None:
    parameters = some([(3,)] * 5)
    writes = Writes()
    writes.follow(parameters)
    passes(writes, parameters, 3 * ALIKE)
    writes.at_mark()
    writes.at_step()
    passes(writes, parameters, 3)
    assert writes.written == set()


def test_parameters_that_are_gone_or_new() -> None:
    parameters = some([(3,)] * 5)
    writes = Writes()
    writes.follow(parameters)
    passes(writes, parameters, 3 * ALIKE)
    del parameters[1]
    passes(writes, parameters, 3)
    assert len(writes.parameters) == 4
    parameters += some([(3,)] * 2)
    writes.follow(parameters)
    passes(writes, parameters, 3)
    assert writes.written == set()
    assert list(map(id, writes.parameters)) == list(map(id, parameters))


def test_every_instance_of_a_class_is_found() -> None:
    hidden = {"deep": [torch.nn.Linear(1, 1)]}
    modules, _ = everything_of(torch.nn.Module, torch.optim.Optimizer)
    assert any(m is hidden["deep"][0] for m in modules)
    made = torch.optim.SGD(hidden["deep"][0].parameters())
    assert any(o is made for o in everything_of(torch.optim.Optimizer)[0])
    assert not any(isinstance(o, torch.optim.Optimizer) for o in modules)

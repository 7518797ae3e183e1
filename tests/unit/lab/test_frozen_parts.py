"""Parameters that are off: what they hold, who was to train them, and which of it contradicts the freezing."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from freezing import Net, put, seen, train
from torch import nn
from watched import watch

from firstcause.lab.counterfactual import Ran
from firstcause.lab.fresh_values import freshness, is_noise
from firstcause.lab.interventions.train_frozen import Change
from firstcause.specialists import by_default


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


def test_values_are_fresh_until_something_else_is_put_there() -> None:
    layer, written, trained, loaded = (nn.Linear(32, 32) for _ in range(4))
    put(written)
    optimizer = torch.optim.SGD(trained.parameters(), 0.5)
    for _ in range(5):
        optimizer.zero_grad()
        trained(torch.randn(8, 32)).square().sum().backward()
        optimizer.step()
    loaded.load_state_dict(written.state_dict())
    found = [freshness(m, "weight") for m in (layer, written, trained, loaded)]
    assert found == ["fresh", "kept", "kept", "kept"]
    assert freshness(nn.LayerNorm(64), "weight") == "unknown"


def test_an_initialisation_of_the_programs_own_is_nothing_that_was_put_there() -> None:
    layer = nn.Linear(64, 64)
    nn.init.normal_(layer.weight, std=0.02)
    assert freshness(layer, "weight") == "unknown"


def test_reading_values_draws_none_of_the_programs_random_numbers() -> None:
    layer = nn.Linear(8, 8)
    state = torch.get_rng_state()
    freshness(layer, "weight")
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    ("frozen", "told"), [(("body", "adapter"), True), (("body",), False), (("adapter",), False)]
)
def test_random_parts_beside_kept_ones_are_told(frozen: tuple[str, ...], told: bool, tmp_path: Any) -> None:
    net = Net()
    put(net.body)
    for name in frozen:
        net.get_submodule(name).requires_grad_(False)
    facts, _ = watch("frozen_parts", lambda step: train(step, net, torch.optim.SGD(net.parameters(), 0.01)))
    said = seen(facts, tmp_path)
    assert (said is not None) == told
    assert said is None or "adapter.weight of Net" in said


def test_an_average_that_the_program_writes_is_not_frozen() -> None:
    net = Net()
    net.body.requires_grad_(False)

    def training(step: Any) -> None:
        optimizer = torch.optim.SGD(net.parameters(), 0.01)
        for _ in range(12):
            train(step, net, optimizer, 1)
            net.body.weight.data.mul_(0.9)

    facts, _ = watch("frozen_parts", training)
    assert [p["name"] for p in facts["frozen"]] == ["body.bias"]


@pytest.mark.parametrize("undone", [True, False])
def test_a_second_optimizer_that_is_larger_by_what_is_off(undone: bool, tmp_path: Any) -> None:
    net = Net()
    net.body.requires_grad_(False)

    def phases(step: Any) -> None:
        train(step, net, torch.optim.SGD([*net.adapter.parameters(), *net.head.parameters()], 0.01))
        net.body.requires_grad_(undone)
        train(step, net, torch.optim.SGD(net.parameters(), 0.01))

    facts, _ = watch("frozen_parts", phases)
    assert (seen(facts, tmp_path) is None) == undone


@pytest.mark.parametrize("attribute", [True, False])
def test_an_attribute_of_the_module_switches_nothing_on(attribute: bool, tmp_path: Any) -> None:
    net = Net()
    net.body.requires_grad_(False)
    if attribute:
        net.body.requires_grad = True  # type: ignore[assignment]
    facts, _ = watch("frozen_parts", lambda step: train(step, net, torch.optim.SGD(net.parameters(), 0.01)))
    assert ("plain attribute" in str(seen(facts, tmp_path))) == attribute


@pytest.mark.parametrize(
    ("function", "told"),
    [
        ("def look(m):\n    m.eval()\n    m.body.requires_grad_(False)\n", True),
        ("def fit(m):\n    m.eval()\n    m.body.requires_grad_(False)\n    loss.backward()\n", False),
    ],
)
def test_switched_off_where_the_program_only_evaluates(function: str, told: bool, tmp_path: Any) -> None:
    net = Net()

    def training(step: Any) -> None:
        optimizer = torch.optim.SGD(net.parameters(), 0.01)
        train(step, net, optimizer, 3)
        net.body.requires_grad_(False)
        train(step, net, optimizer, 40)

    facts, _ = watch("frozen_parts", training)
    assert (seen(facts, tmp_path, function) is not None) == told


@pytest.mark.parametrize(
    ("source", "stages", "told"),
    [
        ("from torch.utils.data import DataLoader\nnet.base.requires_grad_(False)\n", 2, True),
        ("net.base.requires_grad_(False)\n", 1, False),
        # What was put into it, or said of it, explains the freezing.
        ("net.load_state_dict(torch.load('base.pt'))\nnet.base.requires_grad_(False)\n", 2, False),
        ("net = AutoModel.from_pretrained(name)\nnet.base.requires_grad_(False)\n", 2, False),
        ("net.base.requires_grad_(False)  # the base stays frozen\n", 2, False),
        ("net.base.weight.data[:] = waves\nnet.base.requires_grad_(False)\n", 2, False),
    ],
)
def test_most_of_a_model_as_it_began_through_two_stages(
    source: str, stages: int, told: bool, tmp_path: Any
) -> None:
    net = Net()
    net.body.requires_grad_(False)
    net.adapter.requires_grad_(False)

    def training(step: Any) -> None:
        for _ in range(stages):
            train(step, net, torch.optim.SGD(net.head.parameters(), 0.01))

    facts, _ = watch("frozen_parts", training)
    assert facts["stages"] == stages
    assert ("2 stages of training" in str(seen(facts, tmp_path, source))) == told


def test_less_than_most_of_a_model_may_stay_as_it_began(tmp_path: Any) -> None:
    net = Net()
    net.body.requires_grad_(False)

    def training(step: Any) -> None:
        for _ in range(2):
            held = [*net.adapter.parameters(), *net.head.parameters()]
            train(step, net, torch.optim.SGD(held, 0.01))

    facts, _ = watch("frozen_parts", training)
    assert seen(facts, tmp_path, "net.body.requires_grad_(False)\n") is None


def test_one_more_digit_takes_another_layer(tmp_path: Any) -> None:
    net = nn.Sequential()
    for number in (1, 2, 10):
        net.add_module(f"layer{number}", nn.Linear(6, 6))
    for name, p in net.named_parameters():
        p.requires_grad_("layer1" not in name)
    facts, _ = watch("frozen_parts", lambda step: train(step, net, torch.optim.SGD(net.parameters(), 0.01)))
    assert "layer10.weight" in str(seen(facts, tmp_path, 'FROZEN = "layer1"\n'))
    assert seen(facts, tmp_path, 'FROZEN = "layer2"\n') is None


def test_only_models_that_train_besides_are_switched_on_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hooks = torch.nn.modules.module
    monkeypatch.setattr(hooks, "_global_forward_pre_hooks", hooks._global_forward_pre_hooks.copy())
    monkeypatch.setattr(torch.optim.Optimizer, "__init__", torch.optim.Optimizer.__init__)
    teacher, student = Net(), Net()
    teacher.requires_grad_(False)
    student.body.requires_grad_(False)
    change = Change({"names": [["Net", "body.weight"]], "beside_trained": True}, None)  # type: ignore[arg-type]
    change.start()
    for net in (teacher, student):
        net(torch.randn(16, 6))
    assert [net.body.weight.requires_grad for net in (teacher, student)] == [False, True]


def test_what_is_off_is_on_and_trained_in_the_other_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = torch.nn.modules.module
    monkeypatch.setattr(hooks, "_global_forward_pre_hooks", hooks._global_forward_pre_hooks.copy())
    monkeypatch.setattr(torch.optim.Optimizer, "__init__", torch.optim.Optimizer.__init__)
    net = Net()
    net.body.requires_grad_(False)
    before = net.body.weight.clone()
    change = Change({"names": [["Net", "body.weight"]]}, None)  # type: ignore[arg-type]
    change.start()
    optimizer = torch.optim.SGD(net.head.parameters(), 0.1)
    for _ in range(2):
        optimizer.zero_grad()
        net(torch.randn(16, 6)).square().mean().backward()
        change.before_step(optimizer)
        optimizer.step()
    assert change.facts() == {"trained": net.body.weight.numel()}
    assert not torch.equal(net.body.weight, before)
    assert not net.body.bias.requires_grad


SILENT = "words = nn.Embedding.from_pretrained(vectors)\n"


class Words(nn.Module):
    def __init__(self, vectors: torch.Tensor, freeze: bool = True) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors, freeze=freeze)
        self.head = nn.Linear(vectors.shape[1], 1)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.words(ids).mean(1))


def of_words(net: Words, groups: bool = False) -> Any:
    def training(step: Any) -> None:
        held: Any = [{"params": net.words.parameters()}, {"params": net.head.parameters()}]
        optimizer = torch.optim.SGD(held if groups else net.parameters(), 0.01)
        for _ in range(12):
            step(net(torch.randint(0, 50, (16, 4))).square().mean(), optimizer)

    return training


def learned() -> torch.Tensor:
    return torch.randn(50, 2) @ torch.randn(2, 12) + 0.1 * torch.randn(50, 12)


@pytest.mark.parametrize(
    ("values", "groups", "source", "how"),
    [
        (lambda: torch.randn(50, 12), False, SILENT, "random numbers"),
        (learned, False, SILENT, None),
        (learned, True, SILENT, "a group for nothing else"),
        (learned, False, "# The vectors are a rough start.\n" + SILENT, "calls its vectors a start"),
        (learned, False, "# The run starts from here.\n" + SILENT, None),
        # What is said of it, or done besides, says that it is known.
        (lambda: torch.randn(50, 12), False, SILENT.replace("(vectors", "(vectors, freeze=True"), None),
        (lambda: torch.randn(50, 12), False, SILENT.replace("(vectors", "(vectors, **options"), None),
        (lambda: torch.randn(50, 12), False, SILENT + "# The words stay fixed.\n", None),
        (lambda: torch.randn(50, 12), False, SILENT + "net.other.requires_grad_(False)\n", None),
        (lambda: torch.randn(50, 12), False, "words = AutoModel.from_pretrained(vectors)\n", None),
    ],
)
def test_vectors_that_are_frozen_by_default(
    values: Any, groups: bool, source: str, how: str | None, tmp_path: Any
) -> None:
    facts, _ = watch("frozen_parts", of_words(Words(values()), groups))
    said = seen(facts, tmp_path, source)
    assert (said is None) == (how is None)
    assert how is None or how in str(said)


def test_vectors_that_are_trained_or_left_out_of_the_optimizer_are_no_mistake(tmp_path: Any) -> None:
    assert seen(watch("frozen_parts", of_words(Words(learned(), freeze=False)))[0], tmp_path, SILENT) is None

    net = Words(torch.randn(50, 12))

    def training(step: Any) -> None:
        optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], 0.01)
        for _ in range(12):
            step(net(torch.randint(0, 50, (16, 4))).square().mean(), optimizer)

    assert seen(watch("frozen_parts", training)[0], tmp_path, SILENT) is None


@pytest.mark.parametrize(
    ("how", "then", "now", "enough"),
    [
        ("group", 0.9, 0.8, True),
        ("start", 0.9, 0.7, True),
        ("start", 0.3, 0.25, False),
        ("start", 0.3, 0.1, True),
        ("start", 0.1, 0.01, False),
        ("random", 0.9, 0.7, False),
        ("random", 0.9, 0.4, True),
        ("random", 0.1, 0.01, False),
    ],
)
def test_a_gain_of_training_them_is_asked_for_by_its_reason(
    how: str, then: float, now: float, enough: bool
) -> None:
    def falling(end: float) -> Ran:
        rows = tuple({"loss": 1.0 if n < 3 else end} for n in range(30))
        return Ran("one", "program", rows=rows)

    assert by_default.gained(how, falling(now), falling(then)) == enough


def test_noise_has_no_direction_that_its_rows_share() -> None:
    with_padding = torch.rand(300, 16)
    with_padding[0] = 0
    found = [torch.randn(300, 16), with_padding, learned(), torch.eye(40), torch.zeros(30, 4)]
    assert [is_noise(table) for table in found] == [True, True, False, False, False]

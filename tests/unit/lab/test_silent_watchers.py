"""What the watchers see of small trainings, each in a child of its own: they stay in torch for good."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from forked import Training, watched
from torch import nn


def fit(net: nn.Module, x: torch.Tensor, y: torch.Tensor, steps: int, begin: Callable[[], None]) -> nn.Module:
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    begin()
    for _ in range(steps):
        loss = nn.functional.mse_loss(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net


def dead_units(begin: Callable[[], None]) -> object:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    nn.init.constant_(net[0].bias, -9.0)
    return fit(net, torch.rand(32, 4), torch.rand(32, 1), 7, begin)


def large_inputs(begin: Callable[[], None]) -> object:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    return fit(net, 900 + 300 * torch.rand(32, 4), torch.rand(32, 1), 7, begin)


def equal_weights(begin: Callable[[], None]) -> object:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    for layer in (net[0], net[2]):
        nn.init.constant_(layer.weight, 0.1)
        nn.init.zeros_(layer.bias)
    return fit(net, torch.rand(32, 4), torch.rand(32, 1), 7, begin)


def test_dead_units_are_counted_from_the_first_step_and_live_with_other_values() -> None:
    (found,) = watched(dead_units, "units_at_start")["units"]
    assert (found["kind"], found["units"], found["dead_first"], found["dead"]) == ("relu", 16, 1.0, 1.0)
    assert found["site"]["function"] == "fit"

    begun = watched(dead_units, "units_at_start", start="default")
    assert begun["begun_anew"] == 1
    assert begun["units"][0]["dead"] < 0.5


def test_a_saturated_layer_is_not_so_once_its_inputs_are_scaled() -> None:
    facts = watched(large_inputs, "units_at_start")
    assert facts["units"][0]["beyond"] > 0.8
    assert facts["differing"] == 0

    scaled = watched(large_inputs, "units_at_start", start="scaled")
    assert scaled["units"][0]["beyond"] == 0.0
    assert len(scaled["scale"]["mean"]) == 4
    assert 900 < scaled["scale"]["mean"][0] < 1200
    assert scaled["scale"]["class_name"] == "Sequential"


def test_units_that_begin_equal_stay_equal() -> None:
    first = watched(equal_weights, "units_at_start")["weights"][0]

    assert (first["alike"], first["still_alike"], first["rows"]) == (True, True, 16)


def far_codes(begin: Callable[[], None]) -> object:
    torch.manual_seed(0)
    encoder, codes = nn.Linear(3, 2), nn.Embedding(16, 2)
    x = 20 + 3 * torch.randn(64, 3)
    optimizer = torch.optim.SGD([*encoder.parameters(), *codes.parameters()], lr=0.01)
    begin()
    for _ in range(12):
        z = encoder(x)
        index = torch.cdist(z, codes.weight).argmin(1)
        loss = nn.functional.mse_loss(codes(index), z.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return codes


def test_codes_that_are_never_chosen_are_counted_and_chosen_once_they_begin_among_the_vectors() -> None:
    (found,) = watched(far_codes, "codes_used")["codebooks"]
    assert found["codes"] == 16
    assert found["used"] <= 3
    assert found["site"]["text"] == "index = torch.cdist(z, codes.weight).argmin(1)"

    assert watched(far_codes, "codes_used", revived=6)["codebooks"][0]["used"] > 8


class Kept(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.randn(16, 2))
        self.inner = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = self.inner(x)
        return nn.functional.mse_loss(z, self.kept[torch.cdist(z, self.kept).argmin(1)])


def test_codes_in_a_buffer_have_its_name() -> None:
    def training(begin: Callable[[], None]) -> object:
        torch.manual_seed(0)
        model, x = Kept(), 20 + 3 * torch.randn(64, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        begin()
        for _ in range(3):
            loss = model(x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return model

    (found,) = watched(training, "codes_used")["codebooks"]
    assert found["name"] == "kept.kept"
    assert not found["learned"]


def triplets(near_first: bool, hardest: bool = False, given: bool = False) -> Training:
    def training(begin: Callable[[], None]) -> object:
        generator = torch.Generator().manual_seed(0)
        centres = torch.randn(6, 8, generator=generator)
        net = nn.Linear(8, 4)
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        begin()
        for _ in range(40):
            kind = torch.randint(0, 6, (32,), generator=generator)
            other = (kind + torch.randint(1, 6, (32,), generator=generator)) % 6
            noise = 0.3 * torch.randn(3, 32, 8, generator=generator)
            a, p, n = (
                nn.functional.normalize(net(centres[k] + noise[i]), dim=1)
                for i, k in enumerate((kind, kind, other))
            )
            pair = (p, n) if near_first else (n, p)
            if given:
                loss = nn.functional.triplet_margin_loss(a, *pair, margin=0.5)
            else:
                one, two = ((a - q).square().sum(1) for q in pair)
                if hardest:
                    one, two = one.unflatten(0, (8, 4)).max(1).values, two.unflatten(0, (8, 4)).min(1).values
                loss = nn.functional.relu(one - two + 0.5).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return net

    return training


@pytest.mark.parametrize("given", [False, True])
def test_a_margin_is_told_with_the_value_at_which_both_are_equal(given: bool) -> None:
    (found,) = watched(triplets(near_first=False, given=given), "margins_of_losses")["margins"]

    assert found["level"] == 0.5
    assert found["function"] == ("triplet_margin_loss" if given else "relu")


def test_the_hardest_pairs_of_a_batch_are_left_alone() -> None:
    assert watched(triplets(near_first=True, hardest=True), "margins_of_losses")["margins"] == []


def scaled(by: Callable[[torch.Tensor], torch.Tensor]) -> Training:
    """Samples of 8 values in batches of 8, scaled by a vector of 8 that ``by`` makes of each batch."""

    def training(begin: Callable[[], None]) -> object:
        stored = torch.randn(80, 8)
        net = nn.Linear(8, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        begin()
        for _ in range(2):
            for rows in torch.randperm(80).split(8):
                batch = stored[rows]
                net(batch * by(batch)).square().mean().backward()
                optimizer.step()
                optimizer.zero_grad()
        return net

    return training


WEIGHTS = torch.rand(12)
BY_VECTOR: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], bool]] = {
    "one a sample": (lambda batch: batch.amax(1), True),
    "one a column, of the batch": (lambda batch: batch.mean(0), False),
    "one a column, drawn": (lambda batch: (torch.rand(8) > 0.5).float(), False),
    "one a column, cut out of a longer one": (lambda batch: WEIGHTS[:8], False),
}


@pytest.mark.parametrize("name", BY_VECTOR)
def test_a_batch_of_one_row_less_is_refused_where_a_value_a_sample_lies_along_the_row(name: str) -> None:
    by, is_refused = BY_VECTOR[name]
    (met,) = watched(scaled(by), "widths_met")["widths"] or [None]
    facts = watched(scaled(by), "widths_met", fewer=8)

    assert met is None or (met["shape"], met["other"], met["operand"]) == ([8], [8, 8], 1)
    assert facts["shortened"] > 10
    assert [r["site"]["text"] for r in facts["refused"]] == (
        ["net(batch * by(batch)).square().mean().backward()"] if is_refused else []
    )


def test_a_weight_of_the_columns_that_lasts_is_not_told() -> None:
    fixed = torch.rand(8)
    assert watched(scaled(lambda batch: fixed), "widths_met")["widths"] == []

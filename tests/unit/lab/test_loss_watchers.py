"""What watchers of losses and targets see of small trainings, and what they do not see of those that mean it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from watched import Step, adam, watch

from firstcause.lab.audit import signs_of_losses


@pytest.fixture(autouse=True)
def _seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    # Distributions are patched for good in a sealed child, and stay as they are here.
    monkeypatch.setattr(signs_of_losses.Watch, "_wrap_distributions", lambda self: None)


class Tokens(nn.Module):
    def __init__(self, both_sides: bool = False) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.rnn = nn.GRU(8, 8, batch_first=True, bidirectional=both_sides)
        self.head = nn.Linear(16 if both_sides else 8, 20)

    def forward(self, ids: torch.Tensor) -> Any:
        return self.head(self.rnn(self.embed(ids))[0])


# ---------------------------------------------------------------- activations


def classify(way: str) -> Any:
    def train(step: Step) -> None:
        net = nn.Sequential(nn.Linear(4, 3))
        optimizer = adam(net)
        for _ in range(3):
            logits, y = net(torch.randn(8, 4)), torch.randint(0, 3, (8,))
            loss = {
                "twice": lambda logits, y: F.cross_entropy(logits.softmax(1)[:, :], y),
                "once": lambda logits, y: F.cross_entropy(logits, y),
                "of-logs": lambda logits, y: F.cross_entropy(logits.log_softmax(1), y),
                "soft-targets": lambda logits, y: F.cross_entropy(logits, logits.detach().softmax(1)),
                "scaled": lambda logits, y: F.cross_entropy(20 * logits.softmax(1), y),
                "sigmoid": lambda logits, y: F.binary_cross_entropy_with_logits(
                    logits.sigmoid(), F.one_hot(y, 3).float()
                ),
                "plain-bce": lambda logits, y: F.binary_cross_entropy(
                    logits.sigmoid(), F.one_hot(y, 3).float()
                ),
            }[way](logits, y)
            step(loss, optimizer)

    return train


@pytest.mark.parametrize(("way", "seen"), [("twice", "softmax"), ("sigmoid", "sigmoid")])
def test_probabilities_in_front_of_a_loss_of_logits_are_seen_with_their_range(way: str, seen: str) -> None:
    facts, rows = watch("activations_before_loss", classify(way))

    (found,) = facts["activated"]
    assert found["activation"] == seen
    assert 0 <= found["low"] < found["high"] <= 1
    assert found["times"] == len(rows) == 3


@pytest.mark.parametrize("way", ["once", "of-logs", "soft-targets", "scaled", "plain-bce"])
def test_logits_logarithms_teachers_and_temperatures_are_meant(way: str) -> None:
    assert not watch("activations_before_loss", classify(way))[0]["activated"]


def test_a_skipped_softmax_gives_the_loss_its_logits() -> None:
    facts, as_it_is = watch("activations_before_loss", classify("twice"))
    site = facts["activated"][0]["site"]

    other, _ = watch(
        "activations_before_loss", classify("twice"), {"skipped": [[site["file"], site["line"]]]}
    )

    assert not other["activated"]
    assert all(r["surprise"] > 0 for r in as_it_is)


# ---------------------------------------------------------------- distances of targets


def language(way: str, both_sides: bool = False) -> Any:
    def train(step: Step) -> None:
        model = Tokens(both_sides)
        optimizer = adam(model)
        for _ in range(2):
            ids = torch.randint(0, 20, (8, 12))
            logits = model(ids)
            cut = {
                "next": lambda logits, ids: (logits[:, :-1], ids[:, 1:]),
                "same": lambda logits, ids: (logits, ids),
                "twice": lambda logits, ids: (logits[:, :-2], ids[:, 1:][:, 1:]),
            }[way](logits, ids)
            step(F.cross_entropy(cut[0].reshape(-1, 20), cut[1].reshape(-1)), optimizer)

    return train


@pytest.mark.parametrize(("way", "distance"), [("next", 1), ("same", 0), ("twice", 2)])
def test_the_distance_of_targets_from_the_last_token_seen_is_measured(way: str, distance: int) -> None:
    facts, _ = watch("targets_shifted", language(way))

    (found,) = facts["shifted"]
    assert found["causal"]
    assert {k for k, share in found["shares"].items() if share == 1.0} == {distance}
    assert max(share for k, share in found["shares"].items() if k != distance) < 0.2


def test_rows_that_see_what_comes_later_are_told_from_those_that_do_not() -> None:
    facts, _ = watch("targets_shifted", language("next", both_sides=True))

    (found,) = facts["shifted"]
    assert not found["causal"]
    assert set(found["last_seen"].values()) == {11}


def test_the_slices_between_batch_and_loss_are_kept() -> None:
    (found,) = watch("targets_shifted", language("twice"))[0]["shifted"]

    assert [(c["start"], c["stop"]) for c in found["target_slices"]] == [(1, None), (1, None)]
    assert [(c["start"], c["stop"]) for c in found["logit_slices"]] == [(None, -2)]


# ---------------------------------------------------------------- padding


def padded(way: str) -> Any:
    def train(step: Step) -> None:
        model = Tokens()
        optimizer = adam(model)
        for _ in range(2):
            ids = torch.randint(1, 20, (8, 12))
            for row in range(8 if way != "whole" else 0):
                ids[row, 6 + row % 6 :] = 0
            ignored = {"ignore_index": 0} if way == "ignored" else {}
            step(F.cross_entropy(model(ids)[:, :-1].transpose(1, 2), ids[:, 1:], **ignored), optimizer)

    return train


def test_padded_places_with_a_gradient_are_counted_and_both_means_taken() -> None:
    (found,) = watch("padding_counted", padded("counted"))[0]["padding"]

    assert found["counted"] == found["padded"] == 2 * sum(6 - row % 6 for row in range(8))
    assert found["marker"] == 0
    assert found["only"]
    assert len(found["all"]) == len(found["real"]) == 2


def test_ignored_places_get_no_gradient_and_whole_sequences_have_none() -> None:
    (ignored,) = watch("padding_counted", padded("ignored"))[0]["padding"]

    assert (ignored["counted"], ignored["padded"]) == (0, 2 * sum(6 - row % 6 for row in range(8)))
    assert not watch("padding_counted", padded("whole"))[0]["padding"]


def series(masked: bool) -> Any:
    def train(step: Step) -> None:
        net = nn.Linear(3, 1)
        optimizer = adam(net)
        for _ in range(2):
            x = torch.randn(4, 9, 3)
            lengths = torch.tensor([9, 5, 7, 4])
            mask = torch.arange(9) < lengths[:, None]
            x = x * mask[..., None]
            y = x.sum(-1)
            wrong = (net(x).squeeze(-1) - y) ** 2
            step(wrong[mask].mean() if masked else wrong.mean(), optimizer)

    return train


def test_series_filled_with_zeros_are_padded_and_the_mask_is_known_by_its_name() -> None:
    (found,) = watch("padding_counted", series(masked=False))[0]["padding"]

    assert found["counted"] == found["padded"] == 2 * 11
    assert found["known_as"] == {"lengths": "lengths"} or found["known_as"] == {"mask": "mask"}
    assert watch("padding_counted", series(masked=True))[0]["padding"][0]["counted"] == 0


def curves(padded: bool) -> Any:
    def train(step: Step) -> None:
        net = nn.Linear(3, 6)
        optimizer = adam(net)
        for _ in range(2):
            rows = [1 + torch.rand(n) for n in (6, 4, 5, 3)]
            whole = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
            y = whole if padded else torch.stack([F.pad(r, (0, 6 - len(r))) for r in rows])
            step(F.mse_loss(net(torch.randn(4, 3)), y), optimizer)

    return train


def test_targets_that_were_padded_tell_it_themselves() -> None:
    (found,) = watch("padding_counted", curves(padded=True))[0]["padding"]
    (left_out,) = watch("padding_counted", curves(padded=True), {"left_out": True})[0]["padding"]

    assert (found["padded"], found["counted"]) == (12, 12)
    assert left_out["padded"] == 12


def test_pictures_of_black_and_white_are_not_padded() -> None:
    def train(step: Step) -> None:
        net = nn.Linear(9, 9)
        optimizer = adam(net)
        for _ in range(2):
            x = (torch.rand(8, 9) < 0.4).float()
            x[0], x[1, 7:], x[2, 8:] = 1.0, 0.0, 0.0
            step(F.binary_cross_entropy_with_logits(net(x), x), optimizer)

    assert not watch("padding_counted", train)[0]["padding"]


# ---------------------------------------------------------------- signs


def policy(sign: int) -> Any:
    def train(step: Step) -> None:
        net = nn.Linear(4, 3)
        optimizer = adam(net)
        for _ in range(4):
            logs = net(torch.randn(16, 4)).log_softmax(1)
            action = torch.multinomial(logs.exp(), 1)
            reward = torch.randn(16)
            step(sign * (logs.gather(1, action).squeeze(1) * reward).mean(), optimizer)

    return train


@pytest.mark.parametrize(("sign", "side"), [(-1, "with"), (1, "against")])
def test_a_policy_goes_with_its_rewards_or_against_them(sign: int, side: str) -> None:
    facts, rows = watch("signs_of_losses", policy(sign))

    (found,) = [f for f in facts["signs"] if f["kind"] == "action"]
    assert found[side] == 4
    assert found["with"] + found["against"] == 4
    assert all("reward" in r for r in rows)


@pytest.mark.parametrize(("sign", "side"), [(1, "with"), (-1, "against")])
def test_an_error_is_lowered_or_raised(sign: int, side: str) -> None:
    def train(step: Step) -> None:
        net = nn.Linear(4, 1)
        optimizer = adam(net)
        for _ in range(3):
            step(sign * F.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1)), optimizer)

    (found,) = watch("signs_of_losses", train)[0]["signs"]
    assert (found["kind"], found[side]) == ("error", 3)


# ---------------------------------------------------------------- targets among the columns


@pytest.mark.parametrize(("leaks", "count"), [(True, 1), (False, 0)])
def test_a_column_that_says_the_target_is_found(leaks: bool, count: int) -> None:
    def train(step: Step) -> None:
        net = nn.Linear(5, 1)
        optimizer = adam(net)
        for _ in range(3):
            x = torch.randn(32, 5)
            y = x[:, 2] * 3 if leaks else x.sum(1)
            step(F.mse_loss(net(x).squeeze(1), y), optimizer)

    told = watch("targets_in_input", train)[0]["told"]
    assert [t["column"] for t in told] == [2] * count


def fitted(target: Callable[[torch.Tensor], torch.Tensor], by_hand: bool) -> dict[str, Any]:
    def train(step: Step) -> None:
        net = nn.Linear(5, 1)
        optimizer = adam(net)
        for _ in range(3):
            x = torch.randn(32, 5)
            out, y = net(x).squeeze(1), target(x)
            step((y - out).square().mean() if by_hand else F.mse_loss(out, y), optimizer)

    return watch("targets_in_input", train, {"samples": True})[0]


@pytest.mark.parametrize("by_hand", [True, False])
def test_targets_that_are_a_sum_of_columns_are_found(by_hand: bool) -> None:
    found = fitted(lambda x: 7 * x[:, 4] - x[:, 0] - x[:, 1] + 2, by_hand)

    assert not found["told"]
    (one,) = found["fitted"]
    assert (one["columns"], one["samples"]) == (5, 96)
    assert [len(found["samples"][0][k]) for k in ("x", "y")] == [96, 96]


@pytest.mark.parametrize(
    "target",
    [
        lambda x: x.sum(1) + 0.05 * torch.randn(32),
        lambda x: x[:, 0] * x[:, 1],
        lambda x: x[:, 2],
        lambda x: torch.ones(32),
    ],
    ids=["with noise", "a product", "one column", "a constant"],
)
def test_targets_of_which_something_is_left_are_no_sum_of_columns(
    target: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    assert not fitted(target, True)["fitted"]


def test_a_difference_from_a_column_is_no_target_that_is_told() -> None:
    assert not fitted(lambda x: x[:, 2], True)["told"]
    assert fitted(lambda x: x[:, 2], False)["told"]

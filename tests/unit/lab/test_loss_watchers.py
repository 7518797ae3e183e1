"""What watchers of losses and targets see of small trainings, and what they do not see of those that mean it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from watched import Step, watch

from firstcause.lab.audit import signs_of_losses
from firstcause.lab.counterfactual import Ran
from firstcause.specialists import latents


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


def adam(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), 1e-2)


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


# ---------------------------------------------------------------- softmaxes


def attend(way: str) -> Any:
    def train(step: Step) -> None:
        key, value = nn.Linear(4, 8), nn.Linear(4, 8)
        optimizer = torch.optim.SGD([*key.parameters(), *value.parameters()], 1e-2)
        drop = nn.Dropout(0.5)
        for _ in range(2):
            x = torch.randn(6, 5, 4)
            scores = key(x) @ key(x).transpose(1, 2)
            out = {
                "keys": lambda scores, x: drop(scores.softmax(-1)) @ value(x),
                "queries": lambda scores, x: drop(scores.softmax(1)) @ value(x),
                "batch": lambda scores, x: torch.einsum("bqk,bkd->bqd", scores.softmax(0), value(x)),
                "pooled": lambda scores, x: (scores[:, 0].softmax(1).unsqueeze(-1) * value(x)).sum(1),
                "pooled-batch": lambda scores, x: (scores[:, 0].softmax(0).unsqueeze(-1) * value(x)).sum(
                    dim=1
                ),
                "renormalised": lambda scores, x: (
                    (scores.softmax(1) / scores.softmax(1).sum(-1, keepdim=True)) @ value(x)
                ),
            }[way](scores, x)
            step(out.pow(2).mean(), optimizer)

    return train


@pytest.mark.parametrize(("way", "axes"), [("queries", (1, 2)), ("batch", (0, 2)), ("pooled-batch", (0, 1))])
def test_weights_added_up_along_another_axis_than_their_own_are_seen(way: str, axes: tuple[int, int]) -> None:
    (found,) = watch("weights_summed", attend(way))[0]["softmaxes"]

    assert (found["axis"], found["uses"][0]["axis"]) == axes
    assert not any(use["whole"] for use in found["uses"])


@pytest.mark.parametrize(
    ("way", "axes"),
    [
        (lambda z: F.normalize(z, dim=0) @ F.normalize(z, dim=0).t(), (0, 1)),
        (lambda z: F.normalize(z, dim=-1) @ F.normalize(z, dim=-1).t(), None),
        (lambda z: (F.normalize(z, dim=0) * F.normalize(z.detach(), dim=0)).sum(1), (0, 1)),
        (lambda z: (lambda one: one @ one.t())(z / z.norm(dim=0, keepdim=True).clamp(min=1e-6)), (0, 1)),
        (lambda z: (lambda one: one @ one.t())(z / z.norm(dim=1, keepdim=True)), None),
        (lambda z: (lambda one: one.t() @ one)(F.normalize(z, dim=0)), None),
        (lambda z: F.normalize(z, p=1, dim=0) @ z.t(), None),
    ],
)
def test_lengths_along_another_axis_than_the_one_of_their_products_are_seen(
    way: Callable[[torch.Tensor], torch.Tensor], axes: tuple[int, int] | None
) -> None:
    def train(step: Step) -> None:
        net = nn.Linear(4, 8)
        optimizer = adam(net)
        for _ in range(2):
            step(way(net(torch.randn(16, 4))).mean(), optimizer)

    found = watch("weights_summed", train)[0]["softmaxes"]
    wrong = [o for o in found if o["uses"] and not any(u["whole"] for u in o["uses"])]
    assert [(o["axis"], o["uses"][0]["axis"]) for o in wrong[:1]] == ([axes] if axes else [])


@pytest.mark.parametrize("way", ["keys", "pooled", "renormalised"])
def test_weights_that_sum_to_one_where_they_are_added_up_are_whole(way: str) -> None:
    found = watch("weights_summed", attend(way))[0]["softmaxes"]

    assert all(use["whole"] for one in found for use in one["uses"])


def hot(guide: torch.Tensor) -> torch.Tensor:
    return F.one_hot(guide.argmax(1), 8).float()


def teach(way: str) -> Any:
    def train(step: Step) -> None:
        student, teacher = nn.Linear(4, 8), nn.Linear(4, 8)
        optimizer = adam(student)
        for _ in range(2):
            x = torch.randn(16, 4)
            with torch.no_grad():
                guide = teacher(x)
            logits = student(x)
            loss = {
                "student": lambda logits, guide: F.kl_div(
                    logits.log_softmax(0), guide.softmax(-1), reduction="batchmean"
                ),
                "logarithm": lambda logits, guide: F.kl_div(
                    logits.softmax(0).log(), guide.softmax(-1), reduction="sum"
                ),
                "both-logs": lambda logits, guide: nn.KLDivLoss(log_target=True)(
                    F.log_softmax(logits, 0), guide.log_softmax(1)
                ),
                "one-hot": lambda logits, guide: F.kl_div(logits.log_softmax(0), hot(guide)),
                "by-hand": lambda logits, guide: -(guide.softmax(1) * logits.log_softmax(0)).sum() / 16,
                "teacher": lambda logits, guide: F.kl_div(
                    logits.log_softmax(1), guide.softmax(0), reduction="batchmean"
                ),
                "teacher-by-hand": lambda logits, guide: (
                    -(guide.softmax(1).t() * logits.t().log_softmax(0)).sum()
                ),
                "meant": lambda logits, guide: F.kl_div(
                    logits.log_softmax(-1), guide.softmax(-1), reduction="batchmean"
                ),
                "both-ways": lambda logits, guide: (
                    F.kl_div(logits.log_softmax(0), guide.softmax(0))
                    + F.kl_div(logits.log_softmax(1), guide.softmax(1))
                ),
                # The mean of each class, of these the mean: shares over the batch, logarithms over the classes.
                "macro": lambda logits, guide: (
                    -(hot(guide) / hot(guide).sum(0).clamp(min=1) * logits.log_softmax(1)).sum() / 8
                ),
                "weighed": lambda logits, guide: -(guide[:, :1].softmax(0) * logits.log_softmax(1)).sum(),
                "unnormalised": lambda logits, guide: F.kl_div(logits.log_softmax(0), guide.sigmoid()),
            }[way](logits, guide)
            step(loss, optimizer)

    return train


@pytest.mark.parametrize(
    ("way", "axes"),
    [
        ("student", (0, 1)),
        ("logarithm", (0, 1)),
        ("both-logs", (0, 1)),
        ("one-hot", (0, 1)),
        ("by-hand", (0, 1)),
        ("teacher", (0, 1)),
        ("teacher-by-hand", None),
        ("meant", None),
        ("both-ways", None),
        ("macro", None),
        ("weighed", None),
        ("unnormalised", None),
    ],
)
def test_distributions_that_are_compared_along_different_axes_are_seen(
    way: str, axes: tuple[int, int] | None
) -> None:
    found = watch("weights_summed", teach(way))[0]["softmaxes"]
    wrong = [
        o for o in found if o["uses"] and not any(u["whole"] or u["axis"] == o["axis"] for u in o["uses"])
    ]

    assert [(o["axis"], o["uses"][0]["axis"]) for o in wrong] == ([axes] if axes else [])


# ---------------------------------------------------------------- sums and terms


@pytest.mark.parametrize(("way", "whole"), [("sum", 2), ("by-hand", 2), ("divided", 0), ("mean", None)])
def test_a_sum_over_the_batch_is_seen_where_its_gradient_is_not_divided(way: str, whole: int | None) -> None:
    def train(step: Step) -> None:
        net = nn.Linear(4, 1)
        optimizer = adam(net)
        for _ in range(2):
            out, y = net(torch.randn(32, 4)), torch.randn(32, 1)
            loss = {
                "sum": lambda out, y: F.mse_loss(out, y, reduction="sum"),
                "by-hand": lambda out, y: ((out - y) ** 2).sum(),
                "divided": lambda out, y: ((out - y) ** 2).sum() / 32,
                "mean": lambda out, y: ((out - y) ** 2).sum(1).mean(),
            }[way](out, y)
            step(loss, optimizer)

    found = watch("sums_in_loss", train)[0]["summed"]
    assert [f["whole"] for f in found] == ([] if whole is None else [whole])
    assert all(f["count"] == 32 for f in found)


@pytest.mark.parametrize(
    ("way", "seen"),
    [
        (lambda error: error.min(dim=0).values.mean(), True),
        (lambda error: torch.amin(error, 0).mean(), True),
        (lambda error: error.min(-2)[0].mean(), True),
        (lambda error: error.min(dim=1).values.mean(), False),
        (lambda error: error.min(), False),
        (lambda error: error[:3].amin(0).mean(), False),
        (lambda error: (error @ error.t()).amin(0).mean(), False),
    ],
)
def test_a_best_value_of_the_batch_is_seen(way: Callable[[torch.Tensor], torch.Tensor], seen: bool) -> None:
    def train(step: Step) -> None:
        net = nn.Linear(4, 6)
        optimizer = adam(net)
        for _ in range(2):
            step(way(net(torch.randn(32, 4)).square()), optimizer)

    facts, rows = watch("extremes_of_batch", train)
    assert [e["of_batch"] for e in facts["extremes"]] == ([2] if seen else [])
    if seen:
        (one,) = facts["extremes"]
        assert (one["shape"], one["lowered"], one["used"]) == ([32, 6], 2, 2)
        assert one["reached"] <= 6 / 32
        assert all(row["nearest"] > 0 for row in rows)


def test_the_gradient_of_each_term_is_taken_on_the_weights_that_they_share() -> None:
    def train(step: Step) -> None:
        trunk, one, two = nn.Linear(3, 8), nn.Linear(8, 1), nn.Linear(8, 1)
        optimizer = torch.optim.SGD([*trunk.parameters(), *one.parameters(), *two.parameters()], 1e-9)
        for _ in range(2):
            x = torch.randn(16, 3)
            h = trunk(x)
            step(F.mse_loss(one(h), 1000 * x[:, :1]) + 0.5 * F.mse_loss(two(h), x[:, :1]), optimizer)

    facts, rows = watch("terms_of_loss", train)
    assert all(large > 100 * small > 0 for large, small in facts["term_norms"])
    assert [t["weight"] for t in facts["terms"]] == [1.0, 0.5]
    assert set(rows[0]) == {"term 0", "term 1"}


@pytest.mark.parametrize(
    ("way", "power"),
    [
        (F.mse_loss, 2),
        (nn.L1Loss(), 1),
        (lambda out, y: 3 * ((out - y) ** 2).mean(), 2),
        (lambda out, y: torch.mean(torch.abs(y - out)), 1),
        (lambda out, y: (out - y).mean().abs() * out.mean(), None),
        (lambda out, y: F.smooth_l1_loss(out, y), None),
    ],
)
def test_the_targets_of_a_term_that_is_an_error_are_known(way: Callable[..., Any], power: int | None) -> None:
    def train(step: Step) -> None:
        trunk, one, two = nn.Linear(3, 8), nn.Linear(8, 1), nn.Linear(8, 1)
        optimizer = torch.optim.SGD([*trunk.parameters(), *one.parameters(), *two.parameters()], 1e-9)
        for _ in range(20):
            x = torch.randn(64, 3)
            h = trunk(x)
            step(way(one(h), 500 + 40 * x[:, :1]) + two(h).sigmoid().mean(), optimizer)

    facts, rows = watch("terms_of_loss", train)
    error = facts["terms"][0]["error"]
    assert facts["terms"][1]["error"] is None
    if power is None:
        assert error is None
        return
    assert (error["power"], round(error["mean"], -1)) == (power, 500)
    assert 36 < error["spread"] < 44

    torch.manual_seed(0)
    _, others = watch("terms_of_loss", train, {"standardised": [0, error]})
    # In the unit that it was in, and of a target near 0.
    assert 0 < others[0]["term 0"] < 0.1 * rows[0]["term 0"]


# ---------------------------------------------------------------- reconstructions and divergences


def encoded(loss: Callable[..., torch.Tensor], values: int = 12) -> Callable[[Step], None]:
    def train(step: Step) -> None:
        encoder, decoder = nn.Linear(values, 8), nn.Linear(4, values)
        optimizer = adam(nn.ModuleList([encoder, decoder]))
        for _ in range(2):
            x = torch.rand(20, values)
            mu, raw = encoder(x).chunk(2, 1)
            step(loss(decoder(mu + torch.randn_like(mu) * torch.exp(0.5 * raw)), x, mu, raw), optimizer)

    return train


def squares(out: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(out, x, reduction="none")


def divergence(mu: torch.Tensor, raw: torch.Tensor) -> torch.Tensor:
    return -0.5 * (1 + raw - mu.pow(2) - raw.exp()).sum(1).mean()


def from_deviation(mu: torch.Tensor, raw: torch.Tensor) -> torch.Tensor:
    std = raw.exp()
    return torch.mean(0.5 * torch.sum(mu**2 + std**2 - 2 * torch.log(std) - 1, dim=-1))


def of_variance(mu: torch.Tensor, raw: torch.Tensor) -> torch.Tensor:
    var = F.softplus(raw)
    return 0.5 * (var + mu * mu - 1.0 - var.log()).sum() / len(mu)


def of_library(mu: torch.Tensor, raw: torch.Tensor) -> torch.Tensor:
    one = torch.distributions.Normal(mu, raw.exp())
    other = torch.distributions.Normal(torch.zeros(4), torch.ones(4))
    return torch.distributions.kl_divergence(one, other).sum(-1).mean()


@pytest.mark.parametrize("nats", [divergence, from_deviation, of_variance, of_library])
@pytest.mark.parametrize(
    ("rebuilt", "function"),
    [
        (lambda out, x: squares(out, x).mean(dim=1).mean(), "mean"),
        (lambda out, x: ((out - x) ** 2).mean(), "mean"),
        (lambda out, x: nn.MSELoss()(out, x), "mse_loss"),
        (lambda out, x: F.binary_cross_entropy_with_logits(out, x), "binary_cross_entropy_with_logits"),
    ],
)
def test_a_mean_over_a_sample_beside_a_summed_divergence_is_seen(
    rebuilt: Callable[..., torch.Tensor], function: str, nats: Callable[..., torch.Tensor]
) -> None:
    facts, rows = watch("latents_weighed", encoded(lambda out, x, mu, raw: rebuilt(out, x) + nats(mu, raw)))

    one = latents.weighed(Ran("audit", "program", facts=facts))
    assert one is not None
    assert (one["values"], one["error"]["function"], one["of_batch"]) == (12, function, False)
    assert one["weight"] == pytest.approx(1 / 12, rel=1e-3)
    assert all(row["rebuilt"] > 0 and row["nats"] > 0 for row in rows)


def test_a_divergence_that_is_summed_over_the_batch_is_told_as_such() -> None:
    train = encoded(lambda out, x, mu, raw: F.mse_loss(out, x) + 20 * divergence(mu, raw))
    one = latents.weighed(Ran("audit", "program", facts=watch("latents_weighed", train)[0]))
    assert one is not None
    assert (one["values"], one["of_batch"]) == (240, True)
    assert "a variance" not in latents.told(one)
    assert "20 x 4 latent values of a batch" in latents.told(one)


@pytest.mark.parametrize(
    "loss",
    [
        lambda out, x, mu, raw: squares(out, x).sum(1).mean() + divergence(mu, raw),
        lambda out, x, mu, raw: F.mse_loss(out, x) * x.shape[1] / 0.2 + divergence(mu, raw),
        lambda out, x, mu, raw: F.mse_loss(out, x) + 1e-2 * divergence(mu, raw),
        lambda out, x, mu, raw: F.mse_loss(out, x) - 0.5 * (1 + raw - mu**2 - raw.exp()).mean(),
        lambda out, x, mu, raw: (
            F.binary_cross_entropy_with_logits(out, x, reduction="sum") / 20 + divergence(mu, raw)
        ),
        # As noisy as it says: the variance of the data is below that of the noise.
        lambda out, x, mu, raw: F.mse_loss(out, x) / (2 * 0.003) + divergence(mu, raw),
        # The likelihood of a normal distribution has both, and no divergence.
        lambda out, x, mu, raw: (raw[:, :1] + (out - x) ** 2 / raw[:, :1].exp()).mean() + mu.pow(2).sum(),
        lambda out, x, mu, raw: F.mse_loss(out, x) + mu.pow(2).sum(1).mean() + raw.exp().mean(),
    ],
)
def test_sums_weights_and_known_noise_are_meant(loss: Callable[..., torch.Tensor]) -> None:
    facts, _ = watch("latents_weighed", encoded(loss))
    assert latents.weighed(Ran("audit", "program", facts=facts)) is None


def test_few_values_of_a_sample_may_be_averaged() -> None:
    train = encoded(lambda out, x, mu, raw: F.mse_loss(out, x) + divergence(mu, raw), values=4)
    assert latents.weighed(Ran("audit", "program", facts=watch("latents_weighed", train)[0])) is None


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


@pytest.mark.parametrize(
    ("way", "whole"),
    [
        (lambda out, y: (out - y).mean(dim=1).pow(2).mean(), 2),
        (lambda out, y: torch.mean(y - out, 0).abs().sum(), 2),
        (lambda out, y: (out - y).mean(1).square().mean() + F.mse_loss(out, y), 0),
        (lambda out, y: (out - y).pow(2).mean(1).mean(), None),
        (lambda out, y: (out - out.mean(0)).mean(1).pow(2).mean(), None),
        # One target for all that is averaged: of an ensemble, or of a bag.
        (lambda out, y: (out - y[:, :1].expand(32, 6)).mean(1).pow(2).mean(), None),
    ],
)
def test_errors_that_cancel_before_their_size_is_taken_are_seen(
    way: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], whole: int | None
) -> None:
    def train(step: Step) -> None:
        net = nn.Linear(4, 6)
        optimizer = adam(net)
        for _ in range(2):
            step(way(net(torch.randn(32, 4)), torch.randn(32, 6)), optimizer)

    facts, rows = watch("errors_averaged", train)
    assert [a["whole_loss"] for a in facts["averaged"]] == ([] if whole is None else [whole])
    assert all(("apart" in row) == (whole is not None) for row in rows)

"""How much a reconstruction weighs beside its divergence, and where that is meant."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from watched import Step, adam, watch

from firstcause.lab.counterfactual import Ran
from firstcause.specialists import latents


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


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

"""What is normalised along one axis and added up along another, and what is meant so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from watched import Step, adam, watch


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


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


def decode(axis: int, sizes: tuple[int, ...]) -> Any:
    """Queries of a whole sequence in training; in evaluations, as many at once as ``sizes`` says."""

    def train(step: Step) -> None:
        query, memory = nn.Linear(4, 4), torch.randn(6, 7, 4)
        optimizer = adam(query)

        def attended(n: int) -> torch.Tensor:
            scores = query(torch.randn(6, n, 4)) @ memory.transpose(1, 2)
            return torch.softmax(scores, dim=axis) @ memory

        for _ in range(2):
            with torch.no_grad():
                for n in sizes:
                    attended(n)
            step(attended(5).square().mean(), optimizer)

    return train


@pytest.mark.parametrize(
    ("axis", "sizes", "counts"),
    [(1, (1, 1), (4, 4)), (1, (5, 1), (4, 2)), (2, (1, 1), (4, 0)), (1, (), (0, 0))],
    ids=["step by step", "a last one alone", "over the source", "never evaluated"],
)
def test_evaluations_in_which_an_axis_has_one_element_are_counted(
    axis: int, sizes: tuple[int, ...], counts: tuple[int, int]
) -> None:
    (one,) = watch("weights_summed", decode(axis, sizes))[0]["softmaxes"]

    assert (one["evaluated"], one["alone"]) == counts
    assert one["shape"] == [6, 5, 7]


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

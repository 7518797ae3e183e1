"""Values that a model is to find: hidden from it, left in its input by a lost call, or given to it on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from forked import Training, watched
from torch import nn
from torch.nn import functional as F

from firstcause.lab.counterfactual import Ran
from firstcause.specialists.data_loading.target_leakage import seen

WORDS, MASK, LENGTH = 12, 12, 8


class Words(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS + 1, 16)
        self.mix = nn.GRU(16, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, WORDS)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.out(self.mix(self.words(ids))[0])


class Others(Words):
    """A word is found from those before it alone."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        before = self.words(ids).cumsum(1).roll(1, 1)
        return self.out(torch.cat([before, before], 2) * torch.arange(LENGTH).clamp(max=1)[:, None])


def dropped(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    given = ids.clone()
    given.masked_fill(mask, MASK)
    return given


def written(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    given = ids.clone()
    given[mask] = MASK
    return given


def mostly(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Four in five are masked; of the rest some keep their word."""
    given = ids.masked_fill(mask & (torch.rand(ids.shape) < 0.8), MASK)
    torch.where(mask & (given != MASK), torch.randint(0, WORDS, ids.shape), given)
    return given


def unused(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    hidden = torch.where(mask, torch.full_like(ids, MASK), ids)
    return ids if hidden is not None else hidden


def plain(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return ids


Give = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def of_words(give: Give, ignored: bool = False, kind: type[Words] = Words, besides: bool = False) -> Training:
    def training(begin: Callable[[], None]) -> object:
        torch.manual_seed(0)
        net = kind()
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        begin()
        for _ in range(6):
            ids = torch.randint(0, WORDS, (8, LENGTH))
            mask = torch.rand(ids.shape) < 0.3
            logits = net(give(ids, mask))
            if ignored:
                labels = ids.masked_fill(~mask, -100)
                loss = F.cross_entropy(logits.reshape(-1, WORDS), labels.reshape(-1))
            else:
                loss = F.cross_entropy(logits[mask], ids[mask])
            if besides:
                loss = loss + net(ids.masked_fill(mask, MASK)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return net

    return training


@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize(
    ("give", "text"), [(dropped, "given.masked_fill(mask, MASK)"), (unused, "hidden = torch.where(")]
)
def test_answers_stand_in_the_input_where_what_hides_them_is_lost(
    give: Give, text: str, ignored: bool
) -> None:
    left = watched(of_words(give, ignored), "values_left")["left"]

    assert left["site"]["text"].startswith(text)
    assert left["dropped"]
    assert left["model"]["text"] == "logits = net(give(ids, mask))"
    assert left["compared"] > 80
    said = seen(Ran("audit", "program", facts={"left": left}), None)  # type: ignore[arg-type]
    assert f"all of {left['compared']} values that the model is to find" in str(said)


@pytest.mark.parametrize("give", [written, mostly, plain])
def test_answers_that_are_hidden_or_that_nothing_was_to_hide_are_none(give: Give) -> None:
    assert watched(of_words(give), "values_left")["left"] is None


def test_a_model_that_does_not_see_its_own_place_or_gets_the_hidden_version_besides_is_none() -> None:
    assert watched(of_words(unused, kind=Others), "values_left")["left"] is None
    assert watched(of_words(unused, besides=True), "values_left")["left"] is None


class Filler(nn.Module):
    def __init__(self, hides: bool) -> None:
        super().__init__()
        self.net, self.hides = nn.Linear(20, 20), hides

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.net(x.masked_fill(mask, 0.0) if self.hides else x)


def of_numbers(hides: bool, lost: bool) -> Training:
    def training(begin: Callable[[], None]) -> object:
        torch.manual_seed(0)
        net = Filler(hides)
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        begin()
        for _ in range(6):
            x = torch.randn(8, 20)
            mask = torch.rand(x.shape) < 0.3
            given = x.clone()
            if lost:
                given.masked_fill(mask, 0.0)
            loss = F.mse_loss(net(given, mask)[mask], x[mask])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return net

    return training


@pytest.mark.parametrize(
    ("hides", "lost", "told"),
    [(False, True, True), (True, False, False), (True, True, False), (False, False, False)],
)
def test_numbers_are_left_where_the_model_does_not_hide_them_itself(
    hides: bool, lost: bool, told: bool
) -> None:
    facts: dict[str, Any] = watched(of_numbers(hides, lost), "values_left")

    assert facts["failed"] == {}
    assert (facts["left"] is not None) == told

"""Values that a model is to find: hidden from it, left in its input by a lost call, or given to it on purpose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from forked import Training, watched
from torch import nn
from torch.nn import functional as F

from firstcause.lab.counterfactual import Ran
from firstcause.source import Project
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
    hidden = torch.where(mask, torch.full_like(ids, MASK), ids)  # noqa: F841
    return ids


def counted(ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """What is left without them is summed up, and shown to somebody."""
    rest = ids.masked_fill(mask, 0)
    assert rest.sum() >= 0
    return ids


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
    assert f"all of {left['compared']} values that the model is to find" in str(said(left))


def said(left: dict[str, Any]) -> str | None:
    project = Project.of_script(__file__, str(Path(__file__).parent))
    examination = SimpleNamespace(project=project, once=lambda name, make: make())
    return seen(Ran("audit", "program", facts={"left": left}), examination)  # type: ignore[arg-type]


def test_what_is_made_without_the_answers_may_be_for_something_else() -> None:
    left = watched(of_words(counted), "values_left")["left"]

    assert left["site"]["text"].startswith("rest = ids.masked_fill")
    assert said(left) is None


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


@pytest.mark.parametrize("both", [False, True])
def test_a_model_that_is_to_give_back_every_place_has_nothing_to_find(both: bool) -> None:
    def training(begin: Callable[[], None]) -> object:
        torch.manual_seed(0)
        net = Filler(False)
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        begin()
        for _ in range(6):
            x = torch.randn(8, 20)
            high = x > 0.5
            x.masked_fill(high, 0.0)
            out = net(x, high)
            loss = 10 * F.mse_loss(out[high], x[high])
            if both:
                loss = loss + F.mse_loss(out[~high], x[~high])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return net

    assert (watched(training, "values_left")["left"] is None) == both


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

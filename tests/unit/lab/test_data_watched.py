"""What the watchers see of the data of small trainings: writes, workers that draw, order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from forked import Training, watched
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler, TensorDataset


class Readings(Dataset[Any]):  # type: ignore[misc]
    def __init__(self, rows: Any, copied: bool = False) -> None:
        self.rows, self.copied = rows, copied

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Any:
        row = self.rows[index]
        if self.copied:
            row = row + 0
        row -= 10.0
        return row


def reading(rows: Any, copied: bool = False) -> Training:
    def training(begin: Callable[[], None]) -> object:
        loader = DataLoader(Readings(rows, copied), batch_size=5)
        net = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        begin()
        for _ in range(2):
            for batch in loader:
                net(batch.float()).mean().backward()
                optimizer.step()
        return loader

    return training


@pytest.mark.parametrize("rows", [torch.rand(20, 4) + 10, np.random.default_rng(0).random((20, 4)) + 10])
def test_a_write_into_stored_rows_is_seen_at_its_line(rows: Any) -> None:
    (found,) = watched(reading(rows), "data_written")["written"]

    assert found["site"]["text"] == "row -= 10.0"
    assert found["changed"] == 1.0
    assert found["reading"]
    assert found["array"] is isinstance(rows, np.ndarray)
    restored = watched(reading(rows), "data_written", restored=True)["written"]
    assert restored[0]["changed"] == 0.0


def test_a_write_into_a_copy_is_none() -> None:
    assert watched(reading(torch.rand(20, 4), copied=True), "data_written")["written"] == []


class Noisy(Dataset[Any]):  # type: ignore[misc]
    def __init__(self, own: bool) -> None:
        self.rng = np.random.default_rng(0) if own else None

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> Any:
        draw = self.rng.normal() if self.rng is not None else torch.randn(()).item()
        return torch.tensor([draw, 1.0])


def loading(dataset: Any, epochs: int = 1, **settings: Any) -> Training:
    """A small training over a loader with workers."""

    def training(begin: Callable[[], None]) -> object:
        loader = DataLoader(dataset, batch_size=4, **settings)
        net = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        begin()
        for _ in range(epochs):
            for batch in loader:
                net(batch.float()).mean().backward()
                optimizer.step()
        return loader

    return training


def _seeded(worker: int) -> None:
    info: Any = torch.utils.data.get_worker_info()
    info.dataset.rng = np.random.default_rng(torch.initial_seed())


def test_workers_that_draw_from_copies_of_one_generator_are_told_with_their_next_number() -> None:
    (found,) = watched(loading(Noisy(own=True), num_workers=2), "worker_draws")["draws"]

    assert (found["name"], found["alike"], found["number"]) == ("rng", "workers", 2)
    assert (found["owner"], found["kind"]) == ("Noisy", "Generator")
    assert found["drawn"][0] == found["drawn"][1]


@pytest.mark.parametrize(("own", "init"), [(False, None), (True, _seeded)])
def test_workers_with_seeds_of_their_own_are_not(own: bool, init: Any) -> None:
    training = loading(Noisy(own), num_workers=2, worker_init_fn=init)

    assert watched(training, "worker_draws")["draws"] == []


def ordered(by: str) -> Training:
    def training(begin: Callable[[], None]) -> object:
        torch.manual_seed(0)
        x = torch.randn(200, 4)
        order = x[:, 0].argsort()
        x, y = x[order], x[order, :1]
        net = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        loader = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=by == "shuffled")
        begin()
        for _ in range(2):
            cut = ((x[i : i + 10], y[i : i + 10]) for i in range(0, 200, 10))
            for rows, wanted in cut if by == "slices" else loader:
                loss = nn.functional.mse_loss(net(rows), wanted)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return loader

    return training


@pytest.mark.parametrize("by", ["loader", "slices"])
def test_sorted_samples_give_batches_of_like_targets_until_they_are_shuffled(by: str) -> None:
    one = watched(ordered(by), "batch_order")["order"]
    assert (one["by"], one["passes"]) == (by, 2)
    assert one["runs"] > 8
    assert one["loss"] > 0

    assert watched(ordered(by), "batch_order", shuffled=True)["order"]["runs"] < 2


def test_a_loader_that_shuffles_has_no_fixed_order() -> None:
    one = watched(ordered("shuffled"), "batch_order")["order"]

    assert one["by"] is None
    assert one["runs"] < 2


class OneOfEach(Sampler[Any]):  # type: ignore[misc]
    """Batches of the program's own making, in a fixed order, with two of each of four classes."""

    def __iter__(self) -> Iterator[Any]:
        return ([i + 25 * k + n for k in range(4) for n in range(2)] for i in range(0, 24, 2))

    def __len__(self) -> int:
        return 12


def by_class(by: str, compares: bool = True) -> Training:
    """Rows of four classes one after the other, and a loss of the program's own that draws together what is of one class."""

    def training(begin: Callable[[], None]) -> object:
        torch.manual_seed(0)
        x, kind = torch.randn(100, 4), torch.arange(4).repeat_interleave(25)
        net = nn.Linear(4, 3)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        settings: dict[str, Any] = {"batch_size": 5}
        if by == "own batches":
            settings = {"batch_sampler": OneOfEach()}
        loader = DataLoader(TensorDataset(x, kind), **settings)
        begin()
        for _ in range(4):
            cut = ((x[i : i + 5], kind[i : i + 5]) for i in range(0, 100, 5))
            for rows, ids in cut if by == "slices" else loader:
                z, ids = torch.cat([net(rows), net(-rows)]), torch.cat([ids, ids])
                alike = ids.unsqueeze(1) == ids if compares else torch.eye(len(z), dtype=torch.bool)
                loss = -(torch.log_softmax(z @ z.T, 1) * alike).sum(1).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return loader

    return training


@pytest.mark.parametrize("by", ["loader", "slices"])
def test_classes_that_the_program_compares_by_its_own_code_come_one_a_batch_until_they_are_shuffled(
    by: str,
) -> None:
    one = watched(by_class(by), "batch_order")["order"]
    assert (one["by"], one["passes"], one["alone"], one["classes"]) == (by, 4, 1.0, 4)
    assert one["begun"] == [0, 20, 40, 60]
    assert one["runs"] > 4

    mixed = watched(by_class(by), "batch_order", shuffled=1)["order"]
    assert mixed["alone"] < 0.1
    assert mixed["runs"] < 2

    later = watched(by_class(by), "batch_order", shuffled=3)["order"]
    assert 0.5 <= later["alone"] < 0.6


def test_classes_that_are_not_compared_or_come_in_batches_of_the_programs_own_making_are_left_alone() -> None:
    assert watched(by_class("loader", compares=False), "batch_order")["order"]["alone"] is None

    own = watched(by_class("own batches"), "batch_order")["order"]
    assert (own["by"], own["alone"]) == (None, 0.0)


class Stream(IterableDataset[Any]):  # type: ignore[misc]
    """Numbers that are drawn, or a share each of the same numbers, shuffled."""

    def __init__(self, shared_out: bool) -> None:
        self.rng, self.shared_out = np.random.default_rng(0), shared_out

    def __iter__(self) -> Iterator[Any]:
        info = torch.utils.data.get_worker_info()
        number, count = (info.id, info.num_workers) if info is not None else (0, 1)
        own = np.arange(16.0)[number::count]
        if self.shared_out:
            self.rng.shuffle(own)
        for x in own:
            yield torch.tensor([x if self.shared_out else self.rng.normal(), 1.0])


@pytest.mark.parametrize(("shared_out", "number"), [(False, 1), (True, 0)])
def test_workers_that_shuffle_shares_of_their_own_alike_repeat_nothing(shared_out: bool, number: int) -> None:
    training = loading(Stream(shared_out), num_workers=2)

    assert len(watched(training, "worker_draws")["draws"]) == number


def test_one_worker_that_begins_each_epoch_alike_is_told() -> None:
    (found,) = watched(loading(Noisy(own=True), epochs=3, num_workers=1), "worker_draws")["draws"]

    assert (found["name"], found["alike"], found["number"]) == ("rng", "epochs", 3)

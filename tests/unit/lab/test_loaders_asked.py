"""A loader asked sample by sample: forms, draws of workers, what is too short, what cannot be pickled."""

from __future__ import annotations

import random
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from firstcause.lab import places
from firstcause.lab.loading import explained, forms, pickled
from firstcause.lab.loading.asked import Asked
from firstcause.lab.loading.walk import Walk
from firstcause.lab.loading.workers import Draws


class Clips(Dataset):
    """Clips of 10 to 14 numbers, of which one has 4; ``cut`` says how five of them are taken."""

    def __init__(self, cut: str = "slice") -> None:
        self.cut = cut
        self.clips = [np.arange(10 + n % 5) for n in range(20)]
        self.clips[7] = np.arange(4)
        self.names = [f"clip {n}" for n in range(20)]

    def __len__(self) -> int:
        return 20

    def __getitem__(self, i: int) -> Any:
        clip = self.clips[i]
        if self.cut == "slice":
            return torch.from_numpy(clip[2 : 2 + 5])
        if self.cut == "whole":
            return torch.from_numpy(clip)
        start = random.randint(0, len(clip) - 5)
        return torch.from_numpy(clip[start : start + 5])


def walked(dataset: Any, **options: Any) -> tuple[Asked, list[dict[str, Any]]]:
    asked = Asked(DataLoader(dataset, batch_size=5, **options), workers=2, method="fork")
    told: list[dict[str, Any]] = []
    Walk(asked, told.append).run()
    return asked, told


@pytest.fixture(autouse=True)
def this_file_is_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(places._user, __file__, True)


def test_a_batch_that_does_not_go_together_is_told_with_the_forms_of_its_samples() -> None:
    _, told = walked(Clips())
    failed = [t for t in told if "collate" in t]
    assert [t["at"][0] for t in failed] == [1]
    assert {i: f[0][2] for i, f in failed[0]["samples"]}[7] == [2]
    assert failed[0]["cut"] is True
    counts = {tuple(f[0][2]): n for f, n, _ in told[-1]["forms"]}
    assert counts == {(5,): 19, (2,): 1}


def test_batches_of_one_form_are_told_of_no_failure() -> None:
    dataset = Clips()
    dataset.clips[7] = np.arange(12)
    _, told = walked(dataset)
    assert not [t for t in told if {"collate", "raised"} & set(t)]


def test_samples_that_raise_are_told_with_the_programs_own_words_for_them() -> None:
    _, told = walked(Clips("random"))
    (raised,) = [t for t in told if "raised" in t]
    assert (raised["index"], raised["who"]) == (7, ["names[7] = 'clip 7'"])
    assert raised["raised"]["type"] == "ValueError"
    assert "random.randint" in raised["raised"]["frames"][-1]["text"]


@pytest.mark.parametrize(
    ("cut", "text", "length", "wanted"),
    [("slice", "clip[2:2 + 5]", 4, 5), ("random", "len(clip) - 5", 4, 5)],
)
def test_what_is_too_short_is_told_from_what_is_not(cut: str, text: str, length: int, wanted: int) -> None:
    why = explained.explain(Asked(DataLoader(Clips(cut))), 7, [1, 2, 3, 4, 5])
    short = why["short"]
    assert (short["text"], short["length"], short["wanted"]) == (text, length, wanted)
    assert (short["holder"], short["module"], short["axis"], short["of"]) == ("clip", "numpy", 0, 1)


def test_nothing_is_short_where_every_sample_is_as_long_as_it_happens_to_be() -> None:
    why = explained.explain(Asked(DataLoader(Clips("whole"))), 8, [1, 2, 3, 4, 5])
    assert "short" not in why
    assert "first" not in why


def test_the_first_value_of_another_form_is_told_by_its_line() -> None:
    class Pages(Clips):
        def __getitem__(self, i: int) -> Any:
            if i == 7:
                page = np.zeros((1, 8, 8))
            else:
                page = np.zeros((3, 8 + i, 8))
            return torch.from_numpy(page)

    first = explained.explain(Asked(DataLoader(Pages())), 7, [1, 2, 3, 4])["first"]
    assert (first["name"], first["size"], first["dimension"], first["usual"][0]) == ("page", [1, 8, 8], 0, 3)
    assert first["site"]["text"] == "page = np.zeros((1, 8, 8))"


def test_draws_are_those_of_real_workers() -> None:
    class Drawn(Dataset):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, i: int) -> Any:
            return torch.tensor([random.random(), float(np.random.rand()), float(torch.rand(()))])

    torch.manual_seed(3)
    real = torch.cat(list(DataLoader(Drawn(), batch_size=1, num_workers=2)))
    torch.manual_seed(3)
    base = int(torch.empty((), dtype=torch.int64).random_())
    draws, dataset, mine = Draws(Drawn(), 2, base), Drawn(), []
    before = torch.get_rng_state()
    for number in range(4):
        with draws.as_worker(number % 2):
            mine.append(dataset[number])
    assert torch.equal(torch.stack(mine), real)
    assert torch.equal(torch.get_rng_state(), before)


def test_parts_that_cannot_be_pickled_are_named_and_the_rest_can() -> None:
    dataset: Any = Clips()
    dataset.guard = threading.Lock()
    dataset.steps = [abs, lambda x: x]
    dataset.held = torch.ones(3)
    found = pickled.unpicklable(Asked(DataLoader(dataset)))
    assert found is not None
    assert [leaf["path"] for leaf in found["leaves"]] == ["dataset.guard", "dataset.steps[1]"]
    assert found["leaves"][1]["defined"]["text"] == "dataset.steps = [abs, lambda x: x]"
    assert found["leaves"][0]["owner"] == "Clips"
    assert found["rest"] is True


def test_a_dataset_that_can_be_pickled_has_no_such_parts() -> None:
    assert pickled.unpicklable(Asked(DataLoader(Clips()))) is None


def test_samples_are_cut_to_the_smallest_size_and_are_not_where_they_differ_otherwise() -> None:
    pairs = [(torch.ones(3, 4), 1), (torch.ones(2, 5), 0)]
    cut = forms.alike(pairs)
    assert cut is not None
    assert [tuple(x.shape) for x, _ in cut] == [(2, 4), (2, 4)]
    assert forms.alike([torch.ones(3), torch.ones(3, 1)]) is None


def test_digests_tell_values_apart_and_not_objects() -> None:
    one, same, other = ([torch.ones(2), "a"], [torch.ones(2), "a"], [torch.zeros(2), "a"])
    assert forms.digest(one) == forms.digest(same) != forms.digest(other)


def test_a_sample_of_a_subset_is_named_by_the_dataset_beneath() -> None:
    subset = SimpleNamespace(indices=[7, 3], dataset=Clips())
    assert forms.identity(subset, 1) == ["names[3] = 'clip 3'"]

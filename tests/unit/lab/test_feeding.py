"""The statement that feeds a holder, seen line by line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from firstcause.lab.feeding import Feeding


class Held:
    def __init__(self) -> None:
        self.items: Any = []
        self.by_key: dict[int, int] = {}
        self.total = torch.zeros(())


def fed(now: Callable[[], Any], step: Callable[[], None]) -> str:
    feeding = Feeding(now)
    feeding.begin()
    step()
    feeding.end()
    assert sys.gettrace() is None
    return str((feeding.site or {}).get("text"))


@pytest.fixture
def held() -> Held:
    return Held()


def test_an_append_and_a_store_by_key_are_seen(held: Held) -> None:
    def step() -> None:
        len(held.items)
        held.items.append(1)
        held.by_key[len(held.by_key)] = 4

    assert fed(lambda: held.items, step) == "held.items.append(1)"
    assert fed(lambda: held.by_key, step) == "held.by_key[len(held.by_key)] = 4"


def test_a_new_list_and_a_total_that_is_added_to_in_place_are_seen(held: Held) -> None:
    def step() -> None:
        held.items = [*held.items, 1]
        held.total += 1

    assert fed(lambda: held.items, step) == "held.items = [*held.items, 1]"
    assert fed(lambda: held.total, step) == "held.total += 1"


def test_a_variable_survives_being_watched() -> None:
    kept: list[int] = []
    feeding = Feeding(lambda: kept)
    feeding.begin()
    number = 1
    kept.append(number)
    number += 1
    feeding.end()
    assert (kept, number) == ([1], 2)
    assert feeding.site is not None
    assert feeding.site["text"] == "kept.append(number)"


def test_what_is_not_fed_has_no_place(held: Held) -> None:
    assert fed(lambda: held.items, lambda: None) == "None"

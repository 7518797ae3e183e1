"""Chains from the program's names to a tensor, found in this process among real objects."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

import torch

from firstcause.lab.holding import Chain, chain_to

MODULE_LEVEL: list[torch.Tensor] = []


class Tracker:
    def __init__(self) -> None:
        self.history: dict[str, list[torch.Tensor]] = defaultdict(list)
        self.last: Any = None


def found(make: Any) -> Chain:
    """The chain to what ``make`` put somewhere; it is called so that no variable of its own is left."""
    chain = chain_to(make())
    assert chain is not None
    return chain


def test_an_item_of_a_list_in_a_dict_on_an_object_is_named_as_the_program_would() -> None:
    tracker = Tracker()
    tracker.history["loss"] += [torch.ones(1), torch.ones(2)]

    chain = found(lambda: tracker.history["loss"][1])

    assert chain.expression == "tracker.history['loss'][...]"
    assert chain.name == "history"
    assert chain.container is tracker.history["loss"]
    assert chain.outer is tracker.history


def test_an_attribute_holds_without_a_container() -> None:
    tracker = Tracker()
    tracker.last = torch.ones(3)

    chain = found(lambda: tracker.last)

    assert (chain.expression, chain.container, chain.outer) == ("tracker.last", None, None)


def test_a_name_of_a_module_is_found_where_no_function_holds_it() -> None:
    MODULE_LEVEL.append(torch.ones(4))
    try:
        chain = found(lambda: MODULE_LEVEL[0])
        assert (chain.root, chain.function) == ("MODULE_LEVEL", "<module>")
        assert chain.container is MODULE_LEVEL
    finally:
        MODULE_LEVEL.clear()


def test_what_a_kept_exception_holds_is_told_with_the_function_that_ended() -> None:
    errors: deque[Exception] = deque()

    def fails() -> None:
        kept = torch.ones(5)
        raise ValueError(str(kept.shape))

    try:
        fails()
    except ValueError as error:
        errors.append(error)

    def kept() -> object:
        trace = errors[0].__traceback__
        assert trace is not None
        assert trace.tb_next is not None
        return trace.tb_next.tb_frame.f_locals["kept"]

    chain = found(kept)

    assert chain.exception == "local of fails, which has ended"


def test_a_tensor_that_nobody_names_has_no_chain() -> None:
    chain = chain_to(torch.ones(6))
    assert chain is None

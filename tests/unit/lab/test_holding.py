"""Ways from the program's names to tensors, found in this process among real objects."""

from __future__ import annotations

import functools
import gc
import queue
from collections import defaultdict, deque
from collections.abc import Callable, Generator
from typing import Any, ClassVar

import pytest
import torch

from firstcause.lab.holding import Holder, holder_of

MODULE_LEVEL: list[torch.Tensor] = []


class Tracker:
    shared: ClassVar[list[torch.Tensor]] = []

    def __init__(self) -> None:
        self.history: dict[str, list[torch.Tensor]] = defaultdict(list)
        self.last: Any = None


class Slots:
    __slots__ = ("pages",)

    def __init__(self) -> None:
        self.pages: list[torch.Tensor] = []


@pytest.fixture
def made() -> Generator[Any]:
    """Tensors that nobody but the collector and the test's own holder knows."""
    kept: list[Any] = []

    def make(keep: Callable[[torch.Tensor], object]) -> Holder:
        numbers = []
        for i in range(6):
            tensor = torch.ones(3) * i
            numbers.append(id(tensor))
            keep(tensor)
            del tensor
        holder = holder_of([o for o in gc.get_objects() if type(o) is torch.Tensor and id(o) in numbers])
        assert holder is not None
        return holder

    yield make
    kept.clear()


def test_items_of_a_list_in_a_dict_on_an_object_are_named_as_the_program_would(made: Any) -> None:
    tracker = Tracker()
    holder = made(lambda t: tracker.history["loss"].append(t))
    assert holder.expression == "tracker.history['loss'][...]"
    assert holder.name == "history"
    assert holder.now() is tracker.history


def test_an_attribute_that_is_replaced_is_asked_for_again_and_can_be_put() -> None:
    tracker = Tracker()
    tracker.last = torch.ones(3)
    holder = holder_of([tracker.last])
    assert holder is not None
    tracker.last = torch.zeros(3)
    assert (holder.expression, holder.now() is tracker.last) == ("tracker.last", True)
    assert holder.put is not None
    holder.put(None)
    assert tracker.last is None


def test_a_name_of_a_module_is_found_where_no_function_holds_it(made: Any) -> None:
    try:
        holder = made(MODULE_LEVEL.append)
        assert (holder.root, holder.function) == ("MODULE_LEVEL", "<module>")
    finally:
        MODULE_LEVEL.clear()


def test_an_attribute_of_a_class_is_found(made: Any) -> None:
    try:
        assert made(Tracker.shared.append).name == "shared"
    finally:
        Tracker.shared.clear()


def test_a_slot_a_queue_and_a_deque_of_pairs_are_found(made: Any) -> None:
    slots, jobs, recent = Slots(), queue.Queue[torch.Tensor](), deque[Any]()
    assert made(lambda t: slots.pages.append(t)).name == "pages"
    assert made(jobs.put).name == "jobs"
    assert made(lambda t: recent.append((1, t))).name == "recent"


def test_what_a_closure_a_generator_and_a_default_hold_is_named_by_their_own_variable(made: Any) -> None:
    def keeper() -> Callable[[torch.Tensor], None]:
        kept: list[torch.Tensor] = []
        return lambda value: kept.append(value)

    def collecting() -> Generator[None, torch.Tensor]:
        gathered = []
        while True:
            gathered.append((yield))

    def remember(value: torch.Tensor, store: list[torch.Tensor] = []) -> None:  # noqa: B006
        store.append(value)

    keep, sink = keeper(), collecting()
    next(sink)
    assert made(keep).name == "kept"
    assert made(sink.send).name == "gathered"
    assert made(remember).name == "store"


@pytest.mark.parametrize("size", [None, 100])
def test_the_cache_of_a_function_is_named_by_the_function(made: Any, size: int | None) -> None:
    numbers = iter(range(100))
    given: list[torch.Tensor] = []

    @functools.lru_cache(maxsize=size)
    def table(number: int) -> torch.Tensor:
        return given.pop()

    def keep(tensor: torch.Tensor) -> None:
        given.append(tensor)
        del tensor
        table(next(numbers))

    assert made(keep).name == "table"


def test_a_chain_of_nodes_is_named_where_it_begins(made: Any) -> None:
    class Node:
        def __init__(self, value: torch.Tensor, before: Any) -> None:
            self.value, self.before = value, before

    class Chain:
        def __init__(self) -> None:
            self.newest: Any = None

    chain = Chain()
    assert made(lambda t: setattr(chain, "newest", Node(t, chain.newest))).name == "newest"


def test_what_a_kept_exception_holds_is_told_with_the_function_that_ended() -> None:
    errors: deque[Exception] = deque()

    def fails() -> None:
        kept = torch.ones(5)
        raise ValueError(str(kept.shape))

    try:
        fails()
    except ValueError as error:
        errors.append(error)
    trace = errors[0].__traceback__
    assert trace is not None
    assert trace.tb_next is not None
    frames = [trace.tb_next.tb_frame]
    del trace
    target = [frames.pop().f_locals["kept"]]
    holder = holder_of([target.pop()])
    assert holder is not None
    assert (holder.name, holder.exception) == ("errors", "local of fails, which has ended")


def test_a_tensor_that_nobody_names_has_no_holder() -> None:
    assert holder_of([torch.ones(6)]) is None

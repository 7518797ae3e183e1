"""Growth from step to step in small real trainings in this process: its kind, its holder, and its end without it."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from firstcause.lab.audit.hooks_kept import METHODS
from firstcause.lab.audit.hooks_kept import Watch as Hooks
from firstcause.lab.audit.memory_growth import Watch
from firstcause.lab.rising import climbs, rises

STEPS = 16


def watched(
    each: Callable[[int, torch.Tensor, torch.Tensor], None], released: bool = False, least: int = -1
) -> dict[str, Any]:
    """What the watcher tells of a training of 16 steps that calls ``each`` with step, loss and output."""
    torch.manual_seed(0)
    # What earlier tests left behind would be let go of in between.
    gc.collect()
    watch = Watch({"released": released}, None)  # type: ignore[arg-type]
    watch.LEAST_GROWN = least
    watch.start()
    net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(STEPS):
        output = net(torch.randn(4, 8))
        loss = output.pow(2).mean()
        watch.loss(loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        each(step, loss, output)
        watch.after_step(optimizer)
    growth: dict[str, Any] = watch.facts().get("growth") or {}
    return growth


def test_losses_kept_with_their_graph_are_told_with_the_list_and_the_line() -> None:
    history: list[torch.Tensor] = []
    seen = watched(lambda step, loss, output: history.append(loss))
    assert (seen["kind"], seen["container"], seen["loss_grows"]) == ("graph", "list", False)
    assert "history.append(loss)" in seen["site"]["text"]


def test_the_graph_stops_growing_once_what_is_kept_is_detached() -> None:
    history: list[torch.Tensor] = []
    seen = watched(lambda step, loss, output: history.append(loss), released=True)
    after = [s["nodes"] for s in seen["after"]]
    assert len(after) >= 4
    assert len(set(after)) == 1
    assert seen["samples"][-1]["nodes"] > seen["samples"][0]["nodes"]


def test_outputs_without_a_graph_are_another_kind() -> None:
    cache: dict[int, torch.Tensor] = {}
    seen = watched(lambda step, loss, output: cache.update({step: output.detach().clone()}))
    assert (seen["kind"], seen["container"], seen["bounded"]) == ("tensors", "dict", False)


def test_a_process_that_has_not_grown_is_not_looked_through() -> None:
    history: list[torch.Tensor] = []
    assert watched(lambda step, loss, output: history.append(loss), least=1 << 40) == {}


@pytest.mark.parametrize("kept", [deque(maxlen=3), None])
def test_what_is_bounded_or_not_kept_does_not_grow(kept: deque[torch.Tensor] | None) -> None:
    def keep(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        if kept is not None:
            kept.append(loss)

    assert watched(keep) == {}


def test_a_running_total_is_one_value_that_each_step_makes_anew() -> None:
    total = [torch.zeros(())]

    def add(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        total[0] = total[0] + loss

    seen = watched(add)
    assert (seen["kind"], seen["name"]) == ("graph", "total")
    assert "total[0] = total[0] + loss" in seen["site"]["text"]


def test_a_running_total_is_added_to_in_place() -> None:
    total = torch.zeros(())

    def add(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        nonlocal total
        total += loss

    seen = watched(add)
    assert (seen["kind"], seen["name"], seen["single"]) == ("graph", "total", True)
    assert "total += loss" in seen["site"]["text"]


def test_objects_that_are_no_tensors_are_told_by_their_bytes() -> None:
    archive: list[bytes] = []

    def keep(step: int, loss: torch.Tensor, output: torch.Tensor) -> None:
        archive.append(bytes(4 << 20))
        # What is only asked for is not yet resident.
        archive[-1] = archive[-1].replace(b"\0", b"1")

    seen = watched(keep)
    assert (seen["kind"], seen["name"]) == ("host", "archive")


def test_a_series_that_falls_back_or_fills_up_does_not_rise() -> None:
    assert rises([10, 20, 30, 40, 50, 60, 70, 80])
    assert rises([1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6])
    assert not rises([10, 20, 30, 40, 10, 20, 30, 40])
    assert not rises([10] * 8)
    assert not rises([10, 20, 30, 40, 50, 55, 57, 58, 58, 58])


def test_bytes_of_a_process_climb_through_all_their_thirds() -> None:
    assert climbs([10, 20, 19, 30, 40, 39, 50, 60, 70])
    assert not climbs([10, 40, 50, 52, 52, 53, 53, 53, 53])
    assert not climbs([10, 20, 30])


@pytest.fixture
def hooks() -> Any:
    before = {(kind, name): getattr(kind, name) for kind, names in METHODS.items() for name in names}
    watch = Hooks({}, None)  # type: ignore[arg-type]
    watch.start()
    yield watch
    for (kind, name), method in before.items():
        setattr(kind, name, method)


def test_hooks_that_one_line_registers_again_and_again_pile_up(hooks: Hooks) -> None:
    layer = nn.Linear(2, 2)
    for _ in range(5):
        layer.register_forward_hook(lambda *_: None)
    (pile,) = hooks.facts()["hooks"]
    assert (pile["method"], pile["registered"], pile["most"]) == ("register_forward_hook", 5, 5)
    assert "layer.register_forward_hook" in pile["site"]["text"]


def test_hooks_that_are_removed_or_stand_once_on_each_layer_do_not(hooks: Hooks) -> None:
    layer = nn.Linear(2, 2)
    for _ in range(5):
        handle = layer.register_forward_hook(lambda *_: None)
        handle.remove()
    for other in [nn.Linear(2, 2) for _ in range(5)]:
        other.register_forward_pre_hook(lambda *_: None)
    assert hooks.facts()["hooks"] == []


def test_a_graph_beyond_what_is_counted_has_grown_enough_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    history: list[torch.Tensor] = []
    whole = [s["nodes"] for s in watched(lambda step, loss, output: history.append(loss))["samples"]]
    most = whole[-3]
    monkeypatch.setattr("firstcause.lab.live.MOST_NODES", most)
    monkeypatch.setattr("firstcause.lab.audit.memory_growth.MOST_NODES", most)
    history.clear()
    seen = watched(lambda step, loss, output: history.append(loss))
    nodes = [s["nodes"] for s in seen["samples"]]
    assert seen["kind"] == "graph"
    # The end of the counting is no end of the growth.
    assert rises(nodes)
    assert max(nodes) < most

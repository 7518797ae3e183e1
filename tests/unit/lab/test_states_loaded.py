"""States loaded without being strict: what is noted of them, in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from torch import nn

from firstcause.lab.audit.states_loaded import Watch
from firstcause.lab.counterfactual import Ran
from firstcause.specialists.checkpointing_and_reproducibility import module_prefix_strict_false as cause


@pytest.fixture
def watch() -> Iterator[Watch]:
    before = nn.Module.load_state_dict
    made = Watch({}, None)  # type: ignore[arg-type]
    made.start()
    yield made
    nn.Module.load_state_dict = before  # type: ignore[method-assign]


def net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))


def seen(watch: Watch) -> str | None:
    return cause.seen(Ran("audit", "steps", facts=watch.facts()), None)  # type: ignore[arg-type]


@pytest.mark.parametrize("side", ["given", "own"])
def test_a_prefix_on_one_side_is_told_with_what_would_match_without_it(watch: Watch, side: str) -> None:
    wrapped = nn.ModuleDict({"module": net()})
    to, state = (net(), wrapped.state_dict()) if side == "given" else (wrapped, net().state_dict())
    to.load_state_dict(state, strict=False)
    (loaded,) = watch.facts()["loaded"]
    assert (loaded["side"], loaded["prefix"]) == (side, "module.")
    assert (loaded["matched"], loaded["matched_then"], loaded["own"]) == (0, 4, 4)
    assert "load_state_dict(state, strict=False)" in loaded["site"]["text"]
    assert seen(watch) is not None


def test_a_backbone_without_its_head_is_meant(watch: Watch) -> None:
    state = {k: v for k, v in net().state_dict().items() if k.startswith("0.")}
    net().load_state_dict(state, strict=False)
    assert watch.facts()["loaded"]
    assert seen(watch) is None


def test_only_the_last_loading_of_a_module_counts(watch: Watch) -> None:
    model = net()
    state = {f"module.{k}": v for k, v in net().state_dict().items()}
    model.load_state_dict(state, strict=False)
    model.load_state_dict({k.removeprefix("module."): v for k, v in state.items()})
    assert watch.facts()["loaded"] == []

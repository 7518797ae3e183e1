"""The watchers by which a cause is looked at again once its patch is in."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from firstcause.fix.invariants import SHOWN_BY
from firstcause.lab import audit
from firstcause.specialists import CAUSES
from firstcause.specialists.specialist import SilentCause


@pytest.mark.parametrize(("cause", "watchers"), SHOWN_BY.items())
def test_each_is_a_silent_cause_and_each_watcher_is_there(cause: str, watchers: tuple[str, ...]) -> None:
    assert isinstance(CAUSES[cause], SilentCause)
    for name in watchers:
        assert issubclass(importlib.import_module(f"firstcause.lab.audit.{name}").Watch, audit.Watcher)


@pytest.mark.parametrize(("cause", "watchers"), SHOWN_BY.items())
def test_the_experiment_of_a_cause_watches_nothing_else(cause: str, watchers: tuple[str, ...]) -> None:
    text = Path(str(CAUSES[cause].__file__)).read_text()  # type: ignore[attr-defined]
    every = {p.stem for p in Path(audit.__file__).parent.glob("[a-z]*.py")}
    named = {name for name in every if f'"{name}"' in text}
    assert named <= set(watchers), (cause, named)

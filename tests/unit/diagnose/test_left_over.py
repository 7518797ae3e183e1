"""What an audit that ended for want of time did not come to is said, and only then."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.diagnose import pipeline
from firstcause.diagnose.answer import Unseen


def examined(seen: int | None, taken: int, monkeypatch: pytest.MonkeyPatch) -> Unseen | None:
    monkeypatch.setattr(pipeline, "steps_of", lambda _: [{}] * taken)
    examination: Any = SimpleNamespace(
        lab=SimpleNamespace(seen_steps=seen), folder=SimpleNamespace(journals=dict)
    )
    return pipeline._left_over(examination)


def test_the_steps_that_there_was_time_for_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    found = examined(812, 2200, monkeypatch)
    assert found is not None
    assert "812 of 2200 steps" in found.why


@pytest.mark.parametrize(("seen", "taken"), [(None, 2200), (40, 40), (41, 40)])
def test_nothing_is_said_of_an_audit_that_saw_all_or_was_not_cut(
    seen: int | None, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert examined(seen, taken, monkeypatch) is None

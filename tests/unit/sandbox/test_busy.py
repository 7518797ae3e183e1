from __future__ import annotations

import os

import pytest

from firstcause.sandbox import busy


@pytest.mark.parametrize(
    ("load", "cores", "expected"), [(0.2, 2, 1.0), (3.0, 2, 1.5), (40.0, 2, 2.0), (8.0, 16, 1.0)]
)
def test_a_busy_machine_is_given_more_time(
    load: float, cores: int, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)))
    assert busy.patience() == expected


def test_a_load_that_cannot_be_read_stretches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> tuple[float, float, float]:
        raise OSError

    monkeypatch.setattr(os, "getloadavg", unknown)
    assert busy.patience() == 1.0

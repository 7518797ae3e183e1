"""Tests that need a card: skipped where there is none; FIRSTCAUSE_GPU_TESTS=cpu tries their programs without one, =cuda asks for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ON = os.environ.get("FIRSTCAUSE_GPU_TESTS", "")


def has_card() -> bool:
    if not any(name.startswith("nvidia") for name in os.listdir("/dev")):
        # Without importing torch, which takes seconds of every collection.
        return False
    import torch

    return torch.cuda.is_available()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ours = [item for item in items if HERE in item.path.parents]
    if ours and not ON and not has_card():
        for item in ours:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))
    if ON == "cpu":
        for item in ours:
            if item.get_closest_marker("needs_card") is not None:
                item.add_marker(pytest.mark.skip(reason="only on a CUDA device"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs_card: cannot be tried without a CUDA device")

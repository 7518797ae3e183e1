"""The plugin that pytest loads: its option and its marker; all else is loaded where one of them is used."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("firstcause", "root causes of failing tests")
    group.addoption(
        "--firstcause",
        action="store_true",
        help="run each failing test that uses torch again, recorded, and add its diagnosis to the report",
    )
    group.addoption(
        "--firstcause-budget",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="what one diagnosis may take for its experiments (default: 60)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "firstcause(max_grad_norm=None, leaks=None): fail where the norm of the gradients that an optimizer steps with "
        "is above max_grad_norm, or where more than `leaks` tensors made by the test outlive it",
    )
    if _is_recorded():
        config.pluginmanager.register(_named("recorded").Recorded(), "firstcause-recorded")
    elif config.getoption("--firstcause"):
        from firstcause.integrations.testing.diagnosing import Diagnosing

        config.pluginmanager.register(Diagnosing(config), "firstcause-diagnosing")


def pytest_collection_finish(session: pytest.Session) -> None:
    marked = any(item.get_closest_marker("firstcause") for item in session.items)
    # Marked tests may skip themselves where torch is not installed.
    if marked and importlib.util.find_spec("torch") is not None:
        manager = session.config.pluginmanager
        if not manager.has_plugin("firstcause-limits"):
            manager.register(_named("limits").Limits(), "firstcause-limits")


def pytest_report_header(config: pytest.Config) -> str | None:
    if not config.getoption("--firstcause"):
        return None
    if _is_recorded():
        return "firstcause: this run is recorded already, so failing tests are not run again"
    budget = config.getoption("--firstcause-budget")
    return f"firstcause: failing tests are run again by {os.path.basename(sys.executable)}, {budget:g} s of experiments each"


def _is_recorded() -> bool:
    # The environment alone is not enough: an interpreter that is started without its site is not observed.
    return "FIRSTCAUSE_RUN" in os.environ and "firstcause.record.observe.session" in sys.modules


def _named(module: str) -> Any:
    # By name: what pytest loads at its start must not reach torch.
    return importlib.import_module(f"firstcause.integrations.testing.{module}")

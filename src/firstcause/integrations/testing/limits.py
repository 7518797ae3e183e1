"""The limits of marked tests: checked while the test runs, and once it and its own fixtures are gone."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

from firstcause.integrations.testing.gradients import Norms
from firstcause.integrations.testing.leaks import Alive

NAMES = ("max_grad_norm", "leaks")
ALIVE = pytest.StashKey[Alive]()


class Limits:
    """Registered where a collected test is marked; the other tests of that session are left alone."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        asked = _asked(item)
        if not asked:
            return (yield)
        if asked.get("leaks") is not None:
            # After the set-up: what fixtures of a wider scope hold is nobody's leak.
            item.stash[ALIVE] = Alive()
        limit = asked.get("max_grad_norm")
        try:
            if limit is None:
                return (yield)
            # A recorded run goes on to its end, so that the record shows where the norm comes from.
            with Norms(float(limit), late="FIRSTCAUSE_RUN" in os.environ):
                return (yield)
        except BaseException:
            # Its traceback holds what the test held.
            if ALIVE in item.stash:
                del item.stash[ALIVE]
            raise

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        result = yield
        alive = item.stash.get(ALIVE, None)
        if alive is not None:
            del item.stash[ALIVE]
            arguments = getattr(item, "funcargs", None)
            if arguments:
                # pytest itself drops them next.
                arguments.clear()
            alive.check(int(_asked(item)["leaks"]))
        return result


def _asked(item: pytest.Item) -> dict[str, Any]:
    """What the markers of a test ask for, the nearest one first; raises ``pytest.UsageError`` for an unknown name."""
    asked: dict[str, Any] = {}
    for marker in item.iter_markers("firstcause"):
        unknown = [*marker.args, *(name for name in marker.kwargs if name not in NAMES)]
        if unknown:
            raise pytest.UsageError(
                f"{item.nodeid}: the firstcause marker takes {' and '.join(NAMES)}, and not {unknown[0]!r}"
            )
        asked = {**marker.kwargs, **asked}
    return asked

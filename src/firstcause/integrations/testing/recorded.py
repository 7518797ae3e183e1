"""Inside a recorded or replayed run of pytest: what ends a test is told as what ends a program is."""

from __future__ import annotations

from typing import Any

import pytest

from firstcause.record.observe import session

# Outcomes by which a test says that a number is not what it should be.
SAID = (AssertionError, pytest.fail.Exception)


class Recorded:
    """Tells the record of each exception that fails a test; pytest itself ends with an exit code alone."""

    def pytest_exception_interact(self, node: Any, call: pytest.CallInfo[Any]) -> None:
        error = call.excinfo.value if call.excinfo is not None else None
        if error is None or not isinstance(node, pytest.Item):
            return
        if isinstance(error, SAID):
            session.not_met(error)
        else:
            session.ended_by(error)

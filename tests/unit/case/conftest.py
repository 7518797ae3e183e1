from __future__ import annotations

from pathlib import Path

import pytest

from case.samples import project


@pytest.fixture
def root(tmp_path: Path) -> str:
    """The .firstcause folder of a project with a recorded run."""
    return str(project(tmp_path))

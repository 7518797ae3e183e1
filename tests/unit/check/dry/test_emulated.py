"""What the emulation answers: each program gets what it asked for, and is run to its end."""

from __future__ import annotations

import pytest

from tests.unit.check.dry.dry_folder import told_of, written
from tests.unit.check.dry.emulated_programs import EMULATED

HEAD = "import copy\nimport pickle\nimport torch\nfrom torch import nn\n"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    programs = {name: HEAD + text for name, text in EMULATED.items()}
    return told_of(written(tmp_path_factory.mktemp("emulated"), programs))


@pytest.mark.parametrize("name", EMULATED)
def test_a_program_is_answered_to_its_end(told, name: str) -> None:
    end = told[name][-1]
    line = ["", *(HEAD + EMULATED[name]).splitlines()][end["place"][1]]
    assert end["outcome"] == "finished", f"{line}: {end['why']}"
    assert [e for e in told[name] if e["kind"] == "finding"] == []

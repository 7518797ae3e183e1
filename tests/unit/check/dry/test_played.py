"""What torch computes from a tensor's memory, what other threads do, and what is not here, is played to the program's end."""

from __future__ import annotations

import pytest

from tests.unit.check.dry.dry_folder import told_of, written
from tests.unit.check.dry.played_programs import PLAYED

HEAD = "import torch\nfrom torch import nn\n"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    programs = {name: HEAD + text for name, text in PLAYED.items()}
    return told_of(written(tmp_path_factory.mktemp("played"), programs))


@pytest.mark.parametrize("name", PLAYED)
def test_a_program_gets_what_it_asked_for(told, name: str) -> None:
    end = told[name][-1]
    line = ["", *(HEAD + PLAYED[name]).splitlines()][end["place"][1]]
    assert end["outcome"] == "finished", f"{line}: {end['why']}"
    assert [e for e in told[name] if e["kind"] == "finding"] == []


def test_what_is_not_here_is_named(told) -> None:
    notes = "\n".join(e["text"] for e in told["weights_from_a_hub"] if e["kind"] == "note")
    assert "the weights of net.pth are not here" in notes

"""What the emulation answers: each program gets what it asked for, and is run to its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.unit.check.dry.emulated_programs import EMULATED

HEAD = "import copy\nimport pickle\nimport torch\nfrom torch import nn\n"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    root = tmp_path_factory.mktemp("emulated")
    for name, text in EMULATED.items():
        (root / name).mkdir()
        (root / name / "train.py").write_text(HEAD + text)
    command = [sys.executable, os.path.join(os.path.dirname(__file__), "forked.py"), str(root)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.parametrize("name", EMULATED)
def test_a_program_is_answered_to_its_end(told, name: str) -> None:
    end = told[name][-1]
    line = ["", *(HEAD + EMULATED[name]).splitlines()][end["place"][1]]
    assert end["outcome"] == "finished", f"{line}: {end['why']}"
    assert [e for e in told[name] if e["kind"] == "finding"] == []

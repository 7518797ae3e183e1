"""Why a command could not be observed is told from its words and its shell script, and only where they tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.record.supervise.unseen import unseen

KEEPS = (
    'export PYTHONPATH="$(pwd):$PYTHONPATH"',
    "PYTHONPATH=.:${PYTHONPATH} python train.py",
    'PYTHONPATH="$PWD/my code:$PYTHONPATH" python train.py',
    "# export PYTHONPATH=.",
    "python -u train.py -I",
    "env OMP_NUM_THREADS=1 python -m train",
    "echo docker",
)
DROPS = (
    ("export PYTHONPATH=.", "sets PYTHONPATH"),
    ("PYTHONPATH=$PWD/src torchrun train.py", "sets PYTHONPATH"),
    ("unset PYTHONPATH", "unsets PYTHONPATH"),
    ("exec env -i PATH=$PATH python train.py", "clears the environment"),
    ("python3.11 -u -I train.py", "-I, -E and -S"),
    ("sudo python train.py", "outside of this environment"),
    ("docker run image python train.py", "outside of this environment"),
)


@pytest.mark.parametrize("line", KEEPS)
def test_what_keeps_the_environment_is_no_reason(tmp_path: Path, line: str) -> None:
    (tmp_path / "t.sh").write_text(f"#!/bin/bash\n{line}\n")
    assert unseen(["bash", "t.sh"], str(tmp_path)) == ""


@pytest.mark.parametrize(("line", "said"), DROPS)
def test_the_line_that_drops_it_is_named(tmp_path: Path, line: str, said: str) -> None:
    (tmp_path / "t.sh").write_text(f"#!/bin/bash\nset -e\n{line}\n")
    told = unseen(["./t.sh"], str(tmp_path))
    assert told.startswith("not observed: ./t.sh:3 ")
    assert said in told


def test_the_command_itself_may_tell(tmp_path: Path) -> None:
    assert "the command clears" in unseen(["env", "-i", "python", "train.py"], str(tmp_path))
    assert unseen(["ls"], str(tmp_path)) == ""
    (tmp_path / "data.sh").write_bytes(b"\xff\xfe\x00")
    assert unseen(["bash", "data.sh"], str(tmp_path)) == ""

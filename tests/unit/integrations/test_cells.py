"""Cells as a script: what magics run stays, what they show goes, and each line leads back to its cell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.errors import InputError
from firstcause.integrations.notebook.cells import NAME, Cell, Script
from firstcause.integrations.notebook.diagnosing import options

CELLS = (
    Cell(1, "%matplotlib inline\nimport os\n%time a = 1\n"),
    Cell(3, "!ls\nfiles = !ls\n%cd below\nif a:\n    %timeit a + 1\n"),
    Cell(4, '%%firstcause --budget 3\n%run prepare.py --rate "0 1"  # the data\nb = rate\n'),
    Cell(7, "print(a, b, os.path.basename(os.getcwd()))\nbroken ="),
    Cell(8, "print(a, b, os.path.basename(os.getcwd()))"),
)


def test_the_script_runs_as_the_cells_did(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "prepare.py").write_text(
        "import sys\nrate = sys.argv[2]\nassert __name__ == '__main__'\n"
    )
    script = Script(CELLS, str(tmp_path))
    script.write()
    done = subprocess.run([sys.executable, NAME], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1 0 1 below\n", "")


def test_lines_lead_back_to_their_cells(tmp_path: Path) -> None:
    script = Script((*CELLS, Cell(9, "x = 1\ndisplay(x)")), str(tmp_path))
    script.write()
    lines = (tmp_path / NAME).read_text().splitlines()
    assert lines[1] == "from IPython.display import display"
    for text, place in (("b = rate", "line 3 of In [4]"), ("display(x)", "line 2 of In [9]")):
        assert script.place(lines.index(text) + 1) == place
    assert script.place(1) == ""
    at = lines.index("b = rate") + 1
    assert script.legend(f"see {NAME}:{at}, {NAME}:{at} and {NAME}:1") == [f"{NAME}:{at} is line 3 of In [4]"]


def test_a_file_of_the_users_own_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("mine = 1\n")
    with pytest.raises(InputError, match="firstcause has not written it"):
        Script(CELLS, str(tmp_path)).write()
    assert (tmp_path / NAME).read_text() == "mine = 1\n"
    (tmp_path / NAME).unlink()
    Script(CELLS, str(tmp_path)).write()
    Script(CELLS[:1], str(tmp_path)).write()
    assert "prepare.py" not in (tmp_path / NAME).read_text()


@pytest.mark.parametrize("line", ["--audit extra", "--budget soon", "--aud", "'"])
def test_other_options_are_refused(line: str) -> None:
    with pytest.raises(InputError) as refused:
        options(line)
    assert refused.value.slug == "magic-options"


def test_options_are_read_as_on_the_command_line() -> None:
    asked = options("--audit --budget 5 --theory 'the rate is too high' --theory data")
    assert (asked.audit, asked.budget, asked.theory) == (True, 5.0, ["the rate is too high", "data"])

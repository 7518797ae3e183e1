"""A program that hangs is looked at from outside: where it stands, what it waits for; and it goes on afterwards."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from recording import environment, firstcause

from firstcause.lab.going.stacks import py_spy

HANGS = """\
import time
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, number):
        open("fetching", "w").close()
        while not __import__("os").path.exists("go"):
            time.sleep(0.05)
        return number


if __name__ == "__main__":
    print(sum(int(b.sum()) for b in DataLoader(Slow(), 2, num_workers=1)))
"""


@pytest.mark.skipif(py_spy() is None, reason="py-spy is not installed")
def test_a_hang_is_seen_with_its_line_and_the_program_goes_on(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HANGS)
    words = [sys.executable, "train.py"]
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    ) as program:
        try:
            while not (tmp_path / "fetching").exists() and program.poll() is None:
                time.sleep(0.1)
            done = firstcause(tmp_path, "capture", "--pid", str(program.pid), "--json", "seen.json")
        finally:
            (tmp_path / "go").touch()
        said, _ = program.communicate(timeout=60)
    assert done.returncode == 0, done.stderr
    assert (program.returncode, said.strip()) == (0, "6")
    seen = json.loads((tmp_path / "seen.json").read_text())
    roles = {s["role"]: (s["line"] or {}).get("line") for s in seen["standing"]}
    assert roles == {"the process": 17, "loader worker": 12}
    assert len(seen["waits"]) == 1
    assert "waits for a batch; loader worker" in seen["waits"][0]
    assert "train.py:12 in Slow.__getitem__" in seen["waits"][0]


def test_what_is_no_python_and_what_is_gone_is_said(tmp_path: Path) -> None:
    sleeping = subprocess.Popen([shutil.which("sleep") or "sleep", "30"])
    try:
        done = firstcause(tmp_path, "capture", "--pid", str(sleeping.pid))
    finally:
        sleeping.kill()
        sleeping.wait()
    assert (done.returncode, "is a Python" in done.stderr) == (2, True)
    gone = firstcause(tmp_path, "capture", "--pid", str(sleeping.pid))
    assert (gone.returncode, "there is no process" in gone.stderr) == (2, True)

"""A recorded failure becomes a script of a few lines that fails the same way in an empty folder, with torch alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(24, 24) for _ in range(10))
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.relu(layer(x))
        return torch.sigmoid(self.out(x) * 4)


torch.manual_seed(0)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for step in range(30):
    x = torch.randn(16, 24) * (1 + step)
    p = model(x)
    loss = -torch.log(1 - p).mean() - torch.log(p + 1e-3).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def firstcause(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "firstcause", *words], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_failing_step_becomes_a_script_of_a_few_lines(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    done = firstcause(tmp_path, "minimize", "-o", "repro.py", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    script = (tmp_path / "repro.py").read_text()
    assert "torch.log" in script
    assert "Encoder" not in script
    told = json.loads((tmp_path / "out.json").read_text())
    assert (told["left"], told["calls"] > 20) == (1, True)
    empty = tmp_path / "empty"
    empty.mkdir()
    alone = subprocess.run(
        [sys.executable, tmp_path / "repro.py"], cwd=empty, capture_output=True, text=True, check=False
    )
    assert alone.returncode == 1
    assert alone.stderr.splitlines()[-1] == told["ends"] == "AssertionError: tensor([-inf])"
    assert "left out: " in done.stdout
    assert "linear" in done.stdout


def test_written_test_is_red_until_the_program_is_mended(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    done = firstcause(tmp_path, "minimize", "--pytest", "-o", "test_repro.py")
    assert done.returncode == 0, done.stderr
    tried = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_repro.py"]
    red = subprocess.run(tried, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (red.returncode, "is not finite" in red.stdout) == (1, True)
    (tmp_path / "train.py").write_text(PROGRAM.replace("torch.log(1 - p)", "torch.log(1 - p + 1e-3)"))
    green = subprocess.run(tried, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert green.returncode == 0, green.stdout


LOADED = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Pages(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, i):
        return torch.rand(1 if i % 9 == 8 else 3, 6, 6), i % 2


if __name__ == "__main__":
    for pages, kinds in DataLoader(Pages(), batch_size=8, num_workers=2):
        print(pages.shape)
"""


def test_batch_that_a_worker_cannot_stack_is_a_loader_of_two_samples(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOADED)
    done = firstcause(tmp_path, "minimize", "train.py", "-o", "repro.py", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "out.json").read_text())
    script = (tmp_path / "repro.py").read_text()
    assert "DataLoader(samples, batch_size=2, num_workers=1)" in script
    assert "resize" in told["ends"] or "equal size" in told["ends"]


def test_run_without_a_failure_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('fine')\n")
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    done = firstcause(tmp_path, "minimize")
    assert done.returncode == 2
    assert "holds no failing step" in done.stderr


SHARED = """
import tempfile
import time

from torch.utils.data import DataLoader, Dataset


class Pages(Dataset):
    def __init__(self):
        self.book = tempfile.TemporaryFile()
        for n in range(64):
            self.book.write(bytes([n]) * 65536)

    def __len__(self):
        return 64

    def __getitem__(self, n):
        self.book.seek(n * 65536)
        for _ in range(8):
            if self.book.read(8192) != bytes([n]) * 8192:
                raise OSError(f"page {n} is damaged")
            time.sleep(0.002)
        return n


for batch in DataLoader(Pages(), 8, num_workers=2):
    print(batch)
"""


def test_reads_of_workers_that_share_a_file_become_a_script(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SHARED)
    firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    done = firstcause(tmp_path, "minimize", "-o", "repro.py", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    script = (tmp_path / "repro.py").read_text()
    assert "self.book = tempfile.TemporaryFile()" in script
    assert "raise OSError(" in script
    assert "num_workers=2" in script
    assert "the script fails in 5 of 5 runs" in done.stdout
    assert "no call of torch's is in the failure" in done.stdout

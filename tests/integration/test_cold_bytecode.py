"""Where no bytecode has been kept yet, a replay in a fresh process goes on as where it has: it writes none."""

from __future__ import annotations

import json
from pathlib import Path

from recording import firstcause

LATE = "def halved(x):\n    return x / 2\n"
TRAIN = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(12):
    import late

    x = torch.randn(4, 8) * (step != 9)
    loss = late.halved(net(x)).pow(2).mean() + torch.log(x.abs()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_replay_without_bytecode(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE)
    (tmp_path / "train.py").write_text(TRAIN)
    assert firstcause(tmp_path, "run", "-o", "run", "python", "train.py").returncode == 0
    done = firstcause(tmp_path, "replay", "run", "--json", "replay.json", PYTHONDONTWRITEBYTECODE="")
    assert done.returncode == 0, done.stdout
    assert json.loads((tmp_path / "replay.json").read_text())["exact"] is True
    assert not (tmp_path / "__pycache__").exists()

"""Where no bytecode has been kept yet, a replay in a fresh process goes on as where it has: it writes none."""

from __future__ import annotations

import json
from pathlib import Path

from recording import firstcause
from trainings import LOG_OF_ZERO

LATE = "def halved(x):\n    return x / 2\n"
TRAIN = LOG_OF_ZERO.replace("    x =", "    import late\n\n    x =").replace("net(x)", "late.halved(net(x))")


def test_replay_without_bytecode(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(LATE)
    (tmp_path / "train.py").write_text(TRAIN)
    assert firstcause(tmp_path, "run", "-o", "run", "python", "train.py").returncode == 0
    done = firstcause(tmp_path, "replay", "run", "--json", "replay.json", PYTHONDONTWRITEBYTECODE="")
    assert done.returncode == 0, done.stdout
    assert json.loads((tmp_path / "replay.json").read_text())["exact"] is True
    assert not (tmp_path / "__pycache__").exists()

"""Nothing is claimed on the logs of healthy trainings: 200 kB of each, made by running the real thing."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "healthy"
SIZE = 200_000
TORCHRUN = ["-m", "torch.distributed.run", "--nproc_per_node=2", "--log-dir", "logs"]
RUNS = [
    pytest.param([], "plain", "torch", id="plain"),
    pytest.param(TORCHRUN, "ranks", "torch", id="torchrun"),
    pytest.param([], "trainer", "transformers", id="trainer", marks=pytest.mark.slow),
    pytest.param([], "fabric", "lightning", id="lightning", marks=pytest.mark.slow),
    pytest.param([], "accelerated", "accelerate", id="accelerate", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("how", "program", "library"), RUNS)
def test_a_healthy_log_holds_no_pattern(how: list[str], program: str, library: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    command = [sys.executable, *how, str(PROGRAMS / f"{program}.py")]
    environment = dict(os.environ, OMP_NUM_THREADS="1", TORCH_CPP_LOG_LEVEL="INFO")
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout[-2000:].decode(errors="replace")
    log = ran.stdout * (SIZE // len(ran.stdout) + 1)
    (tmp_path / "train.log").write_bytes(log)

    told = subprocess.run(
        [sys.executable, "-m", "firstcause", "triage", "train.log", "-q", "--json", "told.json"],
        cwd=tmp_path,
        check=False,
    )

    said = json.loads((tmp_path / "told.json").read_text())
    assert (said["patterns"], said["action"]) == ([], "clarify")
    assert told.returncode == 3

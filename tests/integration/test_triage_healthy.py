"""Nothing is claimed on the logs of healthy programs: 200 kB of each.

Those of trainings are made by running the real thing. Those of the engines hold the messages of their own sources, as
`benchmarks/triage/engine_lines.py` writes them: vLLM 0.33.0, SGLang 0.5.23, DeepSpeed 0.19.8.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "healthy"
SIZE = 200_000
# Without --standalone the port is always the same, which another program may hold.
TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "--log-dir", "logs"]
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
    # Gloo itself may end one of two healthy ranks as they part, about once in a hundred runs: that log is of no healthy
    # run, and another is made.
    for _ in range(3):
        ran = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=300,
        )
        if ran.returncode == 0:
            break
    assert ran.returncode == 0, ran.stdout[-2000:].decode(errors="replace")
    assert len(ran.stdout) >= SIZE
    (tmp_path / "train.log").write_bytes(ran.stdout)
    assert nothing_told(tmp_path, "train.log")


@pytest.mark.parametrize("engine", ["vllm", "sglang", "deepspeed"])
def test_an_engine_s_own_messages_are_no_pattern(engine: str, tmp_path: Path) -> None:
    log = PROGRAMS / f"{engine}.log.gz"
    assert len(set(gzip.decompress(log.read_bytes()).splitlines())) > 1000
    assert nothing_told(tmp_path, str(log))


def nothing_told(folder: Path, log: str) -> bool:
    told = subprocess.run(
        [sys.executable, "-m", "firstcause", "triage", log, "-q", "--json", "told.json"],
        cwd=folder,
        check=False,
    )
    said = json.loads((folder / "told.json").read_text())
    assert (said["patterns"], said["action"]) == ([], "clarify")
    return told.returncode == 3

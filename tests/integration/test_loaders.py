"""Loaders that fail, and look-alikes that do not: real commands, asked again sample by sample."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from firstcause.diagnose import diagnose
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.schema import Diagnosis

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
PROGRAMS = Path(__file__).parent / "programs"


def deaths() -> dict[str, str]:
    """The programs of ``benchmarks/worker_deaths.py``."""
    path = BENCHMARKS / "worker_deaths_programs.py"
    spec = importlib.util.spec_from_file_location("worker_deaths_programs", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, str] = module.programs()
    return found


def diagnosed(program: Path | str, folder: Path) -> Diagnosis:
    if isinstance(program, Path):
        shutil.copy(program, folder / "train.py")
    else:
        (folder / "train.py").write_text(program)
    command = [sys.executable, "-m", "firstcause", "run", "-q", "-o", "run", sys.executable, "train.py"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
    kept = RunFolder(str(folder / "run"))
    return diagnose(kept, lambda failure: Lab(kept, failure, 300))


def named(diagnosis: Diagnosis) -> Any:
    (chosen,) = [h for h in diagnosis.hypotheses if h.status == "confirmed"]
    return chosen.evidence[0].values.get("index")


def test_the_sample_that_ends_a_worker_is_named(tmp_path: Path) -> None:
    diagnosis = diagnosed(deaths()["_exit, fork, batched"], tmp_path)
    assert (diagnosis.status, diagnosis.cause, named(diagnosis)) == ("established", "worker-killed", 37)
    assert diagnosis.site is not None
    assert diagnosis.site.text == "os._exit(3)"


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in deaths() if n != "_exit, fork, batched"])
def test_the_sample_is_named_in_every_kind_of_death(name: str, tmp_path: Path) -> None:
    diagnosis = diagnosed(deaths()[name], tmp_path)
    wanted = 18 if "iterable" in name else 37
    assert (diagnosis.status, diagnosis.cause, named(diagnosis)) == ("established", "worker-killed", wanted)


@pytest.mark.slow
def test_one_failing_batch_of_two_hundred_is_explained_in_a_fresh_process(tmp_path: Path) -> None:
    diagnosis = diagnosed(PROGRAMS / "one_short_of_many.py", tmp_path)
    assert (diagnosis.status, diagnosis.cause, named(diagnosis)) == (
        "established",
        "sample-shorter-than-crop",
        1234,
    )
    assert diagnosis.site is not None
    assert diagnosis.site.text == "windows = x.unfold(0, 32, 16)"


@pytest.mark.slow
def test_a_file_that_is_read_at_given_places_is_shared_by_right(tmp_path: Path) -> None:
    assert diagnosed(PROGRAMS / "reads_at_places.py", tmp_path).status == "healthy"


@pytest.mark.slow
def test_a_sample_that_raises_for_no_size_of_its_own_is_named_and_no_cause_is(tmp_path: Path) -> None:
    diagnosis = diagnosed(PROGRAMS / "unknown_name.py", tmp_path)
    assert (diagnosis.status, diagnosis.cause) == ("not-established", None)
    assert diagnosis.missing is not None
    assert "sample 61 (names[61] = 'c') raises (KeyError: 'c')" in diagnosis.missing

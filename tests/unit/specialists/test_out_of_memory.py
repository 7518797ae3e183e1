"""Allocations that were refused, as their messages tell them, and what that says of their cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.record.folder import RunFolder
from firstcause.record.journal import Journal
from firstcause.schema import Hypothesis, Run, Site, Symptom
from firstcause.specialists import CAUSES, out_of_memory
from firstcause.specialists.examination import Examination

GIB = 1 << 30
SITE = Site("train.py", 7, "forward", "scores = q @ k.transpose(-1, -2)")
HEAD = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 0 has a total capacity of 79.15 GiB of which {free} is free. "
TAIL = (
    "Including non-PyTorch memory, this process has {own} memory in use. Of the allocated memory {allocated} is allocated by "
    "PyTorch, and {idle} is reserved by PyTorch but unallocated."
)
PEAK = (HEAD + TAIL).format(
    tried="16.00 GiB", free="7.64 GiB", own="71.50 GiB", allocated="70.10 GiB", idle="812.00 MiB"
)
PIECES = (HEAD + TAIL).format(
    tried="2.00 GiB", free="1.02 GiB", own="78.12 GiB", allocated="61.00 GiB", idle="16.40 GiB"
)
SHARED = (HEAD + "Process 4242 has 60.00 GiB memory in use. " + TAIL).format(
    tried="4.00 GiB", free="1.15 GiB", own="18.00 GiB", allocated="16.90 GiB", idle="600.00 MiB"
)
OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 15.78 GiB total capacity; 9.20 GiB already allocated; "
    "640.00 MiB free; 14.10 GiB reserved in total by PyTorch)"
)
HOST = (
    "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
    "allocate 20736000000 bytes. Error code 12 (Cannot allocate memory)"
)
ARRAY = "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 29.8 GiB for an array with shape (63246, 63246) and data type float64"


def examined(message: str, folder: Path, held: list[int] | None = None) -> Examination:
    run = RunFolder(str(folder / "run"))
    Path(run.path).mkdir()
    journal = Journal(run.file("main.journal"))
    for step, size in enumerate(held or []):
        journal.event("memory", step=step, resident=size)
    described = Run("r", ("python", "train.py"), str(folder), "", "3.11", "linux")
    return Examination(run, described, Symptom("exception", message, SITE, step=9), None)


def verdicts(examination: Examination) -> dict[str, str]:
    causes = ("activation-peak", "fragmentation", "foreign-process-memory")
    proposed = [c for c in causes if CAUSES[c].propose(examination)]
    return {c: CAUSES[c].settle(Hypothesis(c, None, 0, "open", ()), examination).status for c in proposed}


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (PEAK, "activation-peak"),
        (PIECES, "fragmentation"),
        (OLD, "fragmentation"),
        (SHARED, "foreign-process-memory"),
    ],
)
def test_the_figures_of_a_device_confirm_one_cause_and_refute_the_others(
    message: str, cause: str, tmp_path: Path
) -> None:
    found = verdicts(examined(message, tmp_path))
    assert found.pop(cause) == "confirmed"
    assert set(found.values()) == {"refuted"}


@pytest.mark.parametrize("message", [HOST, ARRAY])
def test_a_request_of_the_host_that_follows_flat_steps_is_a_peak(message: str, tmp_path: Path) -> None:
    examination = examined(message, tmp_path, [300 << 20] * 8)
    assert verdicts(examination) == {"activation-peak": "confirmed"}
    settled = CAUSES["activation-peak"].settle(
        Hypothesis("activation-peak", None, 0, "open", ()), examination
    )
    assert settled.site == SITE
    assert settled.evidence[0].values["tried"] > 19 * GIB
    assert "after the 8 steps before" in settled.evidence[0].text


def test_memory_that_rose_before_a_small_request_is_no_peak(tmp_path: Path) -> None:
    small = HOST.replace("20736000000", "4194304")
    rising = [(300 + 40 * i) << 20 for i in range(12)]
    assert verdicts(examined(small, tmp_path, rising)) == {"activation-peak": "refuted"}


def test_the_figures_are_read_in_bytes_and_added_up() -> None:
    found = out_of_memory.refused(Symptom("exception", SHARED))
    assert found is not None
    assert found.tried == 4 * GIB
    assert found.others is not None
    assert round(found.others / GIB) == 60


@pytest.mark.parametrize(
    "symptom",
    [Symptom("exception", "RuntimeError: mat1 and mat2 shapes cannot be multiplied"), Symptom("nan", HOST)],
)
def test_other_failures_are_none_of_memory(symptom: Symptom) -> None:
    assert out_of_memory.refused(symptom) is None

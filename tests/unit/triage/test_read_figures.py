"""What rows of numbers, empty files and the kernel's own line tell."""

from __future__ import annotations

from told_by import triaged

ELASTIC = (
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
    "traceback : Signal 9 (SIGKILL) received by PID 3622\n"
)


def test_norms_that_grow_explode() -> None:
    assert "gradient-explosion" in triaged("grad norm of D 3 -> 40 -> 900 -> 1e6 within 60 its").patterns
    assert "gradient-explosion" not in triaged("grad norm of D 3 -> 4 -> 3.5 -> 3.8, is that ok").patterns


def test_losses_with_names_of_their_own_are_terms_and_no_row() -> None:
    apart = triaged("box loss 0.4, mask loss 0.9, my new depth loss 41000. is that normal?")
    assert apart.patterns == ("loss-imbalance",)
    assert "gradient-explosion" in triaged("loss 2.1, loss 2.0, loss 90, loss 4000").patterns


def test_an_empty_file_is_no_trouble_between_processes() -> None:
    file = triaged("EOFError: Ran out of input\ncomes from torch.load('last.ckpt'), the file has 0 bytes")
    assert file.patterns == ("checkpoint-corrupt",)
    assert triaged("EOFError: Ran out of input\nwith 4 spawned workers on windows").patterns == (
        "pickling-error",
    )


def test_the_kernels_own_line_explains_a_signal() -> None:
    bare = triaged(ELASTIC)
    explained = triaged(ELASTIC + "dmesg: Memory cgroup out of memory: Killed process 3622 (python3)")
    assert bare.routes[0] == "distributed-training-strategies"
    assert explained.routes[0] == "tensor-operations-and-memory"


def test_a_cause_without_a_pattern_has_its_specialist() -> None:
    triage = triaged("our 4 ranks all print the same samples in the same order, no sampler, torchrun")
    assert (triage.action, triage.patterns) == ("route", ())
    assert triage.routes == ("distributed-training-strategies",)

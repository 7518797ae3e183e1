"""What unseen questions were missed by: each kind with questions of its own, and with what must not be claimed."""

from __future__ import annotations

import pytest
from told_by import plan, triaged

DEBUGGING, LOADING, RESUMING = "debugging-techniques", "data-loading", "checkpointing-and-reproducibility"
KINDS = [
    # What is one-hot decides whether an index or a label is meant.
    ('  File "seg.py", line 8, in f\n    t = F.one_hot(mask, 4)\n', "Class values must be smaller than num_classes.",
     DEBUGGING, {"target-out-of-range"}),
    ('  File "tab.py", line 8, in f\n    t = F.one_hot(bucket, 4)\n', "Class values must be smaller than num_classes.",
     DEBUGGING, {"index-out-of-range"}),
    ('  File "run.py", line 8, in f\n    for b in dl:\n', "DataLoader worker (pid 9) is killed by signal: Segmentation fault.",
     LOADING, {"segfault", "dataloader-worker-exit"}),
]  # fmt: skip
WORDS = [
    ("it wants Long and I give it Int, in the loss", {"dtype-mismatch"}),
    ("the table of positions stays on cpu when I move the net", {"device-mismatch"}),
    ("stacking the samples fails, one clip is 31 frames and the next is another", {"collate-size-mismatch"}),
    ("labels go from 1 to 12, the criterion stops", {"target-out-of-range"}),
    ("the scaler says that unscale was called twice", {"amp-scaler-state"}),
    ("rank 5 finished its loader early and left, since then the others wait in backward", {"desync", "hang"}),
    ("the warmup starts again after each preemption", {"resume-gap"}),
    ("of the exported adapter all weights are nan", {"silent-nan-checkpoint"}),
]
NEAR = [
    # Words of an error's message that tell of none.
    "we train with prefetch_factor=4, retain_graph=True and fullgraph=True, and it is slow",
    "the run in half precision takes as long as the one in float32",
]
WELL = [
    "step 900 loss 0.731 (killed)\nresumed from step 900\nstep 910 loss 0.729\nstep 920 loss 0.733\n\ndid my resume work",
    "mem_alloc per step (GB): 4.1 7.9 4.1 7.9 4.1 7.9 4.1 7.9\nmy teammate sees a leak. who is right?",
    "gradcheck passes, the curve matches the built-in layer. is a backward of my own wrong?",
]


@pytest.mark.parametrize(("frame", "message", "specialist", "patterns"), KINDS)
def test_a_message_beside_its_frame(frame: str, message: str, specialist: str, patterns: set[str]) -> None:
    triage = triaged(f"Traceback (most recent call last):\n{frame}RuntimeError: {message}")
    assert (triage.routes[0], set(triage.patterns)) == (specialist, patterns)


@pytest.mark.parametrize(("text", "patterns"), WORDS)
def test_an_error_in_other_words(text: str, patterns: set[str]) -> None:
    triage = triaged(text)
    assert (triage.action, set(triage.patterns)) == ("route", patterns)


@pytest.mark.parametrize("text", NEAR)
def test_a_setting_is_no_error(text: str) -> None:
    assert set(triaged(text).patterns) <= {"slow-training"}


@pytest.mark.parametrize("text", WELL)
def test_what_does_well_is_no_symptom(text: str) -> None:
    triage = triaged(text)
    assert (triage.action, triage.patterns) == ("route", ())


def test_a_loss_that_jumps_after_a_resume_is_one() -> None:
    text = "step 900 loss 0.731 (killed)\nresumed from step 900\nstep 910 loss 2.4\nstep 920 loss 2.3\n\ndid my resume work"
    assert "resume-gap" in triaged(text).patterns


def test_lines_of_one_message_are_printed_and_not_written() -> None:
    line = "Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to "
    text = "\n".join(line + f"{2.0**-power}" for power in range(15, 20))
    assert triaged(text).patterns == ("loss-scale-minimum",)


def test_a_barrier_that_quotes_its_transport_is_one_failure() -> None:
    text = (
        "RuntimeError: Rank 3 failed to pass monitoredBarrier in 60000 ms\n Original exception:\n"
        "[/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 60000ms for recv operation"
    )
    assert triaged(text).patterns == ("collective-mismatch",)


def test_the_word_of_others_does_not_weigh_beside_a_theory() -> None:
    text = "it must be a leak: 2 GB after 1k steps, 5 GB after 2k, 8 GB after 3k"
    assert plan(triaged(f"A forum says that the loss is always nan with it.\n{text}")) == plan(triaged(text))


def test_a_denied_problem_asks_nothing() -> None:
    text = "memory stays constant, and a step takes 11 ms at iteration 100, 60 ms at iteration 2k and 170 ms at iteration 6k"
    assert triaged(text).patterns == ("slow-training",)
    assert plan(triaged(f"{text}\nI have checked the data, that is not the problem.")) == plan(triaged(text))

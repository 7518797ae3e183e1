"""The first step for a text: what is routed, asked, missing, or not ours."""

from __future__ import annotations

import pytest
from told_by import Ask, asks, triaged

from firstcause.catalog.load import slugs

ASKS = asks()
OUT_OF_MEMORY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 0 has a total capacity of 23.65 GiB of which"
    " {free} is free. Including non-PyTorch memory, this process has {own} memory in use. Of the allocated memory {allocated}"
    " is allocated by PyTorch, and {idle} is reserved by PyTorch but unallocated."
)
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 30, in <module>
    loss.backward()
  File "/opt/lib/python3.11/site-packages/torch/_tensor.py", line 581, in backward
    torch.autograd.backward(
{error}
"""
INPLACE = (
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation:"
    " [torch.cuda.FloatTensor [8, 4]], which is output 0 of ReluBackward0, is at version 2; expected version 1 instead."
)
ENGINE = "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"


@pytest.mark.parametrize("ask", ASKS, ids=[ask.text[:60] for ask in ASKS])
def test_a_question_in_plain_words(ask: Ask) -> None:
    triage = triaged(ask.text)
    assert triage.action == ask.action
    assert set(triage.patterns) == ask.patterns
    if ask.action == "route":
        assert triage.routes[0] == ask.specialist


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("no OOM, the loss simply does not fall", "cuda-oom"),
        ("loss isn't nan, but accuracy stays at 10%", "nan-loss"),
        ("training is not slow, it just does not learn", "slow-training"),
        ("another project had nan losses, this one hangs after epoch 1", "nan-loss"),
        ("we solved the OOM, now the run hangs after epoch 1", "cuda-oom"),
        ("kein OOM, aber der Loss wird nan", "cuda-oom"),
        ("没有OOM 但是loss变成nan", "cuda-oom"),
    ],
)
def test_what_is_denied_or_over_is_no_symptom(text: str, absent: str) -> None:
    triage = triaged(text)
    assert triage.action == "route"
    assert absent not in triage.patterns


def test_not_knowing_why_denies_nothing() -> None:
    assert triaged("I do not know why the loss is nan").patterns == ("nan-loss",)
    assert triaged("how can I avoid that memory grows with every step?").patterns == ("memory-growth",)


def test_the_figures_decide_about_fragmentation() -> None:
    small = triaged(
        OUT_OF_MEMORY.format(
            tried="2.00 GiB", free="1.00 GiB", own="22.6 GiB", allocated="21.9 GiB", idle="90.00 MiB"
        )
    )
    assert small.patterns == ("cuda-oom",)
    large = triaged(
        OUT_OF_MEMORY.format(
            tried="4.00 GiB", free="1.00 GiB", own="22.6 GiB", allocated="12.0 GiB", idle="10.10 GiB"
        )
    )
    assert set(large.patterns) == {"cuda-oom", "memory-fragmentation"}
    said = triaged("it is definitely fragmentation: OOM after 3 epochs")
    assert "memory-fragmentation" not in said.patterns
    assert "blame-fragmentation-unshown" in said.warned


def test_the_figures_decide_about_another_process() -> None:
    text = OUT_OF_MEMORY.format(
        tried="1.00 GiB", free="0.50 GiB", own="9.0 GiB", allocated="8.0 GiB", idle="100.00 MiB"
    )
    assert set(triaged(text).patterns) == {"cuda-oom", "foreign-process-memory"}


def test_an_inplace_error_of_ddp_alone_starts_there() -> None:
    alone = triaged(TRACEBACK.format(error=INPLACE))
    assert alone.routes[0] == "debugging-techniques"
    only_with = triaged(
        TRACEBACK.format(error=INPLACE) + "\nsingle gpu works, with torchrun on 2 gpus it fails"
    )
    assert only_with.routes[:2] == ("distributed-training-strategies", "debugging-techniques")


def test_what_explains_another_pattern_leads() -> None:
    text = "self.blocks = [Block(64) for _ in range(8)]\n\nthe loss stays flat and there is no error"
    triage = triaged(text)
    assert set(triage.patterns) == {"parameters-not-registered", "no-learning"}
    assert triage.routes[0] == "module-design-patterns"


def test_the_launchers_report_stands_behind_what_it_reports() -> None:
    report = "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \nexitcode  : 1 (pid: 77)\n"
    both = triaged(TRACEBACK.format(error=INPLACE) + report)
    assert both.order == ("inplace-autograd", "elastic-child-failed")


def test_a_report_alone_asks_for_what_it_reports() -> None:
    triage = triaged(ENGINE + "\nthat is all I have, please fix")
    assert triage.action == "clarify"
    assert triage.question
    assert "worker" in triage.question
    assert triage.suspicions == ()


def test_an_exception_without_its_message_is_asked_for_by_name() -> None:
    triage = triaged("RuntimeError in my forward. what now")
    assert triage.action == "clarify"
    assert triage.question is not None
    assert "RuntimeError:" in triage.question


def test_a_python_error_without_torch_is_not_ours() -> None:
    text = 'Traceback (most recent call last):\n  File "views.py", line 9, in get\n    user["mail"]\nKeyError: \'mail\'\n'
    triage = triaged(text)
    assert (triage.action, triage.routes) == ("out-of-scope", ("out-of-scope",))
    assert triage.handover


def test_an_unknown_error_with_torch_frames_is_routed() -> None:
    triage = triaged(TRACEBACK.format(error="ZeroDivisionError: division by zero"))
    assert (triage.action, triage.routes, triage.patterns) == ("route", ("debugging-techniques",), ())


@pytest.mark.parametrize("word", ["JAX", "paper", "hardware"])
def test_a_handover_says_what_to_bring(word: str) -> None:
    text = {
        "JAX": "jax.jit recompiles on each call, how to stop this",
        "paper": "equation 7 of the paper has a plus, their code a minus. which one is right?",
        "hardware": "which laptop should I buy for deep learning?",
    }[word]
    triage = triaged(text)
    assert triage.action == "out-of-scope"
    assert triage.handover is not None
    assert word.lower() in triage.handover.lower()
    assert "Bring" in triage.handover


def test_suspicions_are_causes_of_the_catalogue_with_this_texts_figures() -> None:
    triage = triaged("loss 2.1, 2.0, 50.1, 900, nan with SGD")
    assert 3 <= len(triage.suspicions) <= 5
    assert {s.cause for s in triage.suspicions} <= set(slugs())
    assert "900" in triage.suspicions[0].why
    assert all(
        s.confirms and s.refutes and s.command.startswith("firstcause run ") for s in triage.suspicions
    )


def test_the_users_own_script_is_the_one_to_record() -> None:
    assert (
        triaged(TRACEBACK.format(error=INPLACE))
        .suspicions[0]
        .command.startswith("firstcause run python train.py ")
    )


def test_weights_say_why() -> None:
    triage = triaged("the memory grows with every step")
    assert any(line.startswith("memory-growth: ") and "needed" in line for line in triage.why)


def test_a_defect_that_a_named_version_is_known_for_is_told() -> None:
    told = triaged("python 3.14.1\nTypeError: cannot pickle '_thread.lock' object\n")

    assert "pickling-error" in told.patterns
    assert any("python-forkserver-default" in line for line in told.gather)

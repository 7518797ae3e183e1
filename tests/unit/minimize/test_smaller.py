"""Programs of tensor calls made smaller in forks: the failure stays, and the script that is left says it alone."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from firstcause.minimize.failure import Failure, badness, born, outcome, raised
from firstcause.minimize.program import Call, Program
from firstcause.minimize.reductions.needed_only import needed_only
from firstcause.minimize.smaller import smallest
from firstcause.minimize.tape import Tape
from firstcause.minimize.trial import Trials
from firstcause.minimize.writing import written


def taped(step: Any) -> Program:
    """The tape of a step that may raise."""
    tape = Tape()
    try:
        with tape:
            step()
    except Exception:  # noqa: BLE001
        assert tape.raised
    end = tape.births[0][0] + 1 if tape.births else len(tape.calls)
    return Program(tape.leaves, tuple(tape.calls[:end])).used()


def made_small(program: Program) -> tuple[Program, Failure, list[str]]:
    failed = outcome(program)
    assert failed is not None
    small = smallest(program, Trials(failed, time.monotonic() + 60))
    return small, failed, written(small, failed)


def elements(program: Program) -> int:
    return sum(leaf.value.numel() for leaf in program.leaves.values())


def run_alone(lines: list[str], folder: Path) -> str:
    path = folder / "repro.py"
    path.write_text("\n".join(lines) + "\n")
    done = subprocess.run([sys.executable, path], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return done.stderr


def test_shape_error_at_the_end_of_a_deep_model_is_one_call(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Linear(32, 32) for _ in range(12)])
    head, x = torch.nn.Linear(48, 5), torch.randn(16, 32)
    small, failed, lines = made_small(taped(lambda: head(model(x).relu())))
    assert failed.kind == "raised"
    assert [call.name for call in small.calls] == ["torch.nn.functional.linear"]
    assert len(lines) <= 7
    assert "mat1 and mat2 shapes cannot be multiplied" in run_alone(lines, tmp_path)


def test_log_of_zero_keeps_the_log_and_nothing_of_what_led_to_it(tmp_path: Path) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(64, 8) * 40, torch.randn(8, requires_grad=True)
    small, failed, lines = made_small(taped(lambda: (1 - torch.sigmoid((x * w).sum(1))).log().mean()))
    assert (failed.kind, failed.what) == ("made", "inf")
    assert len(small.calls) == 1
    assert elements(small) == 1
    assert "AssertionError" in run_alone(lines, tmp_path)


def test_gradient_at_zero_keeps_the_backward(tmp_path: Path) -> None:
    x = torch.zeros(4, 3, requires_grad=True)
    small, failed, lines = made_small(taped(lambda: ((x * 2) ** 2).sum(1).sqrt().mean().backward()))
    assert failed == Failure("gradient", "torch.Tensor.backward", "nan")
    assert len(small.calls) <= 4
    assert "nan" in run_alone(lines, tmp_path)


def test_index_that_is_too_large_stays_too_large(tmp_path: Path) -> None:
    ids, table = torch.randint(0, 50, (6, 9)), torch.randn(40, 16, requires_grad=True)
    ids[3, 3] = 49
    small, _, lines = made_small(taped(lambda: F.embedding(ids, table).sum()))
    assert elements(small) <= 4
    assert "index out of range" in run_alone(lines, tmp_path)


def test_mask_of_infinity_is_not_the_failure() -> None:
    scores, mask = torch.zeros(2, 3), torch.tensor([[True, True, True], [False, False, True]])
    failed = outcome(taped(lambda: scores.masked_fill(mask, float("-inf")).softmax(-1)))
    assert failed == Failure("made", "torch.Tensor.softmax", "nan")


def test_what_fails_by_luck_is_refused() -> None:
    ids, table = torch.tensor([7]), torch.randn(4, 2)
    program = taped(lambda: F.embedding(ids, table))
    failed = outcome(program)
    assert failed is not None
    number = next(n for n, leaf in program.leaves.items() if not leaf.value.is_floating_point())
    lucky = replace(program.leaves[number], made=("randint", 5))
    trials = Trials(failed, time.monotonic() + 60)
    assert trials.fails(program)
    assert not trials.fails(replace(program, leaves={**program.leaves, number: lucky}))


def test_numbers_of_a_message_are_not_its_failure() -> None:
    one = raised("f", RuntimeError("size [4, 8] at 0x7f is not 3.5e-2"))
    assert one == raised("f", RuntimeError("size [12, 1] at 0x01 is not 7"))
    assert one != raised("f", RuntimeError("shape [4, 8] at 0x7f is not 3.5e-2"))
    assert one != raised("g", RuntimeError("size [4, 8] at 0x7f is not 3.5e-2"))


def test_calls_that_the_failing_one_never_sees_are_left_out_but_writes_stay() -> None:
    x, y = torch.ones(3), torch.zeros(3)

    def step() -> None:
        y.add_(1).mul(5)
        x.sub_(1)
        (x + 1).exp()
        x.log()

    program = taped(step)
    kept = next(needed_only(program))
    assert [call.name.rpartition(".")[2] for call in kept.calls] == ["sub_", "log"]


@pytest.mark.parametrize(
    ("given", "made", "name", "kind"),
    [
        ([1.0], [float("nan")], "torch.log", "nan"),
        ([float("inf")], [float("nan")], "torch.sub", "nan"),
        ([float("nan")], [float("nan")], "torch.mul", ""),
        ([1.0], [float("inf")], "torch.exp", "inf"),
        ([1.0], [float("-inf")], "torch.Tensor.masked_fill", ""),
        ([1.0], [2.0], "torch.exp", ""),
    ],
)
def test_bad_value_is_born_where_it_is_worse_than_before(
    given: list[float], made: list[float], name: str, kind: str
) -> None:
    call = Call(torch.exp, name, (), {}, ())
    assert born(call, [torch.tensor(made)], [torch.tensor(given)]) == kind


def test_whole_numbers_are_never_bad() -> None:
    assert badness([torch.tensor([1]), None, torch.empty(2, device="meta")]) == ""

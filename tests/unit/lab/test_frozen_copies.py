"""Copies of what was switched off: off in the model that they were made for, and found in the source."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from freezing import Net, put, seen, train
from watched import watch

from firstcause.source import Project
from firstcause.source.copies import unfrozen_copies


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


COPIED = """
import copy

def build(teacher, student):
    {off}
    student.body = copy.deepcopy(teacher.body)
    return student
"""


@pytest.mark.parametrize(
    ("off", "told"),
    [
        ("teacher.requires_grad_(False)", True),
        ("teacher.requires_grad_(False); student.body.requires_grad_(False)", False),
        ("pass", False),
    ],
)
def test_a_copy_of_what_was_switched_off_is_off_in_the_student(off: str, told: bool, tmp_path: Any) -> None:
    class Teacher(Net):
        pass

    def whole(step: Any) -> None:
        teacher, net = Teacher(), Net()
        put(teacher.body)
        teacher.requires_grad_(False)
        net.body = copy.deepcopy(teacher.body)
        optimizer = torch.optim.SGD(net.parameters(), 0.01)
        for _ in range(20):
            x = torch.randn(16, 6)
            step((net(x) - teacher(x)).square().mean(), optimizer)

    facts, _ = watch("frozen_parts", whole)

    said = seen(facts, tmp_path, COPIED.format(off=off))
    assert (said is not None and "copies of what was switched off" in said) == told


HELPED = """
from copy import deepcopy

class Student(nn.Module):
    def __init__(self, parts):
        self.body = parts

{makes}

def turn_off(net):
    for p in net.parameters():
        p.requires_grad = False

turn_off(teacher)
{then}
"""
RETURNED = "def make(big):\n    return Student([deepcopy(part) for part in big.parts[:2]])"
GATHERED = (
    "def make(big):\n    kept = []\n    for n, part in enumerate(big.parts):\n        kept.append(deepcopy(part))\n"
    "    return Student(kept)"
)


@pytest.mark.parametrize(
    ("makes", "then", "lines"),
    [
        (RETURNED, "student = make(teacher)", 1),
        (GATHERED, "student = make(teacher)", 1),
        ("", "student = Student(deepcopy(teacher.parts[0]))", 1),
        # Switched by name, a copy of the whole, a copy that is no part of a model, a copy of what trains.
        (RETURNED, "student = make(teacher)\nturn_off(student.body)", 0),
        (RETURNED, "student = make(teacher)\nstudent.requires_grad_(True)", 0),
        ("", "student = deepcopy(teacher)", 0),
        ("", "kept = deepcopy(teacher.parts)", 0),
        (RETURNED, "student = make(other)", 0),
    ],
)
def test_copies_are_found_through_functions_that_freeze_and_make(
    makes: str, then: str, lines: int, tmp_path: Any
) -> None:
    (tmp_path / "train.py").write_text(HELPED.format(makes=makes, then=then))
    project = Project.of_script(str(tmp_path / "train.py"), str(tmp_path))
    assert len(unfrozen_copies(project)) == lines


@pytest.mark.parametrize(
    ("note", "told"), [("", True), ("# A linear probe.\n", False), ("# The copies stay frozen.\n", False)]
)
def test_a_copy_in_a_model_of_the_same_class_is_told_apart_from_what_it_was_copied_from(
    note: str, told: bool, tmp_path: Any
) -> None:
    def whole(step: Any) -> None:
        teacher = Net()
        train(step, teacher, torch.optim.SGD(teacher.parameters(), 0.1), 10)
        teacher.requires_grad_(False)
        student = Net()
        student.body = copy.deepcopy(teacher.body)
        optimizer = torch.optim.SGD(student.parameters(), 0.01)
        for _ in range(20):
            x = torch.randn(16, 6)
            step((student(x) - teacher(x)).square().mean(), optimizer)

    facts, _ = watch("frozen_parts", whole)
    source = note + HELPED.format(makes=RETURNED, then="student = make(teacher)")
    said = seen(facts, tmp_path, source)
    assert (said is not None and "2 parameters of 224 elements" in said) == told


def test_a_copy_of_what_was_trained_is_nothing_random(tmp_path: Any) -> None:
    def whole(step: Any) -> None:
        teacher, student = Net(), Net()
        # Steps so small that the values look as drawn.
        train(step, teacher, torch.optim.SGD(teacher.parameters(), 1e-6), 10)
        teacher.requires_grad_(False)
        student.body = copy.deepcopy(teacher.body)
        put(student.adapter)
        student.adapter.requires_grad_(False)
        train(step, student, torch.optim.SGD(student.parameters(), 0.01))

    facts, _ = watch("frozen_parts", whole)
    found = {p["name"]: p["values"] for p in facts["frozen"] if p["last_on"] is None}
    assert found["body.weight"] == "kept"
    assert seen(facts, tmp_path) is None


def test_a_trunk_that_is_taken_over_once_its_own_model_has_done_its_work_is_off_on_purpose(
    tmp_path: Any,
) -> None:
    def whole(step: Any) -> None:
        base = Net()
        train(step, base, torch.optim.SGD(base.parameters(), 0.1), 10)
        base.requires_grad_(False)
        task = Net()
        task.body = copy.deepcopy(base.body)
        train(step, task, torch.optim.SGD(task.parameters(), 0.01))
        base(torch.randn(16, 6))

    facts, _ = watch("frozen_parts", whole)
    source = HELPED.format(makes=RETURNED, then="student = make(teacher)")
    assert any(p["copy_of"] for p in facts["frozen"])
    assert seen(facts, tmp_path, source) is None

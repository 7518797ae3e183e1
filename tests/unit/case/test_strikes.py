from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import PROGRAM, diagnosis, evidence, unified
from case.test_case import approved, events, opened
from firstcause.case import (
    Approach,
    CaseFolder,
    Verification,
    apply,
    approach_of,
    close,
    reject,
    same_approach,
    strikes,
    verify,
)
from firstcause.errors import GateError, InputError
from firstcause.schema import Diagnosis, Fix, Hypothesis


def fail(root: str, stored: Diagnosis, text: str = "the loss is nan at step 40") -> CaseFolder:
    folder = opened(root, stored)
    approved(folder)
    apply(folder, os.path.dirname(root))
    verify(folder, os.path.dirname(root), lambda: Verification(False, text))
    return folder


def variation(root: str, cause: str, line: int, intervention: str = "") -> Diagnosis:
    """A fix that inserts a comment after ``line`` of the program as it stands."""
    old = Path(root, "..", "train.py").read_text()
    lines = old.splitlines(keepends=True)
    lines.insert(line, f"# {cause} {len(lines)}\n")
    diff = unified({"train.py": (old, "".join(lines))})
    facts = (evidence(intervention=intervention) if intervention else evidence(),)
    fix = Fix(cause, diff, f"Comment after line {line}.", "Nothing.", "Everything.")
    return diagnosis(cause, fix=fix, hypotheses=(Hypothesis(cause, None, 1, "confirmed", facts),))


@pytest.mark.parametrize(
    "rounds",
    [
        [("a", 1, ""), ("a", 6, ""), ("a", 10, "")],
        [("a", 2, ""), ("b", 2, ""), ("c", 3, "")],
        [("a", 1, "warm-up"), ("b", 6, "warm-up"), ("c", 11, "warm-up")],
        [("a", 1, "warm-up"), ("b", 6, "warm-up"), ("b", 11, "")],
    ],
)
def test_third_strike_of_one_approach_stops(root: str, rounds: list[tuple[str, int, str]]) -> None:
    Path(root, "..", "train.py").write_text(PROGRAM + "".join(f"# {i}\n" for i in range(8)))
    for number, one in enumerate(rounds, 1):
        folder = fail(root, variation(root, *one), f"attempt {number} changed nothing")
        case = folder.progress().case
        assert (case.strikes, case.state) == (number, "stopped" if number == 3 else "hypotheses")
    before = events(folder)
    opened(root, variation(root, *rounds[1]))
    assert events(folder) == before
    with pytest.raises(GateError) as raised, folder.writing() as writer:
        writer.append("hypotheses", diagnosis=variation(root, *rounds[0]))
    assert raised.value.slug == "three-strikes"
    for number in (1, 2, 3):
        assert f"attempt {number} changed nothing" in raised.value.message
    assert raised.value.hint.count("?") == 1
    fresh = variation(root, "other", 20)
    assert opened(root, fresh).progress().case.state == "diagnosed"
    close_again = variation(root, *rounds[2])
    assert opened(root, close_again).progress().case.state == "stopped"


def test_different_approaches_are_counted_apart(root: str) -> None:
    Path(root, "..", "train.py").write_text(PROGRAM + "".join(f"# {i}\n" for i in range(40)))
    for cause, line in (("a", 1), ("b", 20), ("a", 2), ("b", 21), ("c", 40)):
        folder = fail(root, variation(root, cause, line))
    case = folder.progress().case
    assert (case.strikes, case.state) == (2, "hypotheses")


def test_sites_are_one_up_to_three_lines_apart(root: str) -> None:
    def at(first: int, path: str = "train.py") -> Approach:
        return Approach(f"cause-{first}", ((path, first, first + 1),), ())

    assert [same_approach(at(20), at(other)) for other in (15, 16, 20, 24, 25)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    assert not same_approach(at(20), at(21, "data.py"))


def test_approaches_of_nothing_are_not_the_same() -> None:
    one, other = approach_of(diagnosis("a")), approach_of(replace(diagnosis("b"), fix=None))
    assert not same_approach(one, other)
    assert strikes(other, [one, one]) == 0
    assert strikes(one, [one, one]) == 2


def test_retrospective_of_an_unresolved_case(root: str) -> None:
    folder = fail(root, diagnosis(), "still nan\x1b[31m | <script>")
    reject_because = "seen earlier"
    opened(root, diagnosis("nan-in-data", diff=unified({"data.py": ("SEED = 1\n", "SEED = 2\n")})))
    reject(folder, reject_because, "ada")
    with pytest.raises(InputError):
        close(folder, " ")
    close(folder, "measure first")
    text = Path(folder.path, "retrospective.md").read_text()
    assert "Closed without a verified fix." in text
    assert "| log-of-zero | Clamp the probability at 1e-6. | still nan[31m \\| &lt;script> |" in text
    assert "- ada, " in text
    assert reject_because in text
    assert "\x1b" not in text

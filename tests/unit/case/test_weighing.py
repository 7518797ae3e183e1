"""What each strike asks for and costs, and that neither closing nor rewording wipes one out."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import PROGRAM, diagnosis, evidence, unified
from case.test_case import approved, opened
from case.test_strikes import fail
from firstcause import catalog
from firstcause.case import CaseFolder, close, counsel, reject
from firstcause.errors import GateError
from firstcause.report.case_page import render_case
from firstcause.schema import Diagnosis, Fix, Hypothesis

OPEN = Hypothesis("nan-in-data", None, 2, "inconclusive", (), "the range of the inputs of step 118")
REFUTED = Hypothesis(
    "learning-rate-too-high", None, 3, "refuted", (evidence("counterfactual", False, "still nan"),)
)


def attempt(root: str, number: int, cause: str = "log-of-zero", line: int = 5) -> Diagnosis:
    """The established diagnosis with another wording and another patch at the same line each time."""
    path = Path(root, "..", "train.py")
    old = path.read_text()
    lines = old.splitlines(keepends=True)
    lines[line - 1] = lines[line - 1].rstrip("\n").partition("  # try")[0] + f"  # try {number}\n"
    fix = Fix(
        cause, unified({"train.py": (old, "".join(lines))}), f"Words {number}.", "It changes.", "It does not."
    )
    mine = Hypothesis(cause, None, 1, "confirmed", (evidence(smallest=0.0),))
    return diagnosis(cause, fix=fix, hypotheses=(mine, OPEN, REFUTED))


def ranks(folder: CaseFolder) -> dict[str, int]:
    stored = folder.progress().case.diagnosis
    assert stored is not None
    return {h.cause: h.rank for h in stored.hypotheses}


def page(folder: CaseFolder) -> str:
    out = io.StringIO()
    render_case(folder.progress(), out)
    return out.getvalue()


def test_first_strike_asks_for_evidence_by_name(root: str) -> None:
    folder = fail(root, attempt(root, 1), "nan at step 40")
    assert ranks(folder) == {"log-of-zero": 1, "nan-in-data": 2, "learning-rate-too-high": 3}
    wanted = catalog.cause("log-of-zero").refutes[0]
    assert counsel(folder.progress()) == [f"before another fix of this approach, measure: {wanted}"]
    assert "What The Last Strike Asks For" in page(folder)


def test_first_strike_asks_for_what_the_case_misses_itself(root: str) -> None:
    shown = attempt(root, 1)
    mine = replace(shown.hypotheses[0], missing="the dtype of the probability")
    folder = fail(root, replace(shown, hypotheses=(mine, OPEN)))
    assert counsel(folder.progress())[0].endswith("measure: the dtype of the probability")


def test_second_strike_lowers_the_hypothesis(root: str) -> None:
    fail(root, attempt(root, 1))
    folder = fail(root, attempt(root, 2), "nan at step 41")
    assert ranks(folder) == {"nan-in-data": 1, "log-of-zero": 2, "learning-rate-too-high": 3}
    doubt, other = counsel(folder.progress())
    assert doubt.endswith("the cause itself is in doubt, and falls to rank 2 of 3")
    assert other == "first now: nan-in-data; measure: the range of the inputs of step 118"
    assert "falls to rank 2 of 3" in " ".join(page(folder).split())
    # And stays down when it is diagnosed again, with what speaks against it.
    opened(root, attempt(root, 3))
    assert ranks(folder)["log-of-zero"] == 2
    stored = folder.progress().case.diagnosis
    assert stored is not None
    against = [
        e.text for h in stored.hypotheses if h.cause == "log-of-zero" for e in h.evidence if not e.supports
    ]
    assert against == [
        "its fix was applied and did not pass: the loss is nan at step 40",
        "its fix was applied and did not pass: nan at step 41",
    ]


def test_second_strike_with_nothing_else_open(root: str) -> None:
    def alone(number: int) -> Diagnosis:
        shown = attempt(root, number)
        return replace(shown, hypotheses=(shown.hypotheses[0], replace(REFUTED, rank=2)))

    fail(root, alone(1))
    folder = fail(root, alone(2))
    assert ranks(folder) == {"learning-rate-too-high": 1, "log-of-zero": 2}
    assert counsel(folder.progress())[1].startswith("nothing else is left open; measure: ")


def test_third_strike_tells_its_own_lessons_and_one_question(root: str) -> None:
    Path(root, "..", "train.py").write_text(PROGRAM + "#\n" * 30)
    fail(root, attempt(root, 0, "other-cause", 30), "nothing to do with it")
    for number in (1, 2, 3):
        folder = fail(root, attempt(root, number), f"lesson {number}")
    *told, question = counsel(folder.progress())
    assert told == [f"{n}. Words {n}.: lesson {n}" for n in (1, 2, 3)]
    assert question.count("?") == 1
    assert "log-of-zero were not the cause" in question
    assert "other-cause" not in question
    text = page(folder)
    assert "Stopped After Three Strikes" in text
    assert all(f"lesson {number}" in text for number in (1, 2, 3))


@pytest.mark.parametrize("closed", [False, True])
def test_fourth_variation_is_refused_however_it_is_called(root: str, closed: bool) -> None:
    for number in (1, 2, 3):
        folder = fail(root, attempt(root, number))
    first = folder
    if closed:
        close(folder, "give up")
    reworded = attempt(root, 4, cause="sigmoid-saturates")
    folder = opened(root, reworded)
    assert (folder.id == first.id) is not closed
    assert folder.progress().case.state == "stopped"
    with pytest.raises(GateError):
        approved(folder)
    with pytest.raises(GateError) as raised, folder.writing() as writer:
        writer.append("hypotheses", diagnosis=reworded)
    assert raised.value.slug == "three-strikes"
    assert raised.value.message.startswith("3 fixes of this approach did not pass (1. Words 1.: ")
    if closed:
        assert [a.summary for a in folder.progress().inherited] == ["Words 1.", "Words 2.", "Words 3."]
        assert folder.progress().case.strikes == 3
        assert "Failed In Earlier Cases" in page(folder)
    other = diagnosis("nan-in-data", diff=unified({"data.py": ("SEED = 1\n", "SEED = 2\n")}))
    assert opened(root, other).progress().case.state == "diagnosed"


def test_strikes_of_two_cases_add_up(root: str) -> None:
    fail(root, attempt(root, 1))
    close(fail(root, attempt(root, 2)), "no idea yet")
    folder = fail(root, attempt(root, 3))
    assert (folder.progress().case.strikes, folder.progress().case.state) == (3, "stopped")
    assert len(folder.progress().attempts) == 1
    # A third case counts each of them once.
    close(folder, "still no idea")
    third = opened(root, attempt(root, 4)).progress()
    # Cases of one second stand in the order of their random ends.
    assert sorted(a.summary for a in third.inherited) == ["Words 1.", "Words 2.", "Words 3."]
    assert (third.case.strikes, third.case.state) == (3, "stopped")


def test_rejection_is_remembered_by_the_next_diagnosis(root: str) -> None:
    folder = opened(root, attempt(root, 1))
    assert reject(folder, "it was nan before that line", "ada").case.strikes == 0
    opened(root, attempt(root, 1))
    progress = folder.progress()
    assert (progress.case.state, progress.case.strikes) == ("diagnosed", 0)
    assert progress.case.diagnosis is not None
    texts = [
        e.text for h in progress.case.diagnosis.hypotheses if h.cause == "log-of-zero" for e in h.evidence
    ]
    assert texts[-1] == "ada rejected it: it was nan before that line"
    before = progress.events
    opened(root, attempt(root, 1))
    assert folder.progress().events == before
    assert ranks(folder)["log-of-zero"] == 1


def test_other_program_inherits_nothing(root: str) -> None:
    for number in (1, 2, 3):
        fail(root, attempt(root, number))
    from firstcause.case import find_case, open_case

    case = open_case(root, "r9", os.path.join(root, "runs", "gone"), attempt(root, 4))
    assert find_case(root, case.id).progress().inherited == ()
    assert case.state == "diagnosed"

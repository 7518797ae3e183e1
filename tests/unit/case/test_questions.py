"""The gate's three questions, word for word, and which fact of the case they show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from case.samples import diagnosis
from firstcause import catalog
from firstcause.case import questions
from firstcause.case.questions import require_answers
from firstcause.errors import GateError
from firstcause.schema import Evidence, Hypothesis, Symptom


def test_strongest_fact_is_the_last_one_for_the_cause() -> None:
    def facts(*texts: tuple[str, bool]) -> tuple[Evidence, ...]:
        return tuple(Evidence("replay", supports, text) for text, supports in texts)

    def asked(*hypotheses: Hypothesis) -> str:
        return questions(diagnosis("a", hypotheses=hypotheses))[0].text

    other = Hypothesis("b", None, 2, "open", facts(("of another", True)))
    mine = Hypothesis("a", None, 1, "confirmed", facts(("first", True), ("last!", True), ("against", False)))
    assert " Measured: last! Is this what you see (y)" in asked(mine, other)
    assert f" Measured: {diagnosis().sections['Root Cause']} Is this" in asked(other)


def test_questions_in_full() -> None:
    shown = diagnosis("dropped-from-the-catalogue", hypotheses=())
    first, second, third = questions(shown, [Symptom("exception", "KeyError: 1.", None, 0)])
    sections = shown.sections
    assert first.text == (
        "Recorded: the loss became nan at step 118 (train.py:6). Beside it: KeyError: 1 at step 0. "
        f"Measured: {sections['Root Cause']} Is this what you see (y), or another symptom (n)?"
    )
    assert second.text == (
        f"The fix is targeted: lines removed 1, added 1, in train.py. It leaves: {sections['What This Fix Will NOT Fix']} "
        "A broader fix would take that in too, and change more that has to be checked. "
        "Targeted as shown (t), or broader (b)?"
    )
    assert third.text == (
        f"Afterwards: {sections['What This Fix Will Change']} Is this acceptable (y), or not (n)?"
    )
    assert [(q.key, q.accepts) for q in (first, second, third)] == [
        ("symptom", "y"),
        ("scope", "t"),
        ("side-effect", "y"),
    ]
    assert "Recorded: no symptom was recorded. Measured" in questions(diagnosis(symptom=None))[0].text


def test_words_of_the_fix_go_before_those_of_the_page() -> None:
    shown = diagnosis()
    assert shown.fix is not None
    own = replace(
        shown, fix=replace(shown.fix, changes="Bounded at 13.8", does_not_fix="Sample 17 saturates")
    )
    assert "It leaves: Sample 17 saturates. The broader way, by hand: " in questions(own)[1].text
    assert questions(own)[2].text.startswith("Afterwards: Bounded at 13.8. Is this acceptable (y)")
    blank = replace(shown, fix=replace(shown.fix, changes="", does_not_fix=""))
    for one in (blank, replace(shown, fix=None)):
        assert f"It leaves: {shown.sections['What This Fix Will NOT Fix']} " in questions(one)[1].text
        assert f"Afterwards: {shown.sections['What This Fix Will Change']} " in questions(one)[2].text


def test_broader_way_is_offered_where_it_is_another_one() -> None:
    known = catalog.cause("log-of-zero").fix
    shown = diagnosis()
    assert shown.fix is not None
    same = replace(shown, fix=replace(shown.fix, summary=f"As the book says: {known}"))
    assert (
        "No other fix is known for this cause; a broader one would be a redesign" in questions(same)[1].text
    )
    assert f"The broader way, by hand: {' '.join(known.split())}" in questions(shown)[1].text
    by_hand = diagnosis("learning-rate-too-high", fix=None)
    known = catalog.cause("learning-rate-too-high").fix
    told = replace(by_hand, sections={**by_hand.sections, "Proposed Fix": known})
    assert "No other fix is known" in questions(told)[1].text
    assert "No other fix is known" not in questions(by_hand)[1].text


def test_answers_are_asked_for_one_by_one() -> None:
    good = {"symptom": "y", "scope": "t", "side-effect": "y"}
    require_answers(diagnosis(), good)
    for question in questions(diagnosis()):
        with pytest.raises(GateError) as raised:
            require_answers(diagnosis(), {k: v for k, v in good.items() if k != question.key})
        assert (raised.value.slug, raised.value.message) == (
            "question-open",
            f"no answer to: {question.text}",
        )
        with pytest.raises(GateError) as raised:
            require_answers(diagnosis(), {**good, question.key: "b"})
        assert raised.value.message == f"not approved: {question.otherwise}"
        assert raised.value.hint == f'firstcause case reject --because "{question.otherwise}: …"'

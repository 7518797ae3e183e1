"""The whole page of a case that was solved and of one that was not, and what others' text cannot do to it."""

from __future__ import annotations

from dataclasses import replace

from case.samples import SITE, TEXTS, diagnosis
from firstcause.case import Approach, Approval, Attempt, Progress, Remark, Tracked
from firstcause.case.retrospective import retrospective
from firstcause.schema import Case, Evidence, Hypothesis, Symptom

LATER = Symptom("exception", "KeyError: 'eval'", None, 300)
DIFF = "--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-a = 0\n+a = 1\n"
GIVEN = Approval(
    "d", "f", "ada", "10:03", {"symptom": "y", "scope": "t"}, {"symptom": "Seen?", "scope": "Targeted?"}
)
PASSED = Attempt(
    Approach("log-of-zero", (("train.py", 5, 5),), ()), "Clamp.", DIFF, "10:04", True, "finite", GIVEN
)


def case(state: str) -> Case:
    return Case("20261128-100000-nan-1", "r1", state, "10:00", diagnosis=diagnosis())  # type: ignore[arg-type]


def verified() -> Progress:
    shown = diagnosis()
    assert shown.fix is not None
    shown = replace(shown, fix=replace(shown.fix, diff=DIFF))
    return Progress(
        case=replace(case("closed"), diagnosis=shown),
        run_folder="r1",
        updated="10:05",
        events=9,
        first=shown,
        attempts=(PASSED,),
        verification="the loss is\nfinite",
        lesson="clamp at 1e-6",
        symptoms=(Tracked(LATER, "gone"), Tracked(Symptom("nan", "the loss became nan", SITE, 118), "gone")),
    )


def unresolved() -> Progress:
    failed = replace(PASSED, passed=False, lesson="nan | at\nstep 40", approval=None)
    return replace(
        verified(),
        case=replace(case("closed"), diagnosis=None),
        first=None,
        attempts=(replace(PASSED, passed=None, lesson="withdrawn"), failed),
        inherited=(replace(failed, time="09:00", summary="Warm up."),),
        verification="",
        rejections=(Remark("10:06", "bob", "seen <before> & after"),),
        declined=(Remark("10:02", "ada", "b: a broader fix is wanted (Targeted?)"),),
        symptoms=(Tracked(LATER),),
    )


SOLVED = f"""\
# 20261128-100000-nan-1

Run r1, opened 10:00, closed 10:05.
Fixed and verified: the loss is finite

## Symptom

the loss became nan at step 118 (train.py:6).

## Cause

log-of-zero at train.py:6, class A (code). {TEXTS[1]}

{TEXTS[2]}

## Believed first

log-of-zero, ranked first of 3; then confirmed.

## Evidence

- log-of-zero (confirmed): replay, for: {TEXTS[1]}

## Refuted alternatives

- learning-rate-too-high (refuted): counterfactual, against: with a tenth of the learning rate the loss is still nan

## Left open

- nan-in-data (inconclusive): missing: the range of the inputs of step 118

## Fix

Clamp the probability at 1e-6.

```diff
{DIFF}```

## Symptoms

- KeyError: 'eval' at step 300: gone
- the loss became nan at step 118 (train.py:6): gone

## Answers

- ada, 10:03: Seen? y
- ada, 10:03: Targeted? t

## Lesson

clamp at 1e-6
"""
OPEN = """\
# 20261128-100000-nan-1

Run r1, opened 10:00, closed 10:05.
Closed without a verified fix.

## Symptom

no symptom was recorded.

## Believed first

Nothing was ranked.

## Failed attempts

| when | cause | what was tried | what it taught |
| --- | --- | --- | --- |
| 09:00 | log-of-zero | Warm up. | nan \\| at step 40 |
| 10:04 | log-of-zero | Clamp. | withdrawn |
| 10:04 | log-of-zero | Clamp. | nan \\| at step 40 |

## Answers

- ada, 10:03: Seen? y
- ada, 10:03: Targeted? t
- ada, 10:02: b: a broader fix is wanted (Targeted?)

## Rejections

- bob, 10:06: seen &lt;before> &amp; after

## Lesson

clamp at 1e-6
"""


def test_page_of_a_verified_fix() -> None:
    assert retrospective(verified()) == SOLVED


def test_page_of_a_case_without_one() -> None:
    assert retrospective(unresolved()) == OPEN


def test_fix_that_passed_does_not_count_for_the_diagnosis_after_it() -> None:
    later = replace(verified(), case=replace(case("closed"), diagnosis=diagnosis("nan-in-data")))
    text = retrospective(later)
    assert "Closed without a verified fix." in text
    assert "## Cause" not in text
    assert "## Fix" not in text
    failed = replace(verified(), attempts=(replace(PASSED, passed=False),))
    assert "Closed without a verified fix." in retrospective(failed)
    assert "Closed without a verified fix." in retrospective(replace(verified(), attempts=()))


def test_hypotheses_of_all_kinds() -> None:
    fact = Evidence("experiment", False, "no change")
    shown = diagnosis(
        hypotheses=(
            Hypothesis("b", None, 2, "open"),
            Hypothesis("a", None, 1, "refuted", (fact, replace(fact, supports=True)), "the range"),
            Hypothesis("log-of-zero", None, 3, "open"),
        )
    )
    text = retrospective(replace(verified(), first=shown, case=replace(case("closed"), diagnosis=shown)))
    assert "## Believed first\n\na, ranked first of 3; then refuted.\n" in text
    assert "## Evidence\n\n- log-of-zero (open): no evidence was taken\n" in text
    assert (
        "- a (refuted): experiment, against: no change; experiment, for: no change; missing: the range\n"
        in text
    )
    assert "## Left open\n\n- b (open): no evidence was taken\n" in text


def test_one_symptom_alone_needs_no_list() -> None:
    one = (Tracked(LATER, "gone"),)
    assert "## Symptoms" not in retrospective(replace(verified(), symptoms=one))


def test_patch_cannot_end_its_own_fence() -> None:
    shown = diagnosis()
    assert shown.fix is not None
    shown = replace(shown, fix=replace(shown.fix, diff="+```\n+````\n"), site=None)
    text = retrospective(replace(verified(), case=replace(case("closed"), diagnosis=shown)))
    assert "`````diff\n+```\n+````\n`````\n" in text
    assert "## Cause\n\nlog-of-zero, class A (code). " in text

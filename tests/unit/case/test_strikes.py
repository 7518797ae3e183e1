from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from case.samples import PROGRAM, diagnosis, evidence, unified
from case.test_case import approved, events, opened
from firstcause import catalog
from firstcause.case import (
    Approach,
    Attempt,
    CaseFolder,
    Progress,
    Remark,
    Verification,
    apply,
    approach_of,
    close,
    counsel,
    question,
    reject,
    same_approach,
    strikes,
    verify,
)
from firstcause.case.weighing import doubted, failed_evidence, lowered, weakened, weighed
from firstcause.errors import GateError, InputError
from firstcause.schema import Case, Diagnosis, Fix, Hypothesis, State


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


def test_interventions_are_those_that_speak_for_the_cause() -> None:
    def tried(cause: str, name: str, supports: bool = True) -> Hypothesis:
        fact = evidence("counterfactual", supports, intervention=name)
        return Hypothesis(cause, None, 1, "confirmed", (fact, evidence()))

    hypotheses = (tried("a", "warm-up"), tried("b", "shuffle"), tried("a", "clip", supports=False))
    assert approach_of(diagnosis("a", hypotheses=hypotheses)).interventions == ("warm-up",)
    assert approach_of(diagnosis("c", hypotheses=hypotheses)).interventions == ()


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


def failed_once(cause: str, path: str, lesson: str) -> Attempt:
    return Attempt(Approach(cause, ((path, 1, 2),), ()), f"Fix of {cause}.", "", "10:00", False, lesson)


def struck(*failed: Attempt, state: State = "hypotheses", shown: Diagnosis | None = None) -> Progress:
    case = Case("c", "r1", state, "09:00", diagnosis=shown)
    return Progress(case, "r1", "10:00", 9, attempts=failed)


def test_question_names_the_causes_and_files_of_one_approach() -> None:
    a, b, other = failed_once("a", "x.py", "1"), failed_once("b", "x.py", "2"), failed_once("c", "y.py", "3")
    far = replace(a, approach=replace(a.approach, sites=(("z.py", 1, 1),)))
    assert question(struck(other, b, far, a)) == (
        "Which observation would still be there if a and b were not the cause, and lies outside x.py and z.py?"
    )
    nowhere = replace(a, approach=Approach("a", (), ()))
    assert question(struck(nowhere)).endswith("if a were not the cause, and lies outside the edited lines?")
    assert question(struck()).startswith("Which observation would still be there if ")


def test_counsel_of_each_strike() -> None:
    one, two, three = (failed_once("a", "x.py", str(n)) for n in (1, 2, 3))
    assert counsel(struck()) == []
    no_diagnosis = "something that would be otherwise if a were not the cause"
    assert counsel(struck(one)) == [f"before another fix of this approach, measure: {no_diagnosis}"]
    # What passed, and what was never verified, is no strike.
    assert counsel(struck(replace(one, passed=True), replace(two, passed=None))) == []
    assert counsel(struck(one, two)) == [
        "two fixes for a did not pass: the cause itself is in doubt, and falls",
        f"nothing else is left open; measure: {no_diagnosis}",
    ]
    shown = diagnosis(
        "a",
        hypotheses=(
            Hypothesis("z", None, 4, "open"),
            Hypothesis("a", None, 3, "open", (), "its range"),
            Hypothesis("r", None, 1, "refuted", (), "nothing"),
            Hypothesis("nan-in-data", None, 2, "open"),
        ),
    )
    assert counsel(struck(one, shown=shown)) == ["before another fix of this approach, measure: its range"]
    assert counsel(struck(one, two, shown=shown)) == [
        "two fixes for a did not pass: the cause itself is in doubt, and falls to rank 3 of 4",
        f"first now: nan-in-data; measure: {catalog.cause('nan-in-data').refutes[0]}",
    ]
    told = ["1. Fix of a.: 1", "2. Fix of a.: 2", "3. Fix of a.: 3"]
    assert counsel(struck(one, two, three)) == [*told, question(struck(one, two, three))]
    stopped = struck(one, two, state="stopped")
    assert counsel(stopped) == [*told[:2], question(stopped)]


def test_strikes_lower_what_has_failed_twice_only() -> None:
    one, two = failed_once("a", "x.py", "1"), failed_once("a", "x.py", "2")
    ranked = (
        Hypothesis("a", None, 1, "confirmed"),
        Hypothesis("b", None, 2, "open"),
        Hypothesis("r", None, 3, "refuted"),
    )
    shown = diagnosis("a", hypotheses=ranked)
    assert doubted(shown, [one]) == set()
    assert doubted(shown, [one, two]) == {"a"}
    assert doubted(replace(shown, cause=None), [one, two]) == {"a"}
    assert [h.rank for h in lowered(ranked, ["a"])] == [2, 1, 3]
    assert [h.rank for h in lowered(ranked, ["b"])] == [1, 2, 3]
    assert lowered(ranked, ["r"]) == lowered(ranked, []) == ranked
    assert [h.rank for h in lowered((ranked[0], ranked[2]), ["a"])] == [2, 1]
    assert lowered(ranked[:1], ["a"]) == ranked[:1]
    assert [h.rank for h in lowered(ranked, ["a", "b"])] == [2, 3, 1]


def test_fix_of_another_name_at_lines_that_failed_twice_is_doubted() -> None:
    fix = Fix("a", unified({"x.py": ("one\n", "two\n")}), "Words.", "It changes.", "It does not.")
    shown = diagnosis("a", fix=fix, hypotheses=(Hypothesis("a", None, 1, "confirmed"),))
    failed = [failed_once("b", "x.py", "1"), failed_once("c", "x.py", "2")]
    assert doubted(shown, failed) == {"a"}
    assert doubted(shown, failed[:1]) == set()
    # What no diagnosis in force stands behind has no lines yet.
    assert doubted(replace(shown, cause=None), failed) == set()


def test_memory_is_laid_on_the_causes_that_it_is_about() -> None:
    failed = struck(failed_once("a", "x.py", "nan at 40"))
    failed = replace(failed, rejections=(Remark("10:01", "ada", "no", "b"), Remark("10:01", "bob", "so", "")))
    fresh = diagnosis("a", hypotheses=tuple(Hypothesis(c, None, n, "open") for n, c in enumerate("abc", 1)))
    told = weighed(fresh, failed)
    assert [[e.text for e in h.evidence] for h in told.hypotheses] == [
        ["its fix was applied and did not pass: nan at 40"],
        ["ada rejected it: no"],
        [],
    ]
    assert not any(e.supports for h in told.hypotheses for e in h.evidence)
    assert weighed(told, failed) is told
    fact = failed_evidence("nan", {"loss": 2.0})
    weaker = weakened(fresh, fact)
    assert (weaker.status, weaker.cause, weaker.site, weaker.missing) == (
        "not-established",
        None,
        None,
        fact.text,
    )
    assert [(h.status, h.evidence) for h in weaker.hypotheses] == [
        ("inconclusive", (fact,)),
        ("open", ()),
        ("open", ()),
    ]
    assert fact.values == {"loss": 2.0}

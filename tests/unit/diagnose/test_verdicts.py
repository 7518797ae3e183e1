"""What becomes of the user's theories: in the hypotheses, and in so many words behind the root cause."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from firstcause.diagnose import diagnose
from firstcause.diagnose.components import settle_components
from firstcause.diagnose.theories import Asked, answered, more, read
from firstcause.lab.counterfactual import Arm, Ran
from firstcause.record.folder import RunFolder
from firstcause.record.journal import Journal
from firstcause.schema import SECTIONS, Diagnosis, Evidence, Hypothesis, Run, Symptom, SymptomKind
from firstcause.specialists import CAUSES
from firstcause.specialists.examination import Examination

LR = "learning-rate-too-high"


class Arms:
    """Stands in for the lab: arms whose outcome is told beforehand, by the name of the arm's change."""

    def __init__(self, **outcomes: Ran) -> None:
        self.outcomes = outcomes
        self.asked: list[tuple[dict[str, Any], tuple[Arm, ...]]] = []

    def from_start(self, arms: Sequence[Arm], steps: int, after: int = 0) -> dict[str, Ran]:
        return self._run({"from": "start", "steps": steps, "after": after}, arms)

    def from_failure(self, arms: Sequence[Arm]) -> dict[str, Ran]:
        return self._run({"from": "failure", "steps": 1}, arms)

    def _run(self, plan: dict[str, Any], arms: Sequence[Arm]) -> dict[str, Ran]:
        self.asked.append((plan, tuple(arms)))
        lost = Ran("", "lost", why="nothing is known of it")
        return {a.name: self.outcomes.get(a.change, lost) for a in arms}


def ran(ended: str, losses: Sequence[float] = (), **more: Any) -> Ran:
    return Ran("", ended, tuple({"loss": x, "grad_norm": 1.0} for x in losses), **more)


def examination(
    folder: Path, kind: SymptomKind = "nan", lab: Any = None, losses: Sequence[float] = (), **facts: Any
) -> Examination:
    run = Run("r", ("python", "train.py"), str(folder), "", "3.12", "linux")
    journal = Journal(str(folder / "1.journal"))
    for step, loss in enumerate(losses):
        journal.metrics(step, ("loss", "grad_norm"), [loss, 1.0])
    return Examination(
        RunFolder(str(folder)), run, Symptom(kind, "it failed", step=len(losses)), facts, lab=lab
    )


def told(diagnosis: Diagnosis) -> list[str]:
    return [
        x for s in SECTIONS[:2] for x in diagnosis.sections.get(s, "").split("\n\n") if x.startswith("Theory")
    ]


def established() -> Diagnosis:
    evidence = Evidence("replay", True, "log got 0. And more")
    hypotheses = (Hypothesis("log-of-zero", None, 1, "confirmed", (evidence,)),)
    sections = {SECTIONS[0]: "nan", SECTIONS[1]: "Logarithm."}
    return Diagnosis("established", Symptom("nan", "nan"), "log-of-zero", None, hypotheses, sections)


@pytest.mark.parametrize("kind", get_args(SymptomKind))
@pytest.mark.parametrize("cause", CAUSES)
def test_any_cause_may_be_suspected_of_any_symptom_and_nothing_is_confirmed_out_of_nothing(
    cause: str, kind: SymptomKind, tmp_path: Path
) -> None:
    (settled,) = more([Asked("it", cause)], [], examination(tmp_path, kind))
    assert settled.cause == cause
    assert settled.status in ("refuted", "inconclusive")
    assert settled.evidence or settled.missing


def test_theories_come_from_the_options_and_from_the_report() -> None:
    run = Run(
        "r", ("x",), "/", "", "3", "linux", report="I think the lr is too high. Maybe dropout?\n  OOM, maybe"
    )
    found = read(run, ["the dropout ", "the cat did it"])
    assert found == [
        Asked("the dropout", "dropout"),
        Asked("the cat did it", None),
        Asked("I think the lr is too high", LR),
    ]


def test_a_cause_is_asked_although_the_symptom_proposes_it_not(tmp_path: Path) -> None:
    seen = examination(tmp_path, losses=[1.0, 0.9, 0.8])
    (settled,) = more([Asked("lr", LR), Asked("x", None)], [], seen)
    assert (settled.cause, settled.status) == (LR, "refuted")
    assert "the loss went from 1 to 0.8" in settled.evidence[0].text
    assert more([Asked("lr", LR)], [settled], seen) == []


def test_a_mechanism_that_is_seen_is_no_proof_that_it_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence = Evidence("counterfactual", True, "it trains")
    confirmed = Hypothesis(LR, None, 0, "confirmed", (evidence,))
    monkeypatch.setattr(CAUSES[LR], "settle", lambda hypothesis, examination: confirmed)
    (demoted,) = more([Asked("lr", LR)], [], examination(tmp_path, "exception"))
    assert (demoted.status, demoted.evidence) == ("inconclusive", (evidence,))
    assert more([Asked("lr", LR)], [], examination(tmp_path, "expectation")) == [confirmed]


def test_each_theory_is_answered_in_so_many_words(tmp_path: Path) -> None:
    asked = [Asked(t, i) for t, i in [("log", "log-of-zero"), ("lr", LR), ("pads", "padding"), ("cat", None)]]
    refuted = Hypothesis(LR, None, 2, "refuted", (Evidence("observation", False, "the norm stayed at 0.5"),))
    before = established()
    before = Diagnosis(**{**vars(before), "hypotheses": (*before.hypotheses, refuted)})
    after = answered(before, asked, examination(tmp_path))
    assert after.sections[SECTIONS[1]].startswith("Logarithm.\n\nTheory “log”")
    assert told(after) == [
        "Theory “log” (log-of-zero): confirmed; replay: log got 0.",
        f"Theory “lr” ({LR}): refuted; observation: the norm stayed at 0.5.",
        "Theory “pads” (padding): not tested; missing: the loss with padded positions left out.",
        "Theory “cat”: not tested: the words name no cause of the catalogue and no component, or deny it.",
    ]
    assert [(h.rank, h.cause, h.status) for h in after.hypotheses] == [
        (1, "log-of-zero", "confirmed"),
        (2, "padding", "inconclusive"),
        (3, LR, "refuted"),
    ]
    assert (after.status, after.cause) == ("established", "log-of-zero")


def test_without_consent_a_component_waits(tmp_path: Path) -> None:
    (settled,) = settle_components(["dropout"], examination(tmp_path))
    assert settled.status == "inconclusive"
    assert "diagnose with --yes" in settled.missing


FAILS = ran("not-finite", [float("nan")])


@pytest.mark.parametrize(
    ("other", "status", "text"),
    [
        (ran("not-finite", [float("nan")], facts={"silenced": 2}), "refuted", "not finite, loss nan"),
        (ran("steps", [0.25], facts={"silenced": 2}), "inconclusive", "finite, loss 0.25"),
        (ran("steps", [0.25], facts={"silenced": 0}), "inconclusive", "the program holds none"),
        (ran("lost", why="it took too long"), "inconclusive", "it took too long"),
    ],
)
def test_a_component_is_taken_out_of_the_failing_step(
    other: Ran, status: str, text: str, tmp_path: Path
) -> None:
    lab = Arms(control=FAILS, without_modules=other)
    (settled,) = settle_components(["batch-normalisation"], examination(tmp_path, lab=lab))
    assert settled.status == status
    assert text in "".join(e.text for e in settled.evidence) + settled.missing
    assert [[a.change for a in arms] for _, arms in lab.asked] == [["control", "without_modules"]]
    after = answered(established(), [Asked("bn", "batch-normalisation")], examination(tmp_path, lab=lab))
    word = {"refuted": "refuted; counterfactual"}.get(
        status, "takes part" if settled.evidence else "not tested"
    )
    assert f"(batch-normalisation): {word}" in told(after)[0]
    for evidence in (e for h in after.hypotheses for e in h.evidence if e.kind == "counterfactual"):
        # What it was made from, for the probe that makes it again.
        assert [a["change"] for a in evidence.values["arms"]] == ["control", "without_modules"]
        assert {a["plan"]["from"] for a in evidence.values["arms"]} == {"failure"}


def test_another_exception_says_nothing(tmp_path: Path) -> None:
    lab = Arms(
        control=ran("exception", exception={"type": "E", "message": "one"}),
        without_modules=ran("exception", exception={"type": "E", "message": "two"}, facts={"silenced": 1}),
    )
    (settled,) = settle_components(["dropout"], examination(tmp_path, "exception", lab))
    assert settled.status == "inconclusive"
    assert "raises something else: E: two" in settled.missing


def test_a_failing_step_that_passes_refutes_nothing(tmp_path: Path) -> None:
    lab = Arms(control=ran("steps", [0.5]), without_modules=ran("steps", [0.5], facts={"silenced": 1}))
    (settled,) = settle_components(["dropout"], examination(tmp_path, lab=lab))
    assert settled.status == "inconclusive"
    assert "does not fail again" in settled.missing


@pytest.mark.parametrize(
    ("losses", "status"),
    [([1.0, 0.9, 0.8, 0.7, 0.6], "inconclusive"), ([1.0, 9.0, 90.0, 900.0, 9000.0], "refuted")],
)
def test_a_component_is_taken_out_of_a_training_that_runs_away(
    losses: list[float], status: str, tmp_path: Path
) -> None:
    away = [1.0, 20.0, 400.0, 8000.0, 9000.0]
    lab = Arms(control=ran("steps", away), without_momentum=ran("steps", losses))
    seen = examination(tmp_path, "divergence", lab, away)
    (settled,) = settle_components(["optimizer-momentum"], seen)
    assert (settled.status, settled.evidence[0].supports) == (status, status != "refuted")
    assert f"largest loss {max(losses):.3g}, last" in settled.evidence[0].text


def test_a_healthy_run_answers_too(tmp_path: Path) -> None:
    folder = RunFolder(str(tmp_path))
    folder.write_run(
        Run(
            "r",
            ("x",),
            str(tmp_path),
            time.ctime(),
            "3",
            "linux",
            exit_code=0,
            observed=True,
            report="Is it the lr?",
        )
    )
    diagnosis = diagnose(folder, said=["padding"])
    assert diagnosis.status == "healthy"
    assert [x.partition(": ")[2] for x in told(diagnosis)] == [
        "not tested: no failure was seen that it could explain."
    ] * 2

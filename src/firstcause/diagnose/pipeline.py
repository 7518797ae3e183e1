"""From a recorded run to a diagnosis: hypotheses from each specialist in order, settled, and the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from firstcause.diagnose import answer, bounds, heard, history, of_ranks, precedents, theories
from firstcause.diagnose.around_failure import replayed_around, replayed_wider
from firstcause.diagnose.repeatable import repeatable
from firstcause.diagnose.runaway import rooted
from firstcause.diagnose.suspicions import LEAST_STEPS, Suspicion, alone, audited, left, slow, suspicion
from firstcause.diagnose.under_marks import replayed_under_marks
from firstcause.diagnose.without_card import replayed_without_card
from firstcause.lab.counterfactual import SPENT, Lab, Ran
from firstcause.lab.paces import START_SECONDS
from firstcause.record.folder import RunFolder
from firstcause.record.journal import steps_of
from firstcause.record.supervise.calls import told
from firstcause.record.supervise.unseen import UNSEEN
from firstcause.schema import SECTIONS, Diagnosis, Hypothesis, Run, Symptom
from firstcause.schema.triage import Triage
from firstcause.specialists import SPECIALISTS, growth
from firstcause.specialists.audits import ENOUGH
from firstcause.specialists.audits import audited as audit_of
from firstcause.specialists.data_loading import nan_in_data
from firstcause.specialists.examination import Examination
from firstcause.specialists.performance_profiling import SPECIALIST as PERFORMANCE
from firstcause.specialists.specialist import Specialist

# What is kept for the looks at slow steps: the steps as they are, watched, and changed, each with a start of its own.
OF_PACES = 40.0


def diagnose(
    folder: RunFolder, lab: Callable[[dict[str, Any]], Lab] | None = None, said: Sequence[str] = ()
) -> Diagnosis:
    """Diagnose the first failure of a run; ``lab`` makes the place where one failure's program may be run again.

    ``said`` are the user's theories; the run's own report is read for more of them.
    Raises ``RecordError`` where the run cannot be read.
    """
    run = folder.run()
    first = run.symptoms[0] if run.symptoms else None
    # That a number fell short says less than a training that is seen to run away.
    suspected = suspicion(folder) if first is None or first.kind == "expectation" else None
    symptom = suspected.symptom if suspected is not None else first
    if suspected is not None and first is not None:
        symptom = replace(suspected.symptom, message=f"{first.message}; {suspected.symptom.message}")
    asked = theories.read(run, said)
    concluded: Diagnosis | None = None
    failure: dict[str, Any] | None = None
    examination: Examination | None = None
    if symptom is not None:
        failure = failure_of(folder, symptom)
        place = lab(failure or {}) if lab is not None else None
        failure = replayed_under_marks(folder, replayed_without_card(folder, failure, place), place)
        symptom, failure = of_ranks.replayed(folder, symptom, failure, place)
        examination = Examination(folder, run, symptom, failure, place)
        concluded, examination = _concluded(examination, asked)
        deeper = rooted(examination, concluded, lab, lambda told, own: _established(told, own, asked))
        if deeper is not None:
            concluded, examination = deeper
        if not _worth_a_word(first, suspected) and concluded.status != "established":
            concluded = None
    if concluded is None:
        concluded = _nothing_seen(run)
    # Nothing that the record explains: the training is looked at more closely, where it may be run again.
    silent = concluded.status == "healthy" or (
        failure is None and symptom is not None and (suspected is not None or symptom.kind == "expectation")
    )
    if silent and concluded.status != "established":
        found = _audited(folder, run, lab, asked)
        if isinstance(found, answer.Unseen):
            concluded = answer.unaudited(concluded, found)
        elif found is not None:
            concluded, examination = found
    concluded = bounds.told(run, failure, concluded)
    if concluded.status == "not-established" and run.symptoms:
        concluded = heard.completed(concluded, _heard(examination) if examination else heard.heard(folder))
    return history.characterised(folder, run, theories.answered(concluded, asked, examination))


def _concluded(examination: Examination, asked: Sequence[theories.Asked]) -> tuple[Diagnosis, Examination]:
    """What the kept failure tells, or where that is too little, what a replay of the statements around it does."""
    more = None
    # What was replayed by itself tells nothing of where its arguments come from.
    if "recalled" in examination.failure:
        more = replayed_around(examination)
    elif nan_in_data.is_given_to_function(examination):
        more = replayed_wider(examination)
    if more is None:
        concluded = _settled(examination, asked)
        if "recalled" not in examination.failure and concluded.status != "established":
            more = replayed_around(examination)
        if more is None:
            return concluded, examination
    wider = Examination(examination.folder, examination.run, examination.symptom, more, examination.lab)
    return _settled(wider, asked), wider


def _worth_a_word(first: Symptom | None, suspected: Suspicion | None) -> bool:
    return first is not None or suspected is None or suspected.strong


def _audited(
    folder: RunFolder, run: Run, lab: Callable[[dict[str, Any]], Lab] | None, asked: Sequence[theories.Asked]
) -> tuple[Diagnosis, Examination] | answer.Unseen | None:
    """What an audit of the training establishes, None where it shows nothing, or what of it could not be made."""
    examination = Examination(
        folder, run, Symptom("invariant", ""), None, lab({}) if lab is not None else None
    )
    if examination.lab is None or not _trains(examination):
        return None
    # Where few watchers are asked for, nothing else is looked into.
    is_whole = not examination.lab.watch
    if is_whole and growth.is_recorded(examination):
        # A few watchers for what the record shows: the audit by all of them may take longer than there is time.
        examination.lab.watch, examination.lab.least = growth.WATCHED, growth.steps_to_show(examination)
        found = _established(audited(examination), examination, asked)
        examination.lab.watch, examination.lab.least = (), 0
        if found is not None:
            return found
    if is_whole:
        examination.memory[ENOUGH] = True
        found = _established(alone(examination), examination, asked)
        if found is not None:
            return found
        del examination.memory[ENOUGH]
    # Watchers make some trainings many times slower: that must not take the time in which slow steps are looked at.
    with examination.lab.keeping(OF_PACES if is_whole else 0.0):
        made = audit_of(examination.lab)
    told = audited(examination)
    found = _established(told, examination, asked) or _established(left(examination), examination, asked)
    if found is not None:
        return found
    # A training that raises where it is watched has no pace to be measured.
    if is_whole and (told or made.ended != "exception"):
        found = _established(slow(examination), examination, asked, (PERFORMANCE,))
        if found is not None:
            return found
    if not told and made.ended in ("lost", "exception"):
        return answer.Unseen("faults that raise nothing", _unmade(made))
    if is_whole and examination.lab.seconds_left < START_SECONDS:
        return answer.Unseen("slow steps", SPENT)
    return _left_over(examination)


def _left_over(examination: Examination) -> answer.Unseen | None:
    """What an audit that ended by itself for want of time did not come to."""
    lab = examination.lab
    seen, taken = (
        lab.seen_steps if lab is not None else None,
        len(steps_of(examination.folder.journals().values())),
    )
    if seen is None or seen >= taken:
        return None
    why = f"the audit had time for {seen} of {taken} steps; `--budget` gives it more"
    return answer.Unseen("faults that show later, such as those of a resume", why)


def _unmade(made: Ran) -> str:
    raised = made.exception or {}
    return made.why or f"watched, the training raised {raised.get('type')}: {raised.get('message')}"


def _established(
    told: dict[str, str],
    examination: Examination,
    asked: Sequence[theories.Asked],
    specialists: Sequence[Specialist] = SPECIALISTS,
) -> tuple[Diagnosis, Examination] | None:
    """The diagnosis where one of the causes of which something is told is proven."""
    if not told:
        return None
    examination.symptom = Symptom("invariant", "; ".join(told.values()))
    found = _settled(examination, asked, specialists)
    if found.status != "established" or found.cause is None:
        return None
    own = told.get(found.cause)
    if own is not None:
        examination.symptom = Symptom("invariant", own)
        found = replace(
            found, symptom=examination.symptom, sections=found.sections | {SECTIONS[0]: f"{own}."}
        )
    return found, examination


def _trains(examination: Examination) -> bool:
    """Whether the run is a training: enough steps, or backward calls in its source and no step at all."""
    steps = len(steps_of(examination.folder.journals().values()))
    if examination.lab is not None and examination.lab.world > 1:
        # What is asked of ranks shows in few steps.
        return steps > 0
    if steps or examination.project is None:
        return steps >= LEAST_STEPS
    return any(".backward(" in module.text for module in examination.project.modules)


def _settled(
    examination: Examination,
    asked: Sequence[theories.Asked],
    specialists: Sequence[Specialist] = SPECIALISTS,
) -> Diagnosis:
    proposed = [h for specialist in specialists for h in specialist.propose(examination)]
    settled = [
        one
        for specialist in specialists
        for h in proposed
        if h.cause in specialist.causes
        for one in repeatable(examination, lambda s=specialist, h=h: [s.settle(h, examination)])  # type: ignore[misc]
    ]
    settled += theories.more(asked, proposed, examination)
    return answer.conclude(examination, answer.ranked(settled, _weights(examination, settled)))


def _weights(examination: Examination, settled: Sequence[Hypothesis]) -> dict[str, tuple[int, int]]:
    """What ranks hypotheses of one status: what earlier cases taught, then what the words of the failure suggest."""
    taught = precedents.weights(examination.run.folder, examination.symptom)
    undecided = [h for h in settled if h.status in ("open", "inconclusive")]
    # Triage reads the whole catalogue: it is asked where there is something to rank.
    said = heard.order(_heard(examination)) if len(undecided) > 1 else {}
    return {h.cause: (taught.get(h.cause, 0), said.get(h.cause, 0)) for h in settled}


def _heard(examination: Examination) -> Triage | None:
    return examination.once("what triage hears", lambda: heard.heard(examination.folder))


def failure_of(folder: RunFolder, symptom: Symptom) -> dict[str, Any] | None:
    """What was kept of the step at which a symptom was seen."""
    kind = {"nan": "nan", "exception": "exception"}.get(symptom.kind)
    alike = [f for f in folder.failures() if f["kind"] == kind and f["step"] == symptom.step]
    alike = [f for f in alike if f.get("rank", 0) == symptom.rank] or alike
    # What was replayed with the statements around it tells more than the call alone.
    alike.sort(key=lambda f: "around" not in f)
    # Several calls may have failed, and all are without a step: the message tells which one is meant.
    return next((f for f in alike if _is_of(f, symptom)), alike[0] if alike else None)


def _is_of(failure: dict[str, Any], symptom: Symptom) -> bool:
    raised = failure.get("exception") or [None]
    return raised[0] is None or symptom.message.startswith(told(raised[0]))


def _nothing_seen(run: Run) -> Diagnosis:
    failed = next((n for n in run.notes if n.startswith("internal-error")), None)
    if failed is not None:
        return answer.unobserved(run, f"firstcause itself failed while it observed ({failed})")
    if not run.observed:
        why = next((f" ({n.removeprefix(UNSEEN)})" for n in run.notes if n.startswith(UNSEEN)), "")
        return answer.unobserved(run, f"no Python process of the command could be observed{why}")
    return answer.healthy(run)

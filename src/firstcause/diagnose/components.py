"""A suspected component, settled by taking it out: the same failing step, or the same training, without it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from firstcause import catalog
from firstcause.catalog.suspects import Suspect, suspects
from firstcause.lab.counterfactual import CONTROL, Arm, Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists.examination import Examination
from firstcause.specialists.trajectories import BEYOND, Trajectories, trajectories, worth_asking
from firstcause.specialists.verdicts import inconclusive, refuted

DATA = "data-loading"
CONSENT = "running the program again with one thing changed: run diagnose with --yes"


def settle_components(
    ids: Sequence[str], examination: Examination, established: str | None = None
) -> list[Hypothesis]:
    """The hypotheses that each of these components is to blame, settled beside one another.

    ``established`` is the cause that was proven.

    One is refuted where the failure stays without it. Where the failure goes, that is evidence that the component
    takes part, and no more: what is wrong about it is then still unknown, so it stays inconclusive.
    """
    known = suspects()
    testable = {name: known[name] for name in ids if known[name].change}
    found = _tested(testable, examination) if testable else {}
    return [
        found.get(name)
        or _not_needed(name, known[name].absent, examination, established)
        or inconclusive(name, known[name].untested)
        for name in ids
    ]


def _not_needed(
    name: str, absent: str, examination: Examination, established: str | None
) -> Hypothesis | None:
    """Refuted where the failing step fails alike in a replay without the component, and not by what the data holds."""
    if not absent or not examination.replay.get("exact") or established is None:
        return None
    if catalog.cause(established).specialist == DATA:
        return None
    text = f"step {examination.step} fails again on the recorded batch with {absent}: {examination.symptom.message}"
    evidence = examination.replayed(False, text, {"step": examination.step, "cause": established}, None)
    return refuted(name, evidence)


def _tested(testable: dict[str, Suspect], examination: Examination) -> dict[str, Hypothesis]:
    if examination.lab is None:
        return {name: inconclusive(name, CONSENT) for name in testable}
    arms = {name: Arm(s.arm or f"without {s.title}", s.change, s.settings) for name, s in testable.items()}
    if worth_asking(examination):
        return _over_the_training(arms, testable, examination)
    if examination.symptom.kind in ("nan", "exception"):
        return _at_the_failure(arms, testable, examination)
    missing = "an experiment on the whole run: what failed is known at its end alone"
    return {name: inconclusive(name, missing) for name in testable}


def _over_the_training(
    arms: dict[str, Arm], testable: dict[str, Suspect], examination: Examination
) -> dict[str, Hypothesis]:
    """The training that ran away, run again without each component."""
    assert examination.lab is not None
    found = trajectories(examination)
    if isinstance(found, str):
        return {name: inconclusive(name, found) for name in arms}
    ran = examination.lab.from_start(list(arms.values()), found.onset - found.after + BEYOND, found.after)
    whole = Trajectories(found.arms | ran, found.onset, found.after)
    result = {}
    for name, arm in arms.items():
        unreached = _unreached(testable[name], ran[arm.name])
        kept = whole.kept(arm)
        text = "the training holds" if kept else "the training runs away all the same"
        evidence = whole.evidence(kept, [CONTROL, arm], f"{arm.name} {text}")
        result[name] = inconclusive(name, unreached) if unreached else _settled(name, kept, evidence)
    return result


def _at_the_failure(
    arms: dict[str, Arm], testable: dict[str, Suspect], examination: Examination
) -> dict[str, Hypothesis]:
    """The failing step, from its saved state, without each component."""
    assert examination.lab is not None
    ran = examination.lab.from_failure([CONTROL, *arms.values()])
    control = ran[CONTROL.name]
    if control.ended not in ("not-finite", "exception"):
        why = control.why or f"unchanged it ended with {control.ended}"
        return {
            name: inconclusive(name, f"the failing step, which does not fail again: {why}") for name in arms
        }
    result = {}
    for name, arm in arms.items():
        other = ran[arm.name]
        unreached = _unreached(testable[name], other)
        if not unreached and other.ended == "exception" and _raised(other) != _raised(control):
            unreached = f"the failing step {arm.name} raises something else: {_raised(other)}"
        stays = other.ended == control.ended
        text = f"the failing step {arm.name}: {_outcome(other)}; as it ran: {_outcome(control)}"
        values = {"with": _outcome(control), "without": _outcome(other)}
        evidence = Evidence("counterfactual", not stays, text, values, None, examination.step)
        result[name] = inconclusive(name, unreached) if unreached else _settled(name, not stays, evidence)
    return result


def _settled(name: str, gone: bool, evidence: Evidence) -> Hypothesis:
    if not gone:
        return refuted(name, evidence)
    return inconclusive(name, "what is wrong about it", evidence)


def _unreached(suspect: Suspect, ran: Ran) -> str:
    """Why an arm says nothing about its component, or an empty string."""
    if ran.ended == "lost":
        return CONSENT if "--yes" in ran.why else ran.why
    if suspect.counts and not ran.facts.get(suspect.counts):
        return f"a module of {suspect.title} to take out: the program holds none, and functional forms are not reached"
    return ""


def _raised(ran: Ran) -> str:
    exception = ran.exception or {}
    return f"{exception.get('type')}: {exception.get('message')}"


def _outcome(ran: Ran) -> str:
    if ran.ended == "exception":
        return _raised(ran)
    if ran.ended == "not-finite":
        norm = (ran.rows[-1].get("grad_norm") if ran.rows else None) or math.nan
        loss = ran.losses[-1] if ran.losses else math.nan
        return f"not finite, loss {loss:.4g}, gradient norm {norm:.3g}"
    return f"finite, loss {ran.losses[-1]:.4g}" if ran.losses else "finite"

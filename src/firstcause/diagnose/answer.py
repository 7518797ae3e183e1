"""The diagnosis in the form of Gate 4: six sections, made from the catalogue and from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from firstcause import catalog
from firstcause.fix import propose as patches
from firstcause.fix import site as sites
from firstcause.record.folder import relative
from firstcause.record.journal import steps_of
from firstcause.schema import SECTIONS, Diagnosis, Hypothesis, Run, Site
from firstcause.specialists import CAUSES
from firstcause.specialists.births import missing_replay, tell
from firstcause.specialists.examination import Examination


def healthy(run: Run) -> Diagnosis:
    """No failure was seen; that is all that is said."""
    text = f"the command ended with exit code {run.exit_code}, and no loss, gradient or exception was bad"
    return Diagnosis("healthy", None, None, None, (), {SECTIONS[0]: text})


class Unseen(NamedTuple):
    """What a training was not looked at for, in the plural, and why."""

    what: str
    why: str


def unaudited(diagnosis: Diagnosis, unseen: Unseen) -> Diagnosis:
    """The same, and what the training itself was not looked at for."""
    text = f"{diagnosis.sections[SECTIONS[0]]}; {unseen.what} were not looked for: {unseen.why}"
    return replace(diagnosis, sections={**diagnosis.sections, SECTIONS[0]: text})


def unobserved(run: Run, why: str) -> Diagnosis:
    """Nothing bad was seen, but not all of the run was seen: nothing is claimed."""
    missing = f"{why}, so only its end was seen"
    text = f"the command ended with exit code {run.exit_code}"
    sections = {SECTIONS[0]: text, SECTIONS[1]: f"Not established. Missing: {missing}."}
    return Diagnosis("not-established", None, None, None, (), sections, None, missing)


def conclude(examination: Examination, hypotheses: tuple[Hypothesis, ...]) -> Diagnosis:
    """Established when exactly one hypothesis is confirmed; else not, and what is missing is named."""
    hypotheses = deepest(hypotheses)
    confirmed = [h for h in hypotheses if h.status == "confirmed"]
    if len(confirmed) != 1:
        return _not_established(examination, hypotheses, confirmed)
    chosen = confirmed[0]
    cause = catalog.cause(chosen.cause)
    facts = CAUSES[chosen.cause].facts(examination)
    project = examination.project
    site = sites.line_to_fix(chosen.cause, facts, project) if project is not None else None
    site = _relative(site, examination) or chosen.site
    hypotheses = tuple(replace(h, site=site) if h is chosen else h for h in hypotheses)
    fix = (
        patches.propose(chosen.cause, facts, project, examination.run.folder) if project is not None else None
    )
    sections = {
        SECTIONS[0]: _symptom(examination),
        SECTIONS[1]: _root_cause(cause.title, site, chosen),
        SECTIONS[2]: cause.mechanism,
        SECTIONS[3]: fix.summary if fix else f"No patch is offered: it would be a guess here. {cause.fix}",
        SECTIONS[4]: fix.changes if fix else cause.fix_changes,
        SECTIONS[5]: fix.does_not_fix if fix else cause.fix_does_not,
    }
    return Diagnosis("established", examination.symptom, chosen.cause, site, hypotheses, sections, fix)


def ranked(
    hypotheses: Iterable[Hypothesis], weights: Mapping[str, tuple[int, int]] | None = None
) -> tuple[Hypothesis, ...]:
    """Confirmed first, then what is still open or inconclusive, then the refuted; among equals by ``weights``."""
    order = {"confirmed": 0, "open": 1, "inconclusive": 1, "refuted": 2}

    def place(one: Hypothesis) -> tuple[int, int, int]:
        first, then = (weights or {}).get(one.cause, (0, 0))
        return order[one.status], -first, -then

    result = sorted(hypotheses, key=place)
    return tuple(replace(h, rank=i) for i, h in enumerate(result, 1))


def deepest(hypotheses: tuple[Hypothesis, ...]) -> tuple[Hypothesis, ...]:
    """Without the confirmed ones that are the consequence of another confirmed one, as the catalogue tells it."""
    confirmed = {h.cause for h in hypotheses if h.status == "confirmed"}
    result = []
    for hypothesis in hypotheses:
        behind = [c for c in catalog.cause(hypothesis.cause).explained_by if c in confirmed]
        if hypothesis.status == "confirmed" and behind:
            missing = f"it is seen, and {behind[0]} is what brings it about"
            hypothesis = replace(hypothesis, status="inconclusive", missing=missing)
        result.append(hypothesis)
    return tuple(result)


def _not_established(
    examination: Examination, hypotheses: tuple[Hypothesis, ...], confirmed: list[Hypothesis]
) -> Diagnosis:
    if confirmed:
        causes = ", ".join(h.cause for h in confirmed)
        missing = f"{len(confirmed)} causes fit what the replay showed ({causes}); an experiment must tell them apart"
    else:
        missing = next((h.missing for h in hypotheses if h.missing), "") or _unknown(examination)
    sections = {SECTIONS[0]: _symptom(examination), SECTIONS[1]: f"Not established. Missing: {missing}."}
    return Diagnosis("not-established", examination.symptom, None, None, hypotheses, sections, None, missing)


def _unknown(examination: Examination) -> str:
    root = examination.root
    if root is not None:
        return f"{tell(examination, root)}, which is none of the mechanisms that can be settled so far"
    if examination.symptom.kind in ("divergence", "no-learning"):
        return "a change that removes it: none of those that were tried from the start does"
    if examination.symptom.kind in ("signal", "exit-code"):
        stopped = next((n for n in examination.run.notes if n.startswith("internal-error")), "")
        before = f", and the recording had stopped before ({stopped})" if stopped else ""
        return f"what ended it: its last lines of output, which `firstcause triage FILE` reads{before}"
    if examination.symptom.kind == "expectation":
        if not steps_of(examination.folder.journals().values()):
            return "a training behind what was expected: no optimizer step was seen in the run"
        return "what keeps the number from the expected one, as no loss or gradient was bad: name a suspect with --theory"
    launched = examination.site(examination.replay.get("launched"))
    if launched is not None:
        told = f"{examination.symptom.message.splitlines()[0]} comes from the launch at {launched} `{launched.text}`"
        return (
            f"{told}, as a replay shows that waits for each launch: what this call was given (shapes, strides, "
            "indices), and what compute-sanitizer says of it"
        )
    refused = examination.refused
    if refused is not None:
        said = refused["error"].splitlines()[0]
        return f"{refused['op']} refused its input ({said}), which is none of the mechanisms that can be settled so far"
    if examination.symptom.kind == "exception" and examination.replay.get("exact"):
        return "the exception was reproduced, but it is none of the mechanisms that can be settled so far"
    return missing_replay(examination)


def _symptom(examination: Examination) -> str:
    symptom = examination.symptom
    where = f" ({symptom.site})" if symptom.site else ""
    step = f" It was step {symptom.step}." if symptom.step is not None and symptom.kind == "exception" else ""
    alone = examination.failure is not None and "alone" in examination.failure
    rank = f" It was first seen on rank {symptom.rank}." if alone else ""
    return f"{symptom.message}{where}.{step}{rank}"


def _root_cause(title: str, site: Site | None, chosen: Hypothesis) -> str:
    line = f" To fix: {site}{f' `{site.text}`' if site.text else ''}." if site else ""
    return f"{title}. Evidence: {'; '.join(e.text for e in chosen.evidence if e.supports)}.{line}"


def _relative(site: Site | None, examination: Examination) -> Site | None:
    return None if site is None else replace(site, file=relative(site.file, examination.run.folder))

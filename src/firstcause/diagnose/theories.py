"""The user's theories: each one more hypothesis, and in the answer, in so many words, what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from firstcause import catalog
from firstcause.catalog.suspects import suspects
from firstcause.catalog.theories import theories, theories_in_report
from firstcause.diagnose.answer import ranked
from firstcause.diagnose.components import settle_components
from firstcause.diagnose.repeatable import repeatable
from firstcause.schema import SECTIONS, Diagnosis, Evidence, Hypothesis, Run
from firstcause.specialists import CAUSES
from firstcause.specialists.examination import Examination

# A failure of these kinds has no op that made it: a cause that a training shows may be named by the user alone.
SILENT = ("divergence", "no-learning", "expectation")
UNREAD = "not tested: the words name no cause of the catalogue and no component, or deny it"


@dataclass(frozen=True)
class Asked:
    """The words of the user, and the cause or component that they name; None where they name none."""

    text: str
    id: str | None


def read(run: Run, texts: Sequence[str]) -> list[Asked]:
    """What the user suspects, of the run's report and of ``texts``, each thing once; ``texts`` come first."""
    found: list[Asked] = []
    for text in texts:
        found += [Asked(" ".join(text.split()), t.id) for t in theories(text)] or [
            Asked(" ".join(text.split()), None)
        ]
    found += [Asked(t.text, t.id) for t in theories_in_report(run.report or "")]
    return [s for i, s in enumerate(found) if s.id is None or s.id not in {o.id for o in found[:i]}]


def more(
    asked: Sequence[Asked], proposed: Sequence[Hypothesis], examination: Examination
) -> list[Hypothesis]:
    """The causes that the user suspects and the symptom alone does not propose, settled by their specialists."""
    known = {h.cause for h in proposed}
    ids = [s.id for s in asked if s.id is not None and s.id in CAUSES and s.id not in known]
    settled = [
        h
        for name in ids
        for h in repeatable(
            examination,
            lambda name=name: [CAUSES[name].settle(Hypothesis(name, None, 0), examination)],  # type: ignore[misc]
        )
    ]
    return [_without_link(h) if examination.symptom.kind not in SILENT else h for h in settled]


def _without_link(hypothesis: Hypothesis) -> Hypothesis:
    """Its specialist does not expect this symptom from it: that the mechanism is there is no proof that it failed."""
    if hypothesis.status != "confirmed":
        return hypothesis
    missing = (
        "that it brings about this failure: it is seen in the run, and this is not what it is known to do"
    )
    return replace(hypothesis, status="inconclusive", missing=missing, site=None)


def answered(diagnosis: Diagnosis, asked: Sequence[Asked], examination: Examination | None) -> Diagnosis:
    """The diagnosis with a sentence for each theory behind its root cause, and the suspected components settled."""
    if not asked:
        return diagnosis
    hypotheses = diagnosis.hypotheses
    if examination is not None and diagnosis.symptom is not None:
        named = [s.id for s in asked if s.id is not None and s.id in suspects()]
        components = repeatable(examination, lambda: settle_components(named, examination, diagnosis.cause))
        hypotheses = ranked([*hypotheses, *components])
    told = [f"Theory “{s.text}”{_named(s)}: {_verdict(s, diagnosis, hypotheses)}." for s in asked]
    section = SECTIONS[1] if diagnosis.sections.get(SECTIONS[1]) else SECTIONS[0]
    text = "\n\n".join([diagnosis.sections[section], *told])
    return replace(diagnosis, hypotheses=hypotheses, sections=diagnosis.sections | {section: text})


def _named(one: Asked) -> str:
    return f" ({one.id})" if one.id else ""


def _verdict(one: Asked, diagnosis: Diagnosis, hypotheses: Sequence[Hypothesis]) -> str:
    if one.id is None:
        return UNREAD
    if diagnosis.symptom is None:
        return "not tested: no failure was seen that it could explain"
    found = next((h for h in hypotheses if h.cause == one.id), None)
    if found is None:
        return f"not tested: nothing here settles {_title(one.id)} so far"
    speaking = _speaking(found)
    measured = f"{speaking.kind}: {speaking.text}" if speaking is not None else ""
    if found.cause == diagnosis.cause:
        # Its whole evidence stands right above.
        return f"confirmed; {measured.partition('. ')[0]}"
    if found.status in ("confirmed", "refuted"):
        return f"{found.status}; {measured}"
    if measured:
        proven = f", and {diagnosis.cause} is what is proven" if diagnosis.cause else ""
        return f"takes part, but not confirmed as the cause{proven}; {measured}; missing: {found.missing}"
    return f"not tested; missing: {found.missing}"


def _speaking(hypothesis: Hypothesis) -> Evidence | None:
    side = hypothesis.status != "refuted"
    return next((e for e in reversed(hypothesis.evidence) if e.supports is side), None)


def _title(name: str) -> str:
    known = suspects().get(name)
    return known.title if known is not None else catalog.cause(name).title

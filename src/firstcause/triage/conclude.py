"""From a reading to the first step: the patterns in order, the specialists, or the one thing that is still missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firstcause.catalog.load import cause as load_cause
from firstcause.catalog.patterns import load_patterns
from firstcause.schema import Pattern
from firstcause.schema.triage import Action, Seen, Triage
from firstcause.triage import question
from firstcause.triage.advise import advice
from firstcause.triage.evidence import (
    FIGURES_ONLY,
    decided,
    evidence,
    frames_tell,
    is_foreign,
    is_ours,
    kernels_tell,
    of_a_card,
    others_tell,
    ranks_tell,
    says_something,
    scales_tell,
    shown_by_figures,
    without_claims,
)
from firstcause.triage.hand import LINES
from firstcause.triage.learned import CLARIFY, HARMLESS, NEED_ERROR, OUT, guesses, weighed
from firstcause.triage.precedence import only_wrappers, ordered, without_doubles
from firstcause.triage.pressure import answered, stop_gap
from firstcause.triage.reading import Reading
from firstcause.triage.routes import CHECKPOINTS, DEBUGGING, MEMORY, OUT_OF_SCOPE, routes
from firstcause.triage.scope import HANDOVERS, out_of_scope
from firstcause.triage.suspicions import gathered, suspicions
from firstcause.triage.words import ENOUGH, Understood, understand

# From these probabilities on a symptom that only the learned weights see is taken up, and a second one beside it.
SURE, BESIDE = 0.15, 0.75
# In fewer words nothing is told: "memory", "model stuck".
FEWEST = 4
# The report of a failure in another process: alone, it leads nowhere.
_ELSEWHERE = ("engine-init-failed", "elastic-child-failed")
# An error that people name without its text; where they ask for its cause, the text is needed.
_NEEDS_TEXT = frozenset(
    {
        "shape-mismatch",
        "dtype-mismatch",
        "device-mismatch",
        "state-dict-mismatch",
        "missing-file",
        "version-mismatch",
        "index-out-of-range",
        "weights-only-load",
    }
)


@dataclass(frozen=True)
class _Step:
    action: Action
    patterns: tuple[str, ...] = ()
    specialist: str = DEBUGGING
    question: str | None = None
    handover: str | None = None
    why: tuple[str, ...] = ()


def conclude(reading: Reading) -> Triage:
    """The first step for a text: where it belongs and what is suspected, or what is still missing."""
    known = load_patterns()
    understood = understand(reading.prose, reading.code, [s.pattern for s in reading.seen], reading.metrics)
    seen = without_claims(reading.seen, reading.prose, understood.told)
    step = _step(reading, seen, understood, known)
    seen = _with_words(seen, step.patterns, understood)
    ranks_first = not reading.seen and understood.says("context", "distributed")
    order = ordered(step.patterns, known, ranks_first)
    where: tuple[str, ...] = (step.specialist,)
    reasons = step.why
    if step.action == "route" and order:
        where, because = routes(order, known, evidence(reading, understood))
        reasons = (*reasons, *because)
    kinds = [kind for kind, _ in understood.told.kinds]
    recommended, warned = advice(step.action, order, understood)
    return Triage(
        step.action,
        where,
        patterns=step.patterns,
        order=order,
        facts=dict(reading.facts),
        seen=seen,
        suspicions=suspicions(order, reading, known, understood.shown()) if step.action == "route" else (),
        gather=gathered(order, known, reading) if step.action == "route" else (),
        question=step.question,
        advice=recommended,
        warned=warned,
        answered=answered(kinds, warned),
        stop_gap=stop_gap(kinds, step.action),
        handover=step.handover,
        why=(*reasons, *_weights(step.patterns, understood)),
    )


def _step(
    reading: Reading, seen: Sequence[Seen], understood: Understood, known: Mapping[str, Pattern]
) -> _Step:
    messages = _distinct(
        [
            *decided(seen, reading),
            *frames_tell(reading.raised),
            *kernels_tell(seen),
            *scales_tell(seen),
            *ranks_tell(reading),
            *shown_by_figures(reading),
            *others_tell(reading, understood),
        ]
    )
    ours = any(map(is_ours, reading.raised)) or (
        bool(messages or of_a_card(reading)) and not any(map(is_foreign, reading.raised))
    )
    if reading.language and not understood.named:
        why = f"the error is one of {reading.language}, and nothing of PyTorch stands beside it"
        return _Step("out-of-scope", (), OUT_OF_SCOPE, handover=HANDOVERS["other-language"], why=(why,))
    foreign = out_of_scope(understood, ours, any(says_something(raised) for raised in reading.raised))
    if foreign:
        kind, why = foreign
        return _Step("out-of-scope", (), OUT_OF_SCOPE, handover=HANDOVERS[kind], why=(why,))
    told = [p for p in understood.labels("pattern") if p in known and p not in FIGURES_ONLY]
    weight = understood.weights("pattern")
    if understood.words < FEWEST and not messages:
        # "Memory trouble" says of what, and not what.
        told = [p for p in told if weight[p] > ENOUGH or not understood.only_in_words(p)]
    if understood.is_well():
        # What tells only just, or no more than what is well, is what is asked about.
        calm = understood.weights("context")["well"]
        told = [p for p in told if weight[p] > max(ENOUGH, calm - 1) or not understood.only_in_words(p)]
    # What somebody takes a wrapper's message for is a theory about it.
    theories = {look for m in messages if known[m].wrapper for look in known[m].look_alikes}
    patterns = _distinct(
        [
            *messages,
            *(
                p
                for p in without_doubles(told, messages, weight)
                if p not in theories or not understood.only_in_words(p)
            ),
        ]
    )
    if (
        not patterns
        and understood.is_well()
        and (understood.shows_well() or not understood.says("complaint", "error"))
    ):
        about = [*understood.labels("about"), *(["distributed"] if "NCCL" in reading.prose else [])]
        return _Step(
            "route",
            (),
            question.where(about),
            why=("it is asked whether that is harmless; nothing is wrong in it",),
        )
    if not patterns and says_nothing_else(reading, understood):
        patterns = _distinct(
            [
                p
                for p, (total, _) in understood.claimed.items()
                if total >= ENOUGH and p in known and p not in FIGURES_ONLY
            ]
        )
        if patterns:
            return _Step(
                "route", patterns, why=("only what is claimed names a symptom; nothing else is told",)
            )
    missing = _missing(reading, messages, patterns, understood)
    if missing:
        return missing
    if only_wrappers(patterns, known) and all(p in _ELSEWHERE for p in patterns):
        return _Step("clarify", patterns, known[patterns[0]].specialist, question.about_wrapper(patterns[0]))
    if patterns:
        return _Step("route", patterns)
    if any(says_something(raised) for raised in reading.raised):
        return _Step("route", (), why=("an exception that no pattern words: its own frame comes first",))
    return (
        _told_cause(understood)
        or _know_how(reading, understood)
        or _likely(reading, understood, known)
        or _open(reading, understood)
    )


def _told_cause(understood: Understood) -> _Step | None:
    """Where a cause is described whose symptom has no pattern: its specialist begins."""
    for slug in understood.labels("cause"):
        cause = load_cause(slug)
        return _Step("route", (), cause.specialist, why=(f"what is told describes {slug}",))
    return None


def _know_how(reading: Reading, understood: Understood) -> _Step | None:
    """Where somebody asks how a thing is done, and nothing is told that went wrong: whose field it is."""
    failed = ("complaint", "ambiguous", "lost", "scope")
    if reading.raised or reading.seen or any(understood.labels(group) for group in failed):
        return None
    topics = understood.labels("topic")
    if not topics or not understood.says("howto", "asked"):
        return None
    why = f"it is asked how something is done, in the field of {topics[0]}"
    return _Step("route", (), topics[0], why=(why,))


def _likely(reading: Reading, understood: Understood, known: Mapping[str, Pattern]) -> _Step | None:
    """What the learned weights find in words that no rule knows; None where they are not sure."""
    bare = reading.raised or reading.facts.get("exception") or understood.words < FEWEST
    if bare or reading.lines > LINES or understood.labels("ambiguous"):
        return None
    asked = understood.says("worry", "harmless")
    found = [
        g for g in guesses(weighed(understood)) if g.probability >= SURE and (asked or g.label != HARMLESS)
    ]
    if not found or found[0].label == CLARIFY:
        return None
    reasons = tuple(
        f"{g.label}: probability {g.probability:.2f} by {', '.join(repr(name) for name, _ in g.because)}"
        for g in found[:2]
    )
    first = found[0].label
    if first == OUT:
        return _Step("out-of-scope", (), OUT_OF_SCOPE, handover=HANDOVERS["other"], why=reasons)
    if first == NEED_ERROR:
        about = understood.labels("about")
        return _Step("need-error", (), question.where(about), question.what_to_paste(about), why=reasons)
    if first == HARMLESS:
        return _Step("route", (), question.where(understood.labels("about")), why=reasons)
    patterns = [g.label for g in found if (g.label in known and g.probability >= BESIDE) or g is found[0]]
    return _Step("route", _distinct(patterns[:2]), why=reasons)


def _missing(
    reading: Reading, messages: Sequence[str], patterns: tuple[str, ...], understood: Understood
) -> _Step | None:
    """Where a cause is asked for and the error's text is absent."""
    asked = understood.says("complaint", "asks-for-the-cause")
    lost = understood.says("lost", "text")
    if any(says_something(raised) for raised in reading.raised) or not understood.says("complaint", "error"):
        return None
    weight = understood.weights("pattern")
    if lost and asked and not messages and all(weight.get(p, 9.0) <= ENOUGH for p in patterns):
        # What tells only just, of an error whose text is lost, is a word about it.
        patterns = ()
    if not patterns and (lost or asked):
        about = understood.labels("about")
        return _Step(
            "need-error",
            (),
            question.where(about),
            question.what_to_paste(about),
            why=("an error is told of, its text is absent",),
        )
    if patterns and lost and asked and all(p in _NEEDS_TEXT for p in patterns):
        about = understood.labels("about")
        return _Step(
            "need-error",
            patterns,
            question=question.what_to_paste(about),
            why=("the error is named, its text is absent",),
        )
    return None


def _open(reading: Reading, understood: Understood) -> _Step:
    """The one question that a text without a symptom leaves."""
    about = understood.labels("about")
    if understood.says("ambiguous", "stuck"):
        return _Step("clarify", ("hang", "no-learning"), DEBUGGING, question.about_stuck())
    if understood.says("ambiguous", "different"):
        return _Step("clarify", ("nondeterminism",), CHECKPOINTS, question.about_difference())
    if understood.says("ambiguous", "performance"):
        return _Step("clarify", (), question.where(about), question.about_performance())
    named = next((raised.exception for raised in reading.raised), str(reading.facts.get("exception") or ""))
    if named:
        return _Step("clarify", (), DEBUGGING, question.about_exception(named.rsplit(".", 1)[-1]))
    if "memory" in about:
        return _Step("clarify", (), MEMORY, question.about_memory())
    if understood.says("complaint", "error") and "distributed" not in about:
        return _Step("clarify", (), question.where(about), question.about_crash())
    return _Step("clarify", (), question.where(about), question.open_question(about, ()))


def says_nothing_else(reading: Reading, understood: Understood) -> bool:
    """Whether a text holds nothing but claims: only then is what they name looked at."""
    return not (
        reading.raised
        or understood.says("calm", "vague")
        or understood.says("complaint", "plea")
        or understood.speaks_of_a_training
        or understood.labels("ambiguous")
        or understood.labels("lost")
        or understood.says("about", "memory")
    )


def _with_words(seen: Sequence[Seen], patterns: Sequence[str], understood: Understood) -> tuple[Seen, ...]:
    present = {s.pattern for s in seen}
    weighed = understood.groups.get("pattern", {})
    added = []
    for pattern in patterns:
        if pattern not in present and pattern in weighed:
            sign = weighed[pattern][1][0]
            added.append(Seen(pattern, sign.line, sign.text))
    return (*(s for s in seen if s.pattern in patterns), *added)


def _weights(patterns: Sequence[str], understood: Understood) -> tuple[str, ...]:
    lines = []
    for label, (total, counted) in sorted(
        understood.groups.get("pattern", {}).items(), key=lambda row: -row[1][0]
    ):
        words = ", ".join(f"{sign.phrase!r} {sign.weight:+g} in '{sign.text[:60]}'" for sign in counted)
        lines.append(
            f"{label}: {total:g} of 3 needed, by {words}" + ("" if label in patterns else "; not claimed")
        )
    return tuple(lines)


def _distinct(patterns: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(patterns))

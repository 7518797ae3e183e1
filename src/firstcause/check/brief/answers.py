"""Questions and answers: what the assistant proposed and asked, and what the user's "yes", "no" or "fine" makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from firstcause.check.brief.grammar import read_sentence
from firstcause.check.brief.normal import normal
from firstcause.check.brief.reading import Line, Reading, Scene
from firstcause.check.brief.sentences import Sentence, sentences
from firstcause.check.brief.turns import Turn
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_ACCEPTS = word_set("answers", "accepts")
_ACCEPTING = tuple(sorted(word_set("answers", "accepting")))
_REFUSES = frozenset({"no", "nope", "none", "nah", "neither", "never"})
_FEATURES = word_set("answers", "features")
_PLACES = frozenset({"output", "outputs", "results", "folder", "directory", "where", "path"})
# What one asks oneself and answers: "Use LoRA? No, full."
_YES_OR_NO = frozenset(
    {"method", "precision", "optimizer", "quantization", "framework", "packing", "gradient_checkpointing"}
)


@dataclass
class Question:
    """What was proposed (with whether it was asked), and what the questions were about."""

    proposed: list[tuple[Reading, bool]] = field(default_factory=list)
    topic: frozenset[str] = frozenset()


def proposals(turn: Turn, scene: Scene, known: Vocabulary) -> Question:
    """What a message of the assistant proposes and asks."""
    question = Question()
    topic: set[str] = set()
    for sentence in sentences(turn.text, known):
        sentence.proposes = True
        line = read_sentence(sentence, scene, known, turn.text)
        if sentence.asks:
            topic |= _topic(line)
        question.proposed += [
            (r, sentence.asks) for r in line.readings if not r.told and r.status == "active"
        ]
    question.topic = frozenset(topic)
    return question


def _topic(line: Line) -> set[str]:
    """What a question is about: saving, evaluating, and the keys that it names without a value."""
    topic = {cue for t in line.tokens for cue in ("save", "eval") if t.has(cue)}
    if any(t.text in _PLACES for t in line.tokens):
        topic.add("save")
    for token in line.tokens:
        if token.entry is not None and token.entry.named is not None and not token.claimed:
            topic.add(token.entry.named.key.name)
    return topic


def answered(sentence: Sentence, turn: Turn, question: Question) -> list[Reading]:
    """The proposals that a message accepts, or refuses with a bare "no"."""
    words = [t.text for t in sentence.tokens if t.kind == "word"][:8]
    if not words:
        return []
    if _refuses(sentence):
        return _refused(question)
    opening = normal(turn.text[:200])
    accepts = words[0] in _ACCEPTS or any(phrase in opening for phrase in _ACCEPTING)
    if not accepts or any(w in _REFUSES for w in words[:3]):
        return []
    return [_again(reading) for reading, _ in question.proposed]


def approved(line: Line, question: Question) -> list[Reading]:
    """The proposals whose key the sentence names and finds fine: "the batch size is fine, but …"."""
    if line.sentence.asks or not question.proposed:
        return []
    fine = {t.segment for t in line.tokens if t.has("may")}
    named = {
        t.entry.named.key.name
        for t in line.tokens
        if t.entry is not None and t.entry.named is not None and not t.claimed and t.segment in fine
    }
    return [_again(reading) for reading, _ in question.proposed if reading.key in named]


def answers_oneself(sentence: Sentence, asked: Sequence[Reading]) -> list[Reading]:
    """What "no" makes of the question before it in the same message: "Use LoRA? No, full."."""
    if not _refuses(sentence):
        return []
    return [
        _denied(reading) for reading in asked if reading.key in _YES_OR_NO and reading.polarity == "require"
    ]


def _refuses(sentence: Sentence) -> bool:
    tokens = sentence.tokens
    return tokens[0].text in _REFUSES and (len(tokens) == 1 or tokens[1].kind == "break")


def _refused(question: Question) -> list[Reading]:
    result = [_denied(r) for r, asked in question.proposed if asked and isinstance(r.value, (str, bool))]
    if not result:
        features = sorted(key for key in question.topic if key in _FEATURES)
        result = [Reading(key, "none", 0, 0, polarity="forbid", settled=True) for key in features]
    return result


def _denied(reading: Reading) -> Reading:
    value: Any = "none" if reading.value is True else reading.value
    return Reading(reading.key, value, 0, 0, polarity="forbid", settled=True)


def _again(reading: Reading) -> Reading:
    return Reading(
        reading.key,
        reading.value,
        0,
        0,
        reading.relation,
        reading.scope,
        reading.polarity,
        corrects=True,
        accepted=True,
    )

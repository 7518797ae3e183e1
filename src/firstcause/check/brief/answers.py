"""Questions and answers: what the assistant proposed and asked, and what the user's "yes", "no" or "fine" makes of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from firstcause.check.brief.grammar import read_sentence
from firstcause.check.brief.normal import normal
from firstcause.check.brief.reading import Line, Reading, Scene
from firstcause.check.brief.sentences import Sentence, sentences
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.turns import Turn
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_ACCEPTS = word_set("answers", "accepts")
_ACCEPTS_ALONE = word_set("answers", "accepts_alone")
_HESITATES = word_set("answers", "hesitates")
_ACCEPTING = word_set("answers", "accepting")
_ACCEPTING_REST = word_set("answers", "accepting_rest")
_REST_IS_FINE = re.compile(
    r"\b(?:rest|others?|everything else|remaining \w+)\b[^.!?\n]{0,24}\b(?:fine|ok|okay|good|alright|all right|great|perfect|"
    r"agreed|as (?:you|proposed|suggested|it is))\b"
)
_REFUSES = frozenset({"no", "nope", "none", "nah", "neither", "never", "dont"})
_FEATURES = word_set("answers", "features")
_PICKS = frozenset({"pick", "select", "choose", "chosen", "selected", "keep"})
_ADAPTED = frozenset({"modules", "projections", "matrices"})
_JOINS = frozenset({"+", "and", "&", "the", "/"})
_POLITE = word_set("answers", "polite")
# "The former", and how one says it.
_FIRST = frozenset({"former", "first"})
_SECOND = frozenset({"latter", "second", "last"})
_PLACES = word_set("answers", "places")
# "Where should the verdicts go?", "what is the output file called?"
_ASKS_PLACE = frozenset({"where", "what", "which", "name", "call"})
_ASKS_WHICH = frozenset({"which", "what", "how", "where", "when"})
_WRITTEN = word_set("answers", "written")
_READ = word_set("answers", "read")
# What one asks oneself and answers: "Use LoRA? No, full."
_YES_OR_NO = frozenset(
    {"method", "precision", "optimizer", "quantization", "framework", "packing", "gradient_checkpointing"}
)


@dataclass
class Question:
    """What was proposed (with whether it was asked), and what the questions were about."""

    proposed: list[tuple[Reading, bool]] = field(default_factory=list)
    topic: tuple[str, ...] = ()


def proposals(turn: Turn, scene: Scene, known: Vocabulary, said: Sequence[Reading] = ()) -> Question:
    """What a message of the assistant proposes and asks; ``said`` is what the user said before, which it may change."""
    question = Question()
    topic: list[str] = []
    for sentence in sentences(turn.text, known):
        sentence.proposes = True
        line = read_sentence(sentence, scene, known, turn.text, said, corrected=True)
        if sentence.asks:
            topic += topic_of(line)
        question.proposed += [
            (r, sentence.asks and not _presupposed(line, r))
            for r in line.readings
            if not r.told and r.status == "active"
        ]
    question.topic = tuple(dict.fromkeys(topic))
    return question


def _presupposed(line: Line, reading: Reading) -> bool:
    """Whether a question takes it for granted: "which layers should get adapters?" does not ask for adapters."""
    opening = line.tokens[0].text.split()[0] if line.tokens else ""
    between = line.tokens[: reading.first]
    return opening in _ASKS_WHICH and all(t.kind != "break" for t in between)


def topic_of(line: Line) -> list[str]:
    """What a question is about, in its order: saving, evaluating, and the keys that it names, with a value or without.

    "write" stands for the place of what is written.
    """
    topic = [cue for t in line.tokens for cue in ("save", "eval") if t.has(cue)]
    words = set(words_in(line.tokens))
    if words & _PLACES:
        topic.append("save")
    once = words_in(line.tokens).count("where") < 2
    if once and words & _ASKS_PLACE and words & _WRITTEN and not words & _READ:
        topic.append("write")
    if "metric" in words or (words & _PICKS and "best" in words):
        topic.append("metric_for_best")
    if words & _ADAPTED:
        topic.append("lora_target_modules")
    topic += [t.key for t in line.tokens if t.key and not t.claimed]
    return [*topic, *(r.key for r in line.readings if isinstance(r.value, (int, float)))]


def answered(sentence: Sentence, turn: Turn, question: Question) -> list[Reading]:
    """The proposals that a message accepts, or refuses with a bare "no"."""
    if is_bare_yes(turn):
        # Of several values of a key it does not say which.
        keys = [r.key for r, _ in question.proposed]
        return all_of(question) if len(set(keys)) == len(keys) else []
    words = [t.text for t in sentence.tokens if t.kind == "word"][:8]
    while words and words[0] in _HESITATES:
        del words[0]
    if not words:
        return []
    if _refuses(sentence) or _denies(sentence):
        return _refused(question)
    if (chosen := _chosen(words, question)) is not None:
        return [_again(chosen)]
    opening = normal(turn.text[:200])
    rest = bool(_REST_IS_FINE.search(opening)) or any(phrase in opening for phrase in _ACCEPTING_REST)
    accepts = words[0] in _ACCEPTS or _is_please(sentence) or any(phrase in opening for phrase in _ACCEPTING)
    if not rest and (not accepts or _REFUSES & set(words[:3])):
        return []
    return all_of(question)


def all_of(question: Question) -> list[Reading]:
    """Every proposal, accepted."""
    return [_again(reading) for reading, _ in question.proposed]


def is_bare_yes(turn: Turn) -> bool:
    """Whether a sign or a word that accepts is all that a message says: "+1", "alright"."""
    return normal(turn.text).strip(" .!\n") in _ACCEPTS_ALONE


def _is_please(sentence: Sentence) -> bool:
    """Whether "please" is the whole answer, or what would be otherwise follows it; any other wish is one of its own."""
    texts = [t.text for t in sentence.tokens]
    return texts[0] == "please" and (len(texts) == 1 or (texts[1] == "," and texts[2:3] == ["otherwise"]))


def _chosen(words: list[str], question: Question) -> Reading | None:
    """The one of two proposed values that "the former" or "the second one" takes."""
    asked = [r for r, was_asked in question.proposed if was_asked]
    if len(words) > 4 or len(asked) != 2 or asked[0].key != asked[1].key:
        return None
    if _FIRST & set(words):
        return asked[0]
    return asked[1] if _SECOND & set(words) else None


def approved(line: Line, question: Question) -> list[Reading]:
    """The proposals whose key the sentence names and finds fine: "the batch size is fine, but …"."""
    if line.sentence.asks or not question.proposed:
        return []
    yes = {t.segment for t in line.tokens if t.text in _ACCEPTS}
    closing = {s for s in yes if _closes(line, s)}
    agreed = [
        _again(reading)
        for reading, asked in question.proposed
        if any(_names_it(t, reading) and t.segment in closing for t in line.tokens)
        or (
            asked
            and any(
                t.segment in yes and set(t.text.split()) & set(reading.key.split("_")) and not t.claimed
                for t in line.tokens
            )
        )
    ]
    fine = {t.segment for t in line.tokens if t.has("may")}
    named = {t.key for t in line.tokens if not t.claimed and t.segment in fine}
    return agreed + [_again(reading) for reading, _ in question.proposed if reading.key in named]


def _closes(line: Line, segment: int) -> bool:
    """Whether a yes ends what it is said of, and nothing but names stands before it: "lora ok", "warmup + cosine yes"."""
    own = [t for t in line.tokens if t.segment == segment and t.kind != "break"]
    named = own[:-1]
    return bool(named) and own[-1].text in _ACCEPTS and all(t.is_setting or t.text in _JOINS for t in named)


def _names_it(token: Token, reading: Reading) -> bool:
    """Whether a word names a proposal: its key, its value, or the method that its key is a setting of."""
    if token.entry is None:
        return False
    method = {v for key, v in token.entry.values if key == "method"}
    return (
        token.key == reading.key
        or (token.key != "" and reading.key.startswith(f"{token.key}_"))
        or (reading.key, reading.value) in token.entry.values
        or any(reading.key.startswith(f"{m}_") for m in method)
    )


def answers_oneself(sentence: Sentence, asked: Sequence[Reading], topic: Sequence[str]) -> list[Reading]:
    """What "no" or "yes" makes of the question before it in the same message: "Use LoRA? No, full.".

    ``topic`` holds the keys that the question names without a value: "Weight decay? Not needed.".
    """
    if _refuses(sentence) or _denies(sentence):
        denied = [_denied(r) for r in asked if r.key in _YES_OR_NO and r.polarity == "require"]
        return denied or _without(topic)
    if sentence.tokens[0].text in _ACCEPTS and (
        len(sentence.tokens) == 1 or sentence.tokens[1].kind == "break"
    ):
        return [_again(r) for r in asked if r.key in _YES_OR_NO and r.polarity == "require"]
    return []


def _denies(sentence: Sentence) -> bool:
    """Whether a sentence does nothing but deny: "Not needed.", "Off, please."."""
    own = [t for t in sentence.tokens if t.kind != "break" and t.text not in _POLITE]
    return len(own) == 1 and any(own[0].has(cue) for cue in ("not_after", "not_needed"))


def _refuses(sentence: Sentence) -> bool:
    tokens = sentence.tokens
    while len(tokens) > 1 and (tokens[0].text in _HESITATES or tokens[0].kind == "break"):
        tokens = tokens[1:]
    while len(tokens) > 1 and tokens[1].text in _POLITE:
        tokens = [tokens[0], *tokens[2:]]
    return tokens[0].text in _REFUSES and (len(tokens) == 1 or tokens[1].kind == "break")


def _refused(question: Question) -> list[Reading]:
    result = [
        _denied(r)
        for r, asked in question.proposed
        if asked and (isinstance(r.value, (str, bool)) or r.key in _FEATURES)
    ]
    return result or _without(question.topic)


def _without(topic: Sequence[str]) -> list[Reading]:
    features = sorted(key for key in topic if key in _FEATURES)
    return [Reading(key, "none", 0, 0, polarity="forbid", settled=True) for key in features]


def _denied(reading: Reading) -> Reading:
    value: Any = reading.value if isinstance(reading.value, (str, list)) else "none"
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

"""Messages in their order: what the user says counts, the assistant's words once they are accepted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firstcause.check.brief.annotated import divided
from firstcause.check.brief.answers import (
    Question,
    all_of,
    answered,
    answers_oneself,
    approved,
    is_bare_yes,
    proposals,
    topic_of,
)
from firstcause.check.brief.grammar import read_sentence
from firstcause.check.brief.headings import opens_with_it, rule_out, ruled_out
from firstcause.check.brief.normal import normal
from firstcause.check.brief.rates import rate_without_value
from firstcause.check.brief.reading import Reading, Scene, scene_of
from firstcause.check.brief.sentences import sentences
from firstcause.check.brief.text import Text
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.turns import Turn, turns
from firstcause.check.brief.vocabulary import Vocabulary

# A correction refers to what was said a little before, not pages ago.
_REMEMBERED = 60
# "Evaluate twice per epoch? No - once at the end of each."
_PACED = frozenset({"save", "eval"})
# "And the batch size?" has no more words than this.
_BARE = 4


@dataclass
class Heard:
    """A reading that counts, with where it was said."""

    reading: Reading
    sentence: str
    line: int
    turn: int


def hear(text: Text, known: Vocabulary) -> Iterator[Heard]:
    """What the user wants by a text, in order; superseding is left to the caller."""
    scene = scene_of(normal(text.content))
    question = Question()
    wondered: tuple[str, ...] = ()
    said: list[Reading] = []
    for turn in turns(text.content):
        if turn.assistant:
            question = proposals(turn, scene, known, said[-_REMEMBERED:])
            question.topic = question.topic or wondered
            continue
        # "Can we use a larger batch?" - "64 would fit." - "Then 64.": the assistant answers what the user asked.
        message, wondered = _message(text, turn, scene, known, said, question)
        said += [heard.reading for heard in message]
        yield from (heard for heard in message if not heard.reading.told)
        question = Question()


def _message(
    text: Text, turn: Turn, scene: Scene, known: Vocabulary, said: Sequence[Reading], question: Question
) -> tuple[list[Heard], tuple[str, ...]]:
    """What a message says, and what it asks about where it ends with a question."""
    corrected = False
    here: list[Heard] = []
    asked: list[Reading] = []
    topic: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    content, remarks = divided(turn.text)
    base = text.line + turn.line
    beside: tuple[int, tuple[str, ...]] = (-1, ())
    unwanted = set(ruled_out(content))
    for number, sentence in enumerate(sentences(content, known, base, schemas=scene.training)):
        found = answered(sentence, turn, question) if number == 0 else answers_oneself(sentence, asked, topic)
        # "Yes, but 0.85": what follows changes what is accepted.
        corrected = corrected or any(reading.accepted for reading in found)
        # "32768?" - "Half of that": what was offered is spoken of, taken or not.
        offered = [] if number or found else [r for r, was_asked in question.proposed if was_asked]
        before = [*said[-_REMEMBERED:], *(h.reading for h in here[-_REMEMBERED:]), *found, *offered]
        still = () if is_bare_yes(turn) else _open(question.topic, here)
        topics = (*still, *(t for t in topic if t in _PACED), *named)
        remark = sentence.line == beside[0]
        if remark:
            topics, corrected = (*beside[1], *topics), True
        line = read_sentence(sentence, scene, known, content, before, topics, corrected)
        if sentence.line - base in unwanted or opens_with_it(sentence.text):
            if line.readings:
                # The number of a list stands before what it rules out.
                unwanted.discard(sentence.line - base)
            rule_out(line)
        if not remark and sentence.line - base in remarks:
            beside = (sentence.line, tuple(dict.fromkeys(r.key for r in line.readings)))
        told = all(r.told for r in line.readings)
        corrected = told and any(t.has("correction") for t in sentence.tokens)
        asked = [r for r in line.readings if r.told] if sentence.asks else []
        topic = tuple(topic_of(line)) if sentence.asks else ()
        named = _named_alone(line.tokens) if sentence.asks else rate_without_value(line)
        for reading in (*found, *approved(line, question), *line.readings):
            here.append(Heard(reading, sentence.text, sentence.line, turn.number))
    if not here and is_bare_yes(turn):
        # A sign alone, in which there is no word.
        shown = turn.text.strip()
        here = [Heard(r, shown, base, turn.number) for r in all_of(question)]
    return here, topic


def _open(topic: tuple[str, ...], here: Sequence[Heard]) -> tuple[str, ...]:
    """What a question still asks: not what the message has answered, and no count of cards once a card is named."""
    answered_keys = {h.reading.key for h in here if not h.reading.told}
    if "gpu" in answered_keys:
        answered_keys.add("num_gpus")
    if answered_keys & {"output_path", "output_dir"}:
        answered_keys.add("write")
    return tuple(t for t in topic if t not in answered_keys)


def _named_alone(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The key that is all a question names: "Dropout? 0.15 everywhere."."""
    keys = [t.key for t in tokens if t.key]
    bare = len(tokens) <= _BARE and not any(t.kind in ("number", "range") for t in tokens)
    return (keys[0],) if bare and len(keys) == 1 else ()

"""From the user's words to what they suspect: causes of the catalogue, or components, by the words in ``said``."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from firstcause.catalog.load import load
from firstcause.catalog.suspects import suspects
from firstcause.catalog.wording import (
    BLAME,
    CLAUSE_ENDS,
    CLEARED,
    CONJUNCTIONS,
    NEGATIONS,
    NO_EFFECT,
    PLACES,
    QUESTIONS,
    SENTENCE_ENDS,
    UNCHANGED,
    UNSURE,
    Token,
    folded,
    stem,
    tokens,
    word_set,
)

# Words that may stand between those of a phrase.
LOOSE = 3
# A report names at most so many suspects that are worth an experiment each.
MOST = 6
# Without one of these, or a question, a sentence of a report tells what was done or seen and suspects nothing.
_CUES = frozenset(
    map(
        stem,
        word_set(
            "too suspect think guess believe maybe perhaps probably could might may must wrong broken bad corrupt corrupted "
            "culprit blame fault cause due problem issue bug ruin break breaks kill destroy explode vanish overflow "
            "underflow leak theory hypothesis feel assume seem look"
        ),
    )
)
# A clause without an end is cut, so that what is looked for around a phrase stays bounded.
LONGEST = 120


@dataclass(frozen=True)
class Theory:
    """What somebody suspects: the words that say it, and the id of a cause or of a component."""

    text: str
    id: str


@dataclass(frozen=True)
class _Phrase:
    words: tuple[str, ...]
    id: str
    # "Gradients not clipped" is said of what is missing: the negation belongs to it.
    negated: bool


@dataclass(frozen=True)
class _Hit:
    phrase: _Phrase
    first: int
    last: int
    positions: frozenset[int]


def theories(text: str) -> list[Theory]:
    """What a text that is meant as a theory suspects; empty where it denies it, asks how or why, or names nothing.

    Linear in the text's length.
    """
    return _found(text, report=False)


def theories_in_report(text: str) -> list[Theory]:
    """The suspicions in a report, at most six: sentences that say or ask that something is the cause."""
    kept = "\n".join("." if _quoted(line) or not line.strip() else line for line in text.split("\n"))
    return _found(kept, report=True)[:MOST]


def _found(text: str, report: bool) -> list[Theory]:
    result: dict[str, Theory] = {}
    for sentence in _sentences(tokens(text)):
        asks = sentence[-1] == "?"
        if asks and sentence[0] in QUESTIONS:
            continue
        if report and not (asks or any(stem(word) in _CUES for word in sentence)):
            continue
        if report and _tried(sentence):
            continue
        for clause in _clauses(sentence):
            # "Isn't it the learning rate?" asks for a yes.
            start = 2 if asks and clause[1:2] == ["not"] else 0
            for hit in _hits(clause):
                if _denied(clause[start:], hit, start) == hit.phrase.negated:
                    said = " ".join(text[clause[0].begin : clause[-1].end].split()).strip(" ,:;.!?")
                    result.setdefault(hit.phrase.id, Theory(said, hit.phrase.id))
    return list(result.values())


def _sentences(words: list[Token]) -> Iterator[list[Token]]:
    begin = 0
    for at, word in enumerate(words):
        if word in SENTENCE_ENDS:
            if at > begin:
                yield words[begin : at + 1]
            begin = at + 1
    if begin < len(words):
        yield words[begin:]


def _clauses(sentence: list[Token]) -> Iterator[list[Token]]:
    begin = 0
    for at, word in enumerate(sentence):
        if at > begin and (word in CLAUSE_ENDS or word in CONJUNCTIONS or at - begin >= LONGEST):
            yield sentence[begin:at]
            begin = at
    yield sentence[begin:]


def _tried(sentence: list[Token]) -> bool:
    """Whether the sentence says that a change made no difference: whoever writes it has tested that himself."""
    pairs = list(zip(sentence, [*sentence[1:], ""], strict=True))
    if any(word in UNCHANGED and following not in PLACES for word, following in pairs):
        return True
    return any(w in NEGATIONS or w == "nothing" for w in sentence) and any(w in NO_EFFECT for w in sentence)


def _quoted(line: str) -> bool:
    """A line of a log or a traceback inside of a report: indented, or of the form "SomeError: text"."""
    first = line.partition(":")[0]
    return line.startswith(("  ", "\t", "Traceback ", 'File "')) or (
        " " not in first and first.endswith(("Error", "Exception", "Warning"))
    )


def _hits(clause: list[Token]) -> list[_Hit]:
    """The phrases whose words stand close together in the clause; of one inside of another, the longer."""
    index = _index()
    latest: dict[str, tuple[int, int]] = {}
    hits: list[_Hit] = []
    for order, (word, at) in enumerate(folded(clause)):
        latest[word] = (order, at)
        for phrase in index.get(word, ()):
            seen = [latest.get(other) for other in phrase.words]
            if all(s is not None and order - s[0] < len(phrase.words) + LOOSE for s in seen):
                places = frozenset(s[1] for s in seen if s is not None)
                hits.append(_Hit(phrase, min(places), max(places), places))
    longest: dict[int, int] = {}
    for hit in hits:
        for place in hit.positions:
            longest[place] = max(longest.get(place, 0), len(hit.positions))
    return [h for h in hits if max(longest[p] for p in h.positions) == len(h.positions)]


def _denied(clause: list[Token], hit: _Hit, shift: int) -> bool:
    """Whether the clause says that this is not so: "it is not the padding", "the padding is fine"."""
    before, after = clause[: max(0, hit.first - shift)], clause[hit.last + 1 - shift :]
    inside = [w for i, w in enumerate(clause, shift) if hit.first < i < hit.last]
    negated = any(
        word in NEGATIONS and following not in UNSURE
        for words in (before, inside)
        for word, following in zip(words, [*words[1:], ""], strict=False)
    )
    cleared = any(word in CLEARED for word in after)
    denied_after = any(word in NEGATIONS for word in after)
    blamed = any(word in BLAME for word in after)
    return negated != ((cleared and not denied_after) or (denied_after and blamed))


@functools.cache
def _index() -> dict[str, tuple[_Phrase, ...]]:
    """Each phrase under every word of it; where a cause and a component claim the same words, the cause has them."""
    phrases: dict[tuple[tuple[str, ...], bool], _Phrase] = {}
    said = [(words, slug) for slug, entry in load().items() for words in entry.said]
    said += [(words, name) for name, suspect in suspects().items() for words in suspect.said]
    for text, name in said:
        split = tokens(text)
        words = tuple(sorted({word for word, _ in folded(split)}))
        negated = any(w in NEGATIONS for w in split)
        phrases.setdefault((words, negated), _Phrase(words, name, negated))
    result: dict[str, list[_Phrase]] = {}
    for phrase in phrases.values():
        for word in phrase.words:
            result.setdefault(word, []).append(phrase)
    return {word: tuple(found) for word, found in result.items()}

"""What the words of a text tell of: phrases found in its clauses, negation respected, summed for each label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from firstcause.catalog.wording import word_set
from firstcause.catalog.words import Feature, Features
from firstcause.triage.clauses import Clause

# Words that may stand between two elements of a phrase.
GAP = 3
# A negation so many words before a phrase belongs to it; what is solved or feared stands closer.
NEGATED = 5
ADJUSTED = 3
# What may stand between a negation and what it denies: in "not pretrained stays at 0.69" the staying is not denied.
_LIGHT = word_set(
    """a an the any ani some such real reall actuall veri too so to be been being is are was get gett go
    goes has have had see seen that it thi more much of longer sign trace about due becaus issue problem
    question even ever yet gpu cuda cpu single sudden further exact just and or sort kind do does did
    run runs out"""
)
# What is still to be fixed is there.
_STILL_THERE = frozenset({"fix", "solve", "resolve", "fixing", "solving"})
# "I do not know why the loss is nan" denies the knowing.
_UNSURE = frozenset(
    {
        "only",
        "sur",
        "know",
        "understand",
        "clear",
        "certain",
        "find",
        "figur",
        "help",
        "mind",
        "matter",
        "just",
        "explain",
        "normal",
    }
)


@dataclass(frozen=True)
class Sign:
    """A phrase that was found: for which label, its weight, where, and the clause's own text.

    ``source`` is "words", or "code" or "figures" where those tell.
    """

    label: str
    weight: float
    phrase: str
    line: int
    text: str
    places: frozenset[tuple[int, int]]
    source: str = "words"


def signs(features: Features, clauses: Sequence[Clause], denials: bool = True) -> list[Sign]:
    """Every phrase that the clauses hold, in the order of the features; one occurrence a phrase.

    With ``denials`` a phrase that is denied, feared or over does not count; a theory stays one however it is worded.
    """
    index: dict[str, list[tuple[int, int, int]]] = {}
    for at, clause in enumerate(clauses):
        for first, last, term in clause.items:
            index.setdefault(term, []).append((at, first, last))
    return [
        sign
        for feature in features.possible(index)
        if (sign := _found(feature, clauses, index, denials)) is not None
    ]


def weights(found: Iterable[Sign]) -> dict[str, tuple[float, list[Sign]]]:
    """The sum for each label, and the signs that were counted: no words of a text count twice for one label.

    What speaks against a label counts beside what speaks for it.
    """
    result: dict[str, tuple[float, list[Sign]]] = {}
    for sign in sorted(found, key=lambda s: -s.weight):
        total, counted = result.get(sign.label, (0.0, []))
        if sign.weight < 0 or not any(sign.places & other.places for other in counted):
            result[sign.label] = (total + sign.weight, [*counted, sign])
    return result


def _found(
    feature: Feature, clauses: Sequence[Clause], index: dict[str, list[tuple[int, int, int]]], denials: bool
) -> Sign | None:
    places: set[tuple[int, int]] = set()
    where: Clause | None = None
    for part in feature.parts:
        occurrence = next(_occurrences(part, clauses, index, denials), None)
        if occurrence is None:
            return None
        at, spans = occurrence
        where = where or clauses[at]
        places |= {(at, word) for first, last in spans for word in range(first, last)}
    assert where is not None
    return Sign(feature.label, feature.weight, feature.text, where.line, where.text, frozenset(places))


def _occurrences(
    part: Sequence[Sequence[str]],
    clauses: Sequence[Clause],
    index: dict[str, list[tuple[int, int, int]]],
    denials: bool,
) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    options = []
    unordered = part[0][0] == "~"
    for element in part[1:] if unordered else part:
        places = _places(element, index)
        if not places:
            return
        options.append(places)
    negates = not denials or any("NOT" in element for element in part)
    for at, first, last in sorted(options[0]):
        together = _beside if unordered else _behind
        spans = together(options[1:], at, [(first, last)])
        if spans is not None and (negates or not _denied(clauses[at], spans)):
            yield at, spans


def _places(
    element: Sequence[str], index: dict[str, list[tuple[int, int, int]]]
) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = []
    for term in element:
        if term[-1] == "*":
            found += [
                place for word, places in index.items() if word.startswith(term[:-1]) for place in places
            ]
        else:
            found += index.get(term, ())
    return found


def _behind(
    options: list[list[tuple[int, int, int]]], at: int, spans: list[tuple[int, int]]
) -> list[tuple[int, int]] | None:
    """The nearest places of the remaining elements behind the first, each at most ``GAP`` words further."""
    for places in options:
        end = spans[-1][1]
        near = [(first, last) for clause, first, last in places if clause == at and end <= first <= end + GAP]
        if not near:
            return None
        spans = [*spans, min(near)]
    return spans


def _beside(
    options: list[list[tuple[int, int, int]]], at: int, spans: list[tuple[int, int]]
) -> list[tuple[int, int]] | None:
    """Places of the remaining elements in the same clause, none of them on the words of another."""
    for places in options:
        free = [
            (first, last)
            for clause, first, last in places
            if clause == at and all(last <= a or b <= first for a, b in spans)
        ]
        if not free:
            return None
        spans = [*spans, min(free, key=lambda span: abs(span[0] - spans[0][0]))]
    return sorted(spans)


def _denied(clause: Clause, spans: list[tuple[int, int]]) -> bool:
    begin, end = spans[0][0], spans[-1][1]
    own = {word for first, last in spans for word in range(first, last)}
    for first, last, term in clause.items:
        inside = begin <= first < end and first not in own
        near = begin - NEGATED <= first < begin and _light(clause, last, begin)
        if term == "NOT" and (inside or near) and not _unsure(clause, last):
            return True
        adjusted = (
            term == "ADJUSTED" and clause.words[first] not in _STILL_THERE and "how" not in clause.words
        )
        if adjusted and begin - ADJUSTED <= first < begin and first not in own:
            return True
        if term == "OVER" and end <= first < end + ADJUSTED:
            return True
    return False


def _light(clause: Clause, begin: int, end: int) -> bool:
    stems = {
        first: term for first, _, term in reversed(clause.items) if begin <= first < end and term.islower()
    }
    return all(stems.get(at, "") in _LIGHT or stems.get(at, "").endswith("ly") for at in range(begin, end))


def _unsure(clause: Clause, after: int) -> bool:
    return any(term in _UNSURE for first, _, term in clause.items if after <= first <= after + 1)

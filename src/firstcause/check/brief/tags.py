"""What counts of classes have to do with one another: tags and the entity types that they mark, parts and their sum."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_SUMS = word_set("labels", "sums")
_IN_ALL = frozenset({"total", "all", "altogether", "overall", "together"})
_SCHEMES = frozenset({"bio", "iob", "iob2", "bio2"})
_ENTITIES = frozenset({"entity", "entities", "types", "kinds", "sorts"})
_TAGS = frozenset({"tags", "tag", "labels", "classes", "outputs"})
_PARTED = frozenset({"in", "from", "across", "under", "within"})
_REACH = 5


def settle_counts(line: Line, heard: Sequence[Reading] = ()) -> None:
    """Keep the count of what is told apart: the tags and not the entity types, the sum and not its parts."""
    _all_told(line)
    _of_groups(line)
    _types_beside_tags(line, heard)
    _tags_of_kinds(line)


def _counts(line: Line) -> list[Reading]:
    return [r for r in line.readings if r.key == "num_labels"]


def _all_told(line: Line) -> None:
    """Drop the parts where a later count is their sum: "four kinds, so with O that is 9 tags"."""
    counts = _counts(line)
    if len(counts) < 2:
        return
    total = next((r for r in reversed(counts) if _is_sum(line, r, r is not counts[0])), None)
    if total is not None:
        line.readings[:] = [
            r for r in line.readings if r.key != "num_labels" or r is total or not 0 < r.value < total.value
        ]


def _is_sum(line: Line, reading: Reading, follows: bool) -> bool:
    """Whether a count is said to be that of all of them."""
    first = reading.first
    own = [t for t in line.tokens[max(0, first - _REACH) : first] if t.segment == line.tokens[first].segment]
    before = set(words_in(own))
    after = set(words_in(line.tokens[reading.last + 1 : reading.last + 4]))
    return (follows and bool(before & _SUMS)) or bool(after & _IN_ALL)


def _of_groups(line: Line) -> None:
    """Leave the groups into which classes fall: "20 classes from 4 families", "12 labels in 3 categories"."""
    tokens = line.tokens
    for reading in _counts(line):
        at = reading.last + 2
        grouped = at + 1 < len(tokens) and tokens[at].kind == "number" and tokens[at - 1].text in _PARTED
        if grouped and not tokens[at].unit and 1 < tokens[at].value < reading.value:
            tokens[at].claimed = True
            line.readings[:] = [r for r in line.readings if r.key != "num_labels" or r.first != at]


def _types_beside_tags(line: Line, heard: Sequence[Reading]) -> None:
    """Drop the entity types where their tags are counted: "9 tags: O and B-/I- of four entity types"."""
    counts = _counts(line)
    tags = [r for r in counts if _names(line, r) & _TAGS and not _names(line, r) & _ENTITIES]
    before = [r for r in heard if r.key == "num_labels" and r.status == "active"]
    for reading in counts:
        marked = _marks(reading.value)
        named = any(r.value > reading.value for r in tags) or any(r.value in marked for r in before)
        if _names(line, reading) & _ENTITIES and reading not in tags and named:
            line.readings.remove(reading)
    for types in before:
        # "Four entity types. So there are 9 tags."
        marks = next((r for r in tags if r.value in _marks(types.value)), None)
        if marks is not None and not line.sentence.proposes:
            types.value = marks.value


def _marks(types: int) -> tuple[int, ...]:
    """How many tags so many entity types have: with a beginning and an inside, or one each, and O."""
    return (2 * types + 1, types + 1)


def _names(line: Line, reading: Reading) -> set[str]:
    return set(words_in(line.tokens[reading.first : reading.last + 1]))


def _tags_of_kinds(line: Line) -> None:
    """Turn a count of entity types into that of their tags where a scheme of tags is named: B and I of each, and O."""
    counts = _counts(line)
    scheme = any(t.text in _SCHEMES for t in line.tokens)
    if not scheme or len(counts) != 1:
        return
    named = set(words_in(line.tokens[counts[0].first : counts[0].last + 4]))
    if named & _ENTITIES and not named & _TAGS:
        counts[0].value = 2 * counts[0].value + 1

"""How many classes: "12 intents", "37 pet breeds", "labels 0..5", "`stars` 1-5", "binary labels"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tags import settle_counts
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import word_set

# Things that a sample is one of, or shows: a count of them beside a data set counts classes.
_OF_CLASSES = frozenset(
    {
        "dishes", "breeds", "species", "categories", "topics", "intents", "emotions", "genres", "diseases", "conditions", "tags",
        "flags", "digits", "letters", "findings", "pathologies", "labels", "classes", "departments", "defects", "instruments",
        "attributes", "kinds", "types", "commands", "keywords", "actions", "scenes", "styles", "cultivars", "varieties",
    }
)  # fmt: skip
# Nouns that count other things as well; of those there are few where they are classes.
_COMMON = word_set("labels", "common")
# Nouns that count classes only where they are told apart, or where they are kinds of things: "12 kinds of bolts".
_KINDS = word_set("labels", "kinds")
_CHOOSES = word_set("labels", "chooses")
_SORTS = ("classif", "sort", "categor", "assign", "group")
# What data are cut into is no class.
_PARTS = word_set("labels", "parts")
_TELLS_APART = tuple(sorted(word_set("labels", "tells_apart")))
_NOT_OF_CLASSES = word_set("labels", "not_of_classes")
_APART = ("distinguish", "differentiat", "discriminat", "recogni")
_RUN = word_set("labels", "run")
# What a regression gives for a sample, and what follows where something else is counted.
_NUMBERS = frozenset({"number", "value", "score", "output", "scalar", "float"})
_OTHERS = frozenset({"file", "folder", "per", "each", "for", "every", "column", "line"})
_NAMES_LABELS = re.compile(
    r"(?:id|label|labels|class|classes|stars?|rating|category|intent|target|y|score|grade|severity)[`'\"]*\Z"
)


def count_labels(line: Line, heard: Sequence[Reading] = ()) -> None:
    """Claim numbers and ranges that count classes; ``heard`` may hold counts of what the same classes mark."""
    tokens = line.tokens
    _one_number(line)
    for at, token in enumerate(tokens):
        if token.claimed:
            continue
        if token.kind == "number" and not token.unit and token.value >= 2 and token.value == int(token.value):
            noun = (
                _noun(line, at)
                or _outputs(line, at)
                or _kinds(line, at)
                or _told_apart(line, at)
                or _one_of(line, at)
                or _sorted_into(line, at)
                or _in_each_sample(line, at)
                or _of_the_set(line, at)
            )
            if noun and line.scene.inference and _of_each(line, noun):
                # "List 5 topics per document".
                continue
            if noun and (tokens[noun].text not in _COMMON or token.value <= 100):
                line.claim(Reading("num_labels", whole(token.value), at, noun), at, noun)
                # "5-way sentiment" says it as well.
                if "classif" in tokens[noun].text or tokens[noun].text.startswith("way "):
                    line.claim(Reading("task", "classification", noun, noun))
        elif token.has("labels") and (count := _listed(line, at) or _from_to(line, at)):
            line.claim(Reading("num_labels", count, at, at))
            for listed in tokens[at + 1 : at + 8]:
                listed.claimed = listed.claimed or (
                    listed.kind == "number" and listed.segment == token.segment
                )
        elif (
            token.kind == "range"
            and token.value in (0, 1)
            and not line.scene.inference
            and (_named(line, at) or _is_counted(line, at))
        ):
            line.claim(Reading("num_labels", whole(token.upper - token.value + 1), at, at))
        elif token.text == "binary" and at + 1 < len(tokens) and _classes(tokens[at + 1]):
            line.claim(Reading("num_labels", 2, at, at))
        elif token.text == "binary classification":
            line.readings.append(Reading("num_labels", 2, at, at))
    settle_counts(line, heard)


def _of_each(line: Line, noun: int) -> bool:
    after = words_in(line.tokens[noun + 1 : noun + 3])
    return after[:1] == ["per"] or after[:2] in (["for", "each"], ["for", "every"])


def _one_number(line: Line) -> None:
    """Claim the one output of "as one number (regression)", "a single value", where a regression is asked for."""
    tokens = line.tokens
    asked = next((t.statement for t in tokens if t.text == "regression"), -1)
    for at, token in enumerate(tokens[:-1]):
        one = token.text in ("one", "single") or (token.kind == "number" and token.value == 1)
        if not one or token.claimed or token.statement != asked or tokens[at + 1].text not in _NUMBERS:
            continue
        if not _OTHERS & set(words_in(tokens[at + 1 : at + 4])):
            line.claim(Reading("num_labels", 1, at, at + 1), at)
            return


def _noun(line: Line, at: int) -> int:
    """The place of the noun of classes that a number counts, or 0."""
    for place in range(at + 1, min(at + 5, len(line.tokens))):
        token = line.tokens[place]
        if token.has("labels") and not token.claimed:
            return place
        plain = (
            token.kind == "word"
            and token.entry is None
            and token.text
            not in ("per", "of", "to", "in", "and", "or", "for", "times", "the", "from", "with", "on")
        )
        task = token.gives("task")
        if not plain and not task and token.kind not in ("quote", "model"):
            return 0
    return 0


def _kinds(line: Line, at: int) -> int:
    """The place of "kinds" in "12 kinds of bolts" and "tell our 12 kinds apart", or 0."""
    tokens = line.tokens
    place = at + 1
    while (
        place < min(at + 3, len(tokens) - 1) and tokens[place].kind == "word" and tokens[place].entry is None
    ):
        if tokens[place].text in _KINDS:
            break
        place += 1
    if place >= len(tokens) or tokens[place].text not in _KINDS or tokens[place].claimed:
        return 0
    of = place + 2 < len(tokens) and tokens[place + 1].text == "of"
    things = tokens[place + 2] if of else None
    if things is not None and (things.text in _NOT_OF_CLASSES or things.is_setting):
        return 0
    apart = line.words(at - 2, at) == ["one", "of"] or any(
        w.startswith(_TELLS_APART) for w in words_in(tokens)
    )
    plain = things is not None and things.kind == "word" and things.entry is None
    if place == at + 2 and not of:
        # "9 cell types" has its things before.
        between = tokens[at + 1].text
        plain = between not in _NOT_OF_CLASSES and f"{between}s" not in _NOT_OF_CLASSES
    return place if apart or (plain and tokens[at].value >= 3 and line.scene.training) else 0


def _told_apart(line: Line, at: int) -> int:
    """The place of the things in "distinguish 14 bird calls", or 0."""
    before = words_in(line.tokens[max(at - 2, 0) : at])
    told = "tell" in before and any(t.text == "apart" for t in line.tokens[at + 1 : at + 7])
    if not (told or any(w.startswith(_APART) for w in before)) or at + 1 >= len(line.tokens):
        return 0
    things = line.tokens[at + 1]
    return (
        at + 1 if things.kind == "word" and things.entry is None and things.text not in _NOT_OF_CLASSES else 0
    )


def _one_of(line: Line, at: int) -> int:
    """The place of the things in "one of 120 breeds" and "several of 11 materials", or 0."""
    before = words_in(line.tokens[max(0, at - 3) : at])
    choice = any(a in _CHOOSES and b == "of" for a, b in pairwise(before))
    if not choice or at + 1 >= len(line.tokens) or not line.scene.training:
        return 0
    things = line.tokens[at + 1]
    plural = things.kind == "word" and things.entry is None and things.text.endswith("s")
    told = any(
        w.startswith((*_TELLS_APART, "multi", "show", "have", "has", "carr")) for w in words_in(line.tokens)
    )
    return at + 1 if plural and told and things.text not in _NOT_OF_CLASSES else 0


def _sorted_into(line: Line, at: int) -> int:
    """The place of the things in "classification into 21 land uses" and "sorts photos into 9 habitats", or 0."""
    tokens = line.tokens
    if at < 2 or tokens[at - 1].text != "into" or not line.scene.training:
        return 0
    before = words_in(t for t in tokens[max(0, at - 8) : at - 1] if t.segment == tokens[at].segment)
    if not any(w.startswith(_SORTS) for w in before):
        return 0
    place = at + 1
    while place + 1 < len(tokens) and tokens[place + 1].kind == "word" and place < at + 3:
        if tokens[place].text.endswith("s") or tokens[place + 1].entry is not None:
            break
        place += 1
    things = tokens[place] if place < len(tokens) else None
    plain = (
        things is not None and things.kind == "word" and things.text.endswith("s") and not things.is_setting
    )
    return place if plain and things is not None and things.text not in _NOT_OF_CLASSES | _PARTS else 0


def _in_each_sample(line: Line, at: int) -> int:
    """The place of the things in "multi-label: 14 findings per image", or 0."""
    several = "multi label" in " ".join(words_in(line.tokens)).replace("-", " ")
    after = words_in(line.tokens[at + 2 : at + 4])
    things = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    each = after[:1] == ["per"] or after[:2] in (["for", "each"], ["in", "each"], ["of", "each"])
    return at + 1 if several and each and things is not None and things.text in _OF_CLASSES else 0


def _of_the_set(line: Line, at: int) -> int:
    """The place of the things in "classification on org/food (101 dishes)", or 0."""
    tokens = line.tokens
    sorts = any(r.key == "task" and r.value == "classification" for r in line.readings)
    sorts = sorts or any(w.startswith("classif") for w in words_in(tokens[:at]))
    held = at > 1 and tokens[at - 1].text == "(" and tokens[at - 2].kind in ("hub", "data", "set", "path")
    if not (sorts and held) or line.words(at + 2, at + 3) not in ([")"], [","], [";"]):
        return 0
    return at + 1 if tokens[at + 1].text in _OF_CLASSES else 0


def _is_counted(line: Line, at: int) -> bool:
    """Whether what a range of a column numbers is counted beside it: "7 departments (`dept` 0..6)"."""
    token = line.tokens[at]
    beside = at > 0 and line.tokens[at - 1].kind == "quote"
    count = token.upper - token.value + 1
    counted = (n for n, t in enumerate(line.tokens[:-1]) if t.kind == "number" and t.value == count)
    nouns = (line.tokens[n + 1] for n in counted if not line.tokens[n].claimed)
    return beside and any(
        t.kind == "word" and t.entry is None and t.text.endswith("s") and t.text not in _NOT_OF_CLASSES
        for t in nouns
    )


def _listed(line: Line, at: int) -> int:
    """How many labels "the labels are 0, 1 and 2" names; 0 where they are no count from 0 or 1."""
    after = line.tokens[at + 1 : at + 40]
    if not after or after[0].text not in ("are", ":", "=", "("):
        return 0
    numbers: list[float] = []
    for token in after[1:]:
        if (
            token.kind == "number"
            and not token.claimed
            and token.value == (numbers[-1] + 1 if numbers else token.value)
        ):
            numbers.append(token.value)
        elif token.text not in (",", "and", "or", "/", "(", "either"):
            break
    return len(numbers) if len(numbers) > 1 and numbers[0] in (0, 1) else 0


def _from_to(line: Line, at: int) -> int:
    """How many "classes 1 to 7" are; 0 where no such range follows."""
    tokens = [t for t in line.tokens[at + 1 : at + 8] if t.text not in _RUN]
    if (
        len(tokens) < 3
        or tokens[0].kind != "number"
        or tokens[2].kind != "number"
        or tokens[1].text not in ("to", "through")
    ):
        return 0
    low, high = tokens[0].value, tokens[2].value
    return int(high - low + 1) if low in (0, 1) and high == int(high) and high > low else 0


def _outputs(line: Line, at: int) -> int:
    """The place of "outputs" where a number counts those of a head or a last layer, or 0."""
    made = at + 1 < len(line.tokens) and line.tokens[at + 1].text in ("outputs", "logits", "units", "neurons")
    heads = any(w in ("head", "output", "last") for w in words_in(line.tokens[:at]))
    return at + 1 if made and heads else 0


def _named(line: Line, at: int) -> bool:
    """Whether a range stands beside what names labels."""
    beside = (*range(at - 1, max(-1, at - 5), -1), *range(at + 1, min(at + 5, len(line.tokens))))
    for place in beside:
        if not 0 <= place < len(line.tokens):
            continue
        token = line.tokens[place]
        if token.has("labels") or (token.kind == "quote" and _NAMES_LABELS.search(token.text)):
            return True
        if (
            token.kind == "word"
            and token.text == "y"
            and line.words(place + 1, at) in (["("], [":"], ["in"], ["="], [])
        ):
            return True
        if token.kind == "number" or (token.entry is not None and token.entry.named is not None):
            return False
    return False


def _classes(token: Token) -> bool:
    return (
        token.has("labels")
        or (
            token.entry is not None
            and any(k == "task" and v == "classification" for k, v in token.entry.values)
        )
        or token.text in ("target", "targets", "problem", "outcome")
    )

"""Numbers without a name: their key is that of what was said before, or of how they are written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstcause.check.brief.belongs import counts_ones, has_other_name, is_nth
from firstcause.check.brief.limits import limit
from firstcause.check.brief.mood import negated
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.rates import follows_from_rate
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.recalled import is_ours, recalls
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.values import accepts, in_normal_form
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_SCIENTIFIC = re.compile(r"e-\d|10 ?(?:\^|\*\*)|10-\d|ten to the minus|x ?10")
_REPLACED = word_set("leftovers", "replaced")
_SURELY = word_set("told", "surely")
# "lr 1e-3 for the head, 1e-5 for the backbone", and the other way round.
_PARTS_OF_MODEL = word_set("leftovers", "parts_of_model")
_TO = frozenset({"to", "->", "→", "=>"})
_NO_NOUNS = word_set("leftovers", "no_nouns")
_NAMES = frozenset({"path", "quote", "model", "hub", "data", "set", "card"})
_NUMERIC = frozenset({"whole", "rate", "share", "number", "tokens"})
# "Do 5e-6", "then take 1e-4".
_CHOOSES = (["do"], ["use"], ["take"], ["try"], ["go with"], ["pick"], ["choose"])
_FEW_WORDS, _GO_WORDS = 2, 4
# "Lower the value to 0.1" names nothing of its own.
_VALUES = frozenset(
    {
        "value",
        "number",
        "setting",
        "figure",
        "limit",
        "count",
        "one",
        "rate",
        "whole",
        "thing",
        "latter",
        "former",
    }
)
_WIDTHS = word_set("leftovers", "widths")
_TRAINING = word_set("leftovers", "training")


def name_leftovers(line: Line, known: Vocabulary, heard: Sequence[Reading], corrected: bool) -> None:
    """Give numbers without a name the key that the sentence, or what was said before, implies.

    ``corrected`` says that the sentence, or the one before it, corrects something.
    """
    _in_order(line, known)
    for at, token in enumerate(line.tokens):
        if token.kind != "number" or token.claimed or _counts_something(line, at):
            continue
        before = line.tokens[at - 1].text if at else ""
        two_before = line.tokens[at - 2].text if at > 1 else ""
        after = line.tokens[at + 1].text if at + 1 < len(line.tokens) else ""
        if after in _REPLACED and _in_place_of(line, at, known, heard):
            continue
        if before == "from" and _starts_a_schedule(line, at):
            _emit(line, at, Reading("learning_rate", None, at, at), known)
        elif before in _REPLACED or (before in ("the", "at", "with", "to", "of") and two_before in _REPLACED):
            _replaced(line, at, known, heard)
        elif before in _TO and line.readings and not _goes_to(line, at):
            _becomes(line, at, known)
        elif after in _TO and at + 2 < len(line.tokens) and line.tokens[at + 2].kind == "number" and heard:
            _replaced(line, at, known, heard)
        elif (
            before in ("or", "otherwise", "else")
            and line.readings
            and at - line.readings[-1].last <= (2 if before == "or" else 8)
        ):
            _alternative(line, at, known)
        elif (
            "but" in (before, two_before)
            and line.readings
            and at - line.readings[-1].last <= 4
            and negated(line, line.readings[-1])
            and is_alike(line.readings[-1], token, known)
        ):
            # "Not 32 but 64", "not 32, but rather 64".
            _emit(line, at, line.readings[-1], known)
        elif (
            (before == "and" or before in _PARTS_OF_MODEL)
            and _SCIENTIFIC.search(token.text)
            and line.readings
            and is_alike(line.readings[-1], token, known)
        ):
            # "lr 1e-3 for the head and 1e-5 for the backbone": both hold.
            _emit(line, at, line.readings[-1], known, corrects=False)
        elif after == "for" and _evaluates(line, at) and any(r.key == "batch_size" for r in line.readings):
            line.claim(Reading("batch_size", whole(token.value), at, at, scope="eval"))
        elif (
            limit(line, at, at, at) != "eq"
            and (found := _last_like(token, known, line.readings))
            and not known.keys[found.key].bound
            and found.key != "seed"
        ):
            # "Minimum 3 epochs, maximum 10": both hold. "Cosine, 1e-4, min 1e-5" is where a schedule ends.
            if found.key == "learning_rate" and any(t.gives("scheduler") for t in line.tokens):
                token.claimed = True
            else:
                _emit(line, at, found, known, corrects=False)
        elif (
            before == ","
            and two_before in ("no", "nope")
            and line.readings
            and is_alike(line.readings[-1], token, known)
        ):
            line.readings[-1].status = "superseded"
            _emit(line, at, line.readings[-1], known)
        elif found := _meant_before(line, at, known, heard, corrected):
            _emit(line, at, found, known)
        elif name := next((key for key in sorted(line.topic) if _answers(line, at, key, known)), ""):
            _emit(line, at, Reading(name, None, at, at), known)
        elif _SCIENTIFIC.search(token.text) and _may_be_rate(line, at, heard, corrected):
            _emit(line, at, Reading("learning_rate", None, at, at), known)


def _in_order(line: Line, known: Vocabulary) -> None:
    """Give the numbers of an answer the keys of the questions, by their order: "30 and 128"."""
    places = [at for at, t in enumerate(line.tokens) if t.kind == "number" and not t.claimed]
    keys = [known.keys[key] for key in line.topic if key in known.keys and known.keys[key].kind in _NUMERIC]
    if len(places) < 2 or len(places) != len(keys) or line.readings:
        return
    if all(accepts(key, line.tokens[at]) for key, at in zip(keys, places, strict=True)):
        for key, at in zip(keys, places, strict=True):
            _emit(line, at, Reading(key.name, None, at, at), known, corrects=False)


def _answers(line: Line, at: int, name: str, known: Vocabulary) -> bool:
    """Whether a number answers a question for a key: "0.7", but not the one of "everything in one batch"."""
    token = line.tokens[at]
    if name not in known.keys or not accepts(known.keys[name], token):
        return False
    if any(r.key == name and not r.told for r in line.readings):
        # "0.7, and write everything into one file": it is answered.
        return False
    if has_other_name(line, at):
        # "Beta 0.1 yes".
        return False
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is not None and after.kind == "word" and after.key not in ("", name):
        return False
    return not token.spelled or has_no_noun(line, at)


def _evaluates(line: Line, at: int) -> bool:
    """Whether a number is "for evaluation"."""
    return any(t.has("eval") for t in line.tokens[at + 1 : at + 4]) and _is_count(line.tokens[at])


def _is_count(token: Token) -> bool:
    return not token.unit and token.value == int(token.value) and token.value >= 1


def _counts_something(line: Line, at: int) -> bool:
    """Whether a number stands before a noun of its own, or is no setting at all."""
    token = line.tokens[at]
    if token.unit in ("gb", "mb", "b", "x") or is_nth(line, at) or counts_ones(line, at):
        return True
    if words_in(line.tokens[max(0, at - 2) : at])[-2:] == ["factor", "of"]:
        # "A factor of ten lower".
        return True
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is not None and after.text in ("each", "apiece"):
        return True
    return after is not None and (after.has("data") or after.has("labels"))


def is_alike(reading: Reading, token: Token, known: Vocabulary, loosely: bool = False) -> bool:
    """Whether a number could be another value of a reading's key: its kind, and its magnitude."""
    key = known.keys.get(reading.key)
    if (
        key is None
        or not isinstance(reading.value, (int, float))
        or isinstance(reading.value, bool)
        or not accepts(key, token)
    ):
        return False
    if loosely:
        return True
    value = float(in_normal_form(key, token))
    if reading.key == "seed":
        return True
    if not value or not reading.value:
        return False
    if key.kind == "number" and not key.most < 1 and 0.1 <= value / reading.value <= 10:
        # A temperature of 0.7, and of 1.0.
        return True
    return (value < 1) == (reading.value < 1) and 1e-2 <= value / reading.value <= 1e2


def _last_like(token: Token, known: Vocabulary, readings: Sequence[Reading]) -> Reading | None:
    return next(
        (r for r in reversed(readings) if r.polarity == "require" and is_alike(r, token, known)), None
    )


def _emit(line: Line, at: int, like: Reading, known: Vocabulary, corrects: bool = True) -> Reading:
    key = known.keys[like.key]
    relation = limit(line, at, at, at)
    if key.bound == "eq" and relation == "max":
        relation = "eq"
    reading = Reading(
        like.key, in_normal_form(key, line.tokens[at]), at, at, relation, like.scope, corrects=corrects
    )
    line.claim(reading)
    return reading


def _replaced(line: Line, at: int, known: Vocabulary, heard: Sequence[Reading]) -> None:
    """The old value in "6 epochs instead of 3", "1e-5, not 2e-5", "from 3 to 5"."""
    token = line.tokens[at]
    thing = line.tokens[at - 2] if at > 1 else None
    own = thing is not None and thing.kind == "word" and (thing.entry is None or thing.has("data"))
    if own and not line.readings:
        # "16 heads instead of 32" speaks of heads, "288 px instead of 224" of pixels.
        return
    same = next((r for r in reversed(heard) if _is_value(r, token, known)), None)
    nearest = sorted(line.readings, key=lambda r: min(abs(r.first - at), abs(r.last - at)))
    found = next((r for r in nearest[:2] if is_alike(r, token, known, loosely=True)), None)
    found = found or same or _last_like(token, known, heard)
    if found is None:
        return
    reading = _emit(line, at, found, known, corrects=False)
    reading.status, reading.settled, reading.relation = "superseded", True, "eq"
    found.corrects = True


def _in_place_of(line: Line, at: int, known: Vocabulary, heard: Sequence[Reading]) -> bool:
    """Whether a number without a name takes the place of one that was said: "and 24 instead of 32"."""
    old = line.tokens[at + 2] if at + 2 < len(line.tokens) else None
    if old is None or old.kind != "number" or old.claimed:
        return False
    if at + 3 < len(line.tokens) and line.tokens[at + 3].kind != "break":
        # "10 instead of 8 shards".
        return False
    found = next((r for r in reversed(heard) if _is_value(r, old, known)), None)
    if found is None or not accepts(known.keys[found.key], line.tokens[at]):
        return False
    _emit(line, at, found, known)
    old.claimed = True
    return True


def _is_value(reading: Reading, token: Token, known: Vocabulary) -> bool:
    """Whether a number is the very value of what was asked for."""
    key = known.keys.get(reading.key)
    if key is None or reading.polarity != "require" or not accepts(key, token):
        return False
    numeric = isinstance(reading.value, (int, float)) and not isinstance(reading.value, bool)
    return numeric and in_normal_form(key, token) == reading.value


def _becomes(line: Line, at: int, known: Vocabulary) -> None:
    """The new value in "lr 5e-5 -> 1e-5": the one before it is superseded."""
    token = line.tokens[at]
    previous = next(
        (
            r
            for r in reversed(line.readings)
            if r.last < at and at - r.last <= 3 and is_alike(r, token, known)
        ),
        None,
    )
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is not None and after.kind == "word" and after.text in _WIDTHS:
        # "A two-layer head to 128 dimensions".
        return
    if previous is not None:
        previous.status, previous.settled = "superseded", True
        _emit(line, at, previous, known)


def _alternative(line: Line, at: int, known: Vocabulary) -> None:
    previous = next(
        (r for r in reversed(line.readings) if r.last < at and is_alike(r, line.tokens[at], known)), None
    )
    if previous is not None:
        reading = _emit(line, at, previous, known, corrects=False)
        previous.condition, reading.condition = f"or {reading.value}", f"or {previous.value}"


def _meant_before(
    line: Line, at: int, known: Vocabulary, heard: Sequence[Reading], corrected: bool
) -> Reading | None:
    """What a bare number replaces: what is refused ("no, 12"), corrected, asked anew, or was so until now."""
    token = line.tokens[at]
    found = None
    if line.words(at - 2, at) in (["no", ","], ["nope", ","]) and at == 2:
        found = _last_like(token, known, heard)
    if found is None and corrected and has_no_noun(line, at) and not _of_its_own(line, at):
        found = _last_like(token, known, [*heard, *line.readings])
    if found is None and _asked_anew(line, at):
        found = _last_like(token, known, [r for r in line.readings if r.first < at])
    if found is None and is_ours(line, at):
        found = _last_like(token, known, line.readings)
    if found is None and (_now(line, at) or recalls(line, at)):
        found = _told_before(token, known, heard)
    return found


def _of_its_own(line: Line, at: int) -> bool:
    """Whether what is changed has a name that is no key, or several values are repeated and none is corrected.

    "Lower the KL to 0.01", and "Understood: 0.15 / 0.9 / 800" by the assistant.
    """
    tokens = line.tokens
    if line.sentence.proposes and sum(t.kind == "number" and not t.claimed for t in tokens) > 1:
        return True
    if at < 3 or tokens[at - 1].text != "to":
        return False
    thing, article = tokens[at - 2], tokens[at - 3].text.split()[-1]
    plain = thing.kind == "word" and thing.entry is None and thing.text not in _PARTS_OF_MODEL | _VALUES
    return plain and article in ("the", "our", "my", "its")


def _asked_anew(line: Line, at: int) -> bool:
    """Whether a number follows a wish after something told: "I said 3 epochs, let's do 5", "30 are too many, 12 suffice"."""
    here = line.tokens[at]
    told = any((t.has("told") or t.has("judged")) and t.segment < here.segment for t in line.tokens[:at])
    wished = any(t.has("wish") and t.statement == here.statement for t in line.tokens[:at])
    wished = wished or _goes_to(line, at)
    return told and (wished or any(t.text in _SURELY and t.segment == here.segment for t in line.tokens[at:]))


def _goes_to(line: Line, at: int) -> bool:
    """Whether a number is where one goes from what was judged: "64 is overkill, go to 32", "let's go down to 16"."""
    before = words_in(line.tokens[max(0, at - 3) : at])
    while before and before[-1] in ("to", "with", "down", "up", "back", "for"):
        before.pop()
    return before[-1:] in (["go"], ["come"], ["stay"]) and len(before) < _GO_WORDS


def _starts_a_schedule(line: Line, at: int) -> bool:
    """Whether a rate is where a schedule begins: "cosine from 3e-4 down to 3e-5"."""
    if not _SCIENTIFIC.search(line.tokens[at].text) and not 0 < line.tokens[at].value < 1:
        return False
    scheduled = any(t.gives("scheduler") for t in line.tokens[max(0, at - 6) : at])
    if scheduled:
        for token in line.tokens[at + 1 : at + 5]:
            token.claimed = token.claimed or token.kind == "number"
    return scheduled


def has_no_noun(line: Line, at: int) -> bool:
    """Whether nothing of its own follows a number: "sorry, two things" and "five held-out reports" count things."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is not None and after.kind in _NAMES:
        # "One `train.py`".
        return False
    if after is None or after.kind != "word" or after.text in _NO_NOUNS:
        return True
    if after.entry is None or (line.tokens[at].spelled and line.tokens[at].value == 1):
        # "One update per episode".
        return False
    # A setting may describe what is counted: "validation images", "greedy answers".
    things = line.tokens[at + 2] if after.is_setting and at + 2 < len(line.tokens) else None
    if things is None or things.kind != "word" or things.text in _NO_NOUNS:
        return True
    return not (things.has("data") or things.has("labels") or things.entry is None)


def _now(line: Line, at: int) -> bool:
    """Whether a number without a noun is what should be now: "Now 4 should do"."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    bare = after is None or after.kind == "break" or after.text in _SURELY or after.has("should")
    return bare and any(t.text in ("now", "this time") for t in line.tokens)


def _told_before(token: Token, known: Vocabulary, heard: Sequence[Reading]) -> Reading | None:
    return next((r for r in reversed(heard[-3:]) if r.told and is_alike(r, token, known)), None)


def _may_be_rate(line: Line, at: int, heard: Sequence[Reading], corrected: bool) -> bool:
    """Whether a number like 2e-4 is the learning rate, which is not named: beside words of a training, or "do 5e-6" after one."""
    token = line.tokens[at]
    if not 1e-8 <= token.value <= 0.1 or any(r.key == "learning_rate" for r in line.readings):
        return False
    named = any(t.text == "rate" and not t.claimed for t in line.tokens)
    # Nothing but the verb before it: "for the KL penalty use 1e-2" chooses something else.
    alone = at <= _FEW_WORDS and line.words(at + 1, at + 2) not in (["for"], ["as"], ["in"])
    chosen = alone and line.words(at - 1, at) in _CHOOSES and any(r.key == "learning_rate" for r in heard)
    named = named or follows_from_rate(line, at)
    return corrected or named or chosen or any(r.key in _TRAINING for r in line.readings)

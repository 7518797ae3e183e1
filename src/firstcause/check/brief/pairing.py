"""Numbers to the words that name them, in both orders: the nearest wins, and a number has one meaning."""

from __future__ import annotations

import re
from typing import Any

from firstcause.check.brief.limits import LIMITS, is_denied_limit, limit
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import Key, Named, word_set
from firstcause.schema.instruction import Relation

# A pair may lie this far apart, in costs of the words between; and a window bounds the search.
FARTHEST = 4.0
_WINDOW = 12
_GAIN = 5.0
_SAYS_HOW = {*LIMITS, "should"}
_LINKS = word_set("pairing", "links")
# The model number of a consumer card: 1050 to 5090.
CONSUMER = re.compile(r"[1-5]0[5-9]0s?\Z")
_WITH_LAYERS = frozenset({"layers", "hidden layers"})
_UNITS = frozenset({"units", "neurons", "units each", "neurons each"})
_KINDS = word_set("labels", "kinds")
_BARE = word_set("pairing", "bare")


def pair(line: Line) -> None:
    """Claim every number that a word of a key explains."""
    for number, name in _best(line):
        token, word = line.tokens[number], line.tokens[name]
        assert word.entry is not None
        named = word.entry.named
        assert named is not None
        if token.kind == "range":
            _range(line, number, name, named)
            continue
        if named.key.aside:
            token.claimed = word.claimed = True
            continue
        first, last = min(number, name), max(number, name)
        relation = named.relation or limit(line, first, last, number)
        if named.key.bound == "eq" and relation == "max":
            relation = "eq"
        reading = Reading(
            named.key.name, in_normal_form(named.key, token), first, last, relation, named.scope
        )
        reading.settled = is_denied_limit(line, first, last)
        line.claim(reading, number, name)
        _take_scope(line, reading, number)


def _take_scope(line: Line, reading: Reading, number: int) -> None:
    """Let "batch 2 per device" have the scope that its second name tells."""
    entry = line.tokens[number + 1].entry if number + 1 < len(line.tokens) else None
    if entry is None or entry.named is None or line.tokens[number + 1].claimed or reading.scope:
        return
    if entry.named.key.name == reading.key and entry.named.scope:
        reading.scope = entry.named.scope
        line.tokens[number + 1].claimed = True


def _range(line: Line, number: int, name: int, named: Named) -> None:
    token = line.tokens[number]
    first, last = min(number, name), max(number, name)
    ends: tuple[tuple[float, Relation], ...] = ((token.value, "min"), (token.upper, "max"))
    for value, relation in ends:
        reading = Reading(named.key.name, whole(value), first, last, relation, named.scope)
        line.claim(reading, number, name)


def accepts(key: Key, token: Token) -> bool:
    """Whether a number, as it is written, can be a value of the key."""
    value, unit, kind = token.value, token.unit, key.kind
    if token.spelled and kind == "rate":
        return False
    if token.kind == "range":
        return kind in ("whole", "number") and token.value >= key.least and key.count
    if kind not in ("whole", "rate", "share", "number", "tokens"):
        return False
    if unit == "%":
        return kind == "share" or key.name in ("warmup", "dropout", "weight_decay")
    if unit in ("gb", "mb") or unit == "b":
        return (unit == "gb" and key.name == "gpu_memory_gb") or (unit == "b" and key.name == "model_size_b")
    if unit == "x" and key.name not in ("gradient_accumulation", "num_gpus"):
        return False
    if key.name in ("gpu_memory_gb", "model_size_b") and not unit and key.name == "gpu_memory_gb":
        return False
    if kind in ("whole", "tokens"):
        scaled = value * {"k": 1000, "m": 1e6}.get(unit, 1)
        least = 8 if kind == "tokens" else max(key.least, 0 if key.name in _FROM_ZERO else 1)
        return scaled == int(scaled) and least <= scaled <= key.most and "e-" not in token.text
    if kind == "share":
        return 0 <= value < 1 or (value == 1 and key.name == "top_p")
    if kind == "rate":
        return 0 < value <= key.most and not unit
    return key.least <= value * {"k": 1000, "m": 1e6}.get(unit, 1) <= key.most


# "After epoch 3" is no count.
_ORDINALS = frozenset({"epoch", "step", "iteration", "pass"})
_OF_IMAGES = frozenset(
    {"resize", "resized", "resizing", "images", "image", "pixels", "px", "photos", "center"}
)
_SOME = frozenset({"first", "last", "top", "bottom", "lowest", "upper", "lower", "final"})
_BEFORE_RATE = frozenset({"the", "a", "with", "and", "its", "this", "our", "my", "at"})
_DIMENSIONS = frozenset({"dim", "dimensional", "dims", "d"})
_ROUNDS = frozenset({"rounds", "passes", "pass"})
_MULTIPLE = frozenset({"divisible", "multiple", "multiples", "power", "powers"})
_REPLACED = frozenset({"not", "and not", "instead of", "rather than", "in place of"})
_OTHER_DECAYS = word_set("pairing", "other_decays")
_FROM_ZERO = frozenset({"seed", "zero_stage", "save_rank"})


def in_normal_form(key: Key, token: Token) -> Any:
    """The value as a number in the key's unit: a share for per cent, 8k tokens as 8192."""
    if token.unit == "%":
        return round(token.value / 100, 12)
    if token.unit == "k":
        return whole(token.value * (1024 if key.kind == "tokens" else 1000))
    if token.unit == "m":
        return whole(token.value * 1e6)
    return whole(token.value)


def _best(line: Line) -> list[tuple[int, int]]:
    """The pairs (number, name) that explain the most at the least cost; pairs do not overlap."""
    tokens = line.tokens
    given_up = _given_up(line)
    size = len(tokens)
    score = [0.0] * (size + 1)
    back: list[tuple[int, int, int] | None] = [None] * (size + 1)
    for end in range(size):
        score[end + 1], back[end + 1] = score[end], None
        if not _takes_part(tokens[end]) or end in given_up:
            continue
        cost_between = 0.0
        for start in range(end - 1, max(-1, end - _WINDOW), -1):
            if start in given_up:
                continue
            if _takes_part(tokens[start]):
                number, name = (start, end) if tokens[start].kind in ("number", "range") else (end, start)
                total = (
                    cost_between + _order(line, number, name) if _fits(line, number, name) else FARTHEST + 1
                )
                if total <= FARTHEST:
                    gain = score[start] + _GAIN - total
                    if gain > score[end + 1]:
                        score[end + 1], back[end + 1] = gain, (start, number, name)
            cost_between += _cost(tokens[start])
            if cost_between > FARTHEST:
                break
    pairs = []
    at = size
    while at > 0:
        found = back[at]
        if found is None:
            at -= 1
        else:
            pairs.append((found[1], found[2]))
            at = found[0]
    return pairs[::-1]


def _takes_part(token: Token) -> bool:
    if token.claimed:
        return False
    return token.kind in ("number", "range") or (
        token.entry is not None
        and token.entry.named is not None
        and token.entry.named.key.kind not in ("switch", "choice", "place", "list")
    )


def _fits(line: Line, number: int, name: int) -> bool:
    token, word = line.tokens[number], line.tokens[name]
    if (
        token.kind not in ("number", "range")
        or word.kind in ("number", "range")
        or word.entry is None
        or word.entry.named is None
    ):
        return False
    if not accepts(word.entry.named.key, token):
        return False
    if (
        token.glued
        and number
        and line.tokens[number - 1].kind == "word"
        and line.tokens[number - 1].entry is None
    ):
        return False
    if (
        number < name
        and word.entry.named.key.name == "gradient_accumulation"
        and "with" in line.words(number + 1, name)
    ):
        return False
    if word.entry.named.key.name == "num_gpus" and CONSUMER.match(token.text):
        # A card's model number counts no cards.
        return False
    if name < number and word.entry.named.key.name == "gradient_accumulation" and _at_once(line, number + 1):
        return False
    if number < name and word.entry.named.key.name == "num_gpus" and _times(line, name):
        return False
    if word.text in ("total of", "a total of") and not any(_names_batch(t) for t in line.tokens):
        return False
    if name < number and word.text in ("gpu", "card") and line.tokens[name + 1].text not in (":", "="):
        return False
    if name + 1 == number and word.text in _ORDINALS:
        return False
    if number > 1 and line.tokens[number - 1].text == "/" and line.tokens[number - 2].kind == "number":
        # A quarter of an epoch, 1/4.
        return False
    if word.text.startswith("crop") and any(t.text in _OF_IMAGES for t in line.tokens):
        return False
    if name < number and word.text.startswith(("on each", "on every")):
        # "8 on each of 4 GPUs" says the 8.
        return False
    if word.entry.named.key.name == "num_layers" and _SOME & set(line.words(number - 1, number)):
        # "Freeze the first 6 layers" counts some of them.
        return False
    if word.text in _ROUNDS and line.words(name + 1, name + 2) == ["of"] and not _training(line, name + 2):
        return False
    if word.text == "rate" and not _alone(line, name):
        return False
    if name < number and number + 1 < len(line.tokens) and line.tokens[number + 1].text in _DIMENSIONS:
        # "On 200-dim embeddings".
        return False
    if word.entry.named.count and number and line.tokens[number - 1].text == "by":
        # "Divided by ten after epoch 30".
        return False
    if word.entry.named.key.name in ("epochs", "max_steps") and {"cycle", "cycles"} & set(
        line.words(number - 2, number)
    ):
        return False
    if word.entry.named.key.name == "max_steps" and _of_one(line, number, name):
        return False
    if number < name and word.text.startswith("hidden layer "):
        return False
    if name < number and _MULTIPLE & set(line.words(name + 1, number)):
        return False
    if name < number and word.entry.named.key.kind == "rate" and line.tokens[number - 1].text == "by":
        # "Multiply the lr by 0.9" tells how it changes.
        return False
    if word.text in ("decay", "decay of") and (number < name or _decays_otherwise(line, name)):
        return False
    following = line.tokens[number + 1] if number + 1 < len(line.tokens) else None
    if word.text in _WITH_LAYERS and name < number and following is not None and following.text in _UNITS:
        # "Hidden layers of 64 units" counts units.
        return False
    if following is not None and following.text in _KINDS and following.entry is None:
        # "3 types of layers" counts types.
        return False
    if following is not None and following.has("data") and name != number + 1:
        if 0 < name - number <= 2 and word.entry.named.key.name in ("batch_size", "effective_batch_size"):
            # "24 images at once".
            return True
        if word.entry.named.key.name == "num_return_sequences" and 0 < name - number <= 3:
            return True
        if word.text.startswith("fit") and 0 < name - number <= 2:
            return True
        near = 0 < number - name <= 4 and line.same_segment(name, number)
        return near and word.entry.named.key.name in ("batch_size", "effective_batch_size")
    if word.entry.named.key.name == "warmup" and token.spelled and not token.unit and token.value <= 20:
        # "Ten epochs, of which one is warm-up".
        return False
    reach = 3 if word.entry.named.key.name == "num_layers" else 2
    return token.unit == "%" or not (token.spelled and abs(number - name) > reach)


def _alone(line: Line, at: int) -> bool:
    """Whether a bare "rate" is that of the learning: no word before it says another one."""
    before = line.tokens[at - 1] if at else None
    return before is None or before.kind == "break" or before.text in _BEFORE_RATE or before.has("wish")


def _of_one(line: Line, number: int, name: int) -> bool:
    """Whether a single step is spoken of: "one optimizer step sees 256 sequences"."""
    token, before = line.tokens[number], line.tokens[name - 1] if name else None
    if number < name:
        return token.spelled and token.value == 1 and not line.tokens[name].text.endswith("s")
    return before is not None and (before.has("every") or before.text in ("a", "one") or before.value == 1)


def _training(line: Line, at: int) -> bool:
    """Whether a training stands here: "2 rounds of training", but not "2 rounds of annotation"."""
    return at < len(line.tokens) and line.tokens[at].text.startswith(
        ("train", "fine", "tuning", "optimi", "the")
    )


def _given_up(line: Line) -> frozenset[int]:
    """The places of "instead of 32" where another number came before: they part nothing and have no name of their own."""
    tokens = line.tokens
    return frozenset(
        place
        for at in range(2, len(tokens))
        if tokens[at].kind == "number"
        and tokens[at - 1].text in _REPLACED
        and tokens[at - 2 - (tokens[at - 2].text in ("and", ","))].kind == "number"
        and not tokens[at].claimed
        for place in (at - 2, at - 1, at)
        if tokens[place].kind != "number" or place == at
    )


def _at_once(line: Line, at: int) -> bool:
    """Whether a number before this place is a batch: "accumulation with 4 per step"."""
    own = ("per step", "at a time", "at once", "per gpu", "per card")
    return at < len(line.tokens) and line.tokens[at].text in own


def _times(line: Line, at: int) -> bool:
    """Whether what follows makes it a duration: "200 GPU hours"."""
    return at + 1 < len(line.tokens) and line.tokens[at + 1].text in (
        "hours",
        "hour",
        "days",
        "minutes",
        "weeks",
    )


def _names_batch(token: Token) -> bool:
    return (
        token.entry is not None
        and token.entry.named is not None
        and token.entry.named.key.name == "batch_size"
    )


def _decays_otherwise(line: Line, at: int) -> bool:
    """Whether "decay" is not that of the weights: "EMA decay of 0.999", "decay by 0.1 every 30 epochs"."""
    before = line.tokens[at - 1].text if at else ""
    after = line.tokens[at + 1].text if at + 1 < len(line.tokens) else ""
    named = line.tokens[at + 1 : at + 4]
    if any("rate" in t.text.split() or t.text == "lr" for t in named):
        return True
    return before in _OTHER_DECAYS or after in ("to", "by", "every", "after", "over", "it", "until", "with")


def _order(line: Line, number: int, name: int) -> float:
    """What the order of a pair costs: "3 epochs", "lr 1e-4" and anything with "=" are natural."""
    entry = line.tokens[name].entry
    assert entry is not None
    assert entry.named is not None
    named = entry.named
    if name < number:
        between = line.words(name + 1, number)
        if between and between[0] in _BARE:
            return 0.0
        return 1.0 if named.count else 0.0
    return (0.0 if number + 1 == name else 1.5) if named.count else 0.5 if number + 1 == name else 1.0


def _cost(token: Token) -> float:
    if token.kind == "break":
        return {",": 3.0, ":": 0.0, "(": 1.0, ")": 1.0}.get(token.text, 5.0)
    if token.kind == "join":
        return 0.0 if token.text in ("=", "~", "<", "<=", ">", ">=", "+", "≤", "≥") else 2.5
    if token.kind in ("number", "range"):
        return 4.0
    if token.claimed:
        return 2.0
    if token.kind == "word":
        if token.text in _LINKS or (token.entry and token.entry.cues & _SAYS_HOW):
            return 0.0
        if token.text in ("and", "or", "but", "then"):
            return 2.5
        return 2.0 if token.entry is not None and token.entry.named else 1.0
    return 2.0

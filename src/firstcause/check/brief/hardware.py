"""Cards, how many, and their memory: "8xA100-80GB", "my single 3090", "one 24 GB card", "16 GB of VRAM"."""

from __future__ import annotations

import re

from firstcause.check.brief.fits import CONSUMER
from firstcause.check.brief.limits import limit
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import word_set

_BEFORE_CARD = word_set("hardware", "before_card")
_CARD = frozenset({"gpu", "gpus", "card", "cards"})
_CARDS = frozenset({"gpus", "cards", "graphics cards", "accelerators", "devices"})
_OWNED = frozenset({"of", "our", "my", "the", "these", "those", "your", "available", "local", "nvidia"})
_TAKEN = frozenset({"busy", "taken", "occupied", "blocked", "reserved", "broken", "gone", "down"})
_VENDOR = re.compile(r"^(?:nvidia |geforce )+")
_SKIPPED = word_set("hardware", "skipped")
_MEMORY_OF = word_set("hardware", "memory_of")
_SHARED_MEMORY = frozenset({"gpu memory", "vram", "video memory"})
_PARAMETERS = frozenset({"parameters", "params", "weights", "parameter"})
_OTHER_MEMORY = word_set("hardware", "other_memory")


def name_hardware(line: Line) -> None:
    """Claim cards, their count and their memory."""
    for at, token in enumerate(line.tokens):
        if token.kind in ("number", "word") and _is_card(line, at):
            token.kind = "card"
    _of_several(line)
    _both(line)
    _nodes(line)
    for at, token in enumerate(line.tokens):
        if token.kind == "card":
            _card(line, at)
    for at, token in enumerate(line.tokens):
        if token.kind != "number" or token.claimed:
            continue
        following = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
        if token.unit == "%" and following is not None and following.text in _SHARED_MEMORY:
            line.claim(Reading("gpu_memory_utilization", round(token.value / 100, 12), at, at + 1))
        elif token.unit == "gb":
            _memory(line, at)
        elif token.unit == "b" and (
            following is None
            or following.text not in ("tokens", "token", "words", "samples", "parameters of data")
        ):
            line.claim(Reading("model_size_b", whole(token.value), at, at, limit(line, at, at, at)))
        elif token.unit == "m" and following is not None and following.text in _PARAMETERS:
            line.claim(Reading("model_size_b", token.value / 1000, at, at, limit(line, at, at, at)))
        elif at and line.tokens[at - 1].text == "stage" and token.value in (1, 2, 3) and _shards(line):
            line.claim(Reading("zero_stage", whole(token.value), at - 1, at))
        elif (
            token.text == "zero"
            and following is not None
            and following.kind == "number"
            and following.value in (0, 1, 2, 3)
            and not following.unit
        ):
            line.claim(Reading("zero_stage", whole(following.value), at, at + 1))


def in_stages(line: Line) -> None:
    """Multiply the devices of one stage by the stages: "tensor parallel 4, pipeline parallel 2" are 8."""
    for reading in (r for r in line.readings if r.key == "num_gpus"):
        if line.tokens[reading.first].text.split()[0] != "tensor":
            continue
        for at, token in enumerate(line.tokens):
            stages = line.words(max(0, at - 3), at)
            if token.kind == "number" and not token.claimed and stages[-2:] == ["pipeline", "parallel"]:
                reading.value, token.claimed = reading.value * whole(token.value), True


def some_of_them(line: Line) -> None:
    """Take the part of several cards that is used: "we have 8 GPUs but use only 4 of them"."""
    for reading in (r for r in line.readings if r.key == "num_gpus"):
        for at in range(reading.last + 1, len(line.tokens) - 2):
            token = line.tokens[at]
            part = line.words(at + 1, at + 3) in (["of", "them"], ["of", "those"], ["of", "these"])
            behind = words_in(line.tokens[at + 3 : at + 4])
            told = behind[:1] and behind[0] in ("are", "is", "were", "have", "has", "for", "in")
            if (
                token.kind == "number"
                and not token.claimed
                and part
                and not told
                and token.value < reading.value
            ):
                reading.value, token.claimed = whole(token.value), True


def _shards(line: Line) -> bool:
    return any(t.text in ("deepspeed", "zero") for t in line.tokens)


def _of_several(line: Line) -> None:
    """Those that are used: "only one of the two GPUs" is one."""
    tokens = line.tokens
    for at in range(len(tokens) - 2):
        if not _counts(tokens[at]) or tokens[at + 1].text not in ("of", "out of", "out"):
            continue
        rest = [n for n in range(at + 1, min(at + 6, len(tokens))) if tokens[n].kind in ("number", "card")]
        whole_set = next(
            (n for n in range(at + 2, min(at + 5, len(tokens))) if tokens[n].gives("num_gpus")), 0
        )
        if whole_set:
            line.claim(Reading("num_gpus", whole(tokens[at].value), at, whole_set), at, whole_set)
            return
        owned = [t.text for t in tokens[at + 2 : at + 7]]
        if rest and _counts(tokens[rest[0]]) and any(w in _CARD for w in owned):
            line.claim(Reading("num_gpus", whole(tokens[at].value), at, rest[0]), at, rest[0])
            return


def _both(line: Line) -> None:
    """Two of them: "over both of our GPUs"; those that are busy with other things are none."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if token.text != "both" or token.claimed:
            continue
        last = at + 1
        while last < len(tokens) and tokens[last].text in _OWNED:
            last += 1
        taken = bool(_TAKEN & set(words_in(tokens[last + 1 : last + 4])))
        if last < len(tokens) and tokens[last].text in _CARDS and not taken and not _one_of(line, at):
            line.claim(Reading("num_gpus", 2, at, last))
            return


def _one_of(line: Line, at: int) -> bool:
    return line.words(at - 1, at) in (["of"], ["one of"])


def _nodes(line: Line) -> None:
    """Several machines: "2 nodes with 4 GPUs each" are 8 GPUs."""
    tokens = line.tokens
    for at in range(len(tokens) - 1):
        if not _counts(tokens[at]) or tokens[at + 1].text not in ("nodes", "machines", "hosts", "servers"):
            continue
        for place in range(at + 2, min(at + 8, len(tokens) - 1)):
            here = tokens[place + 1].text in ("gpus", "cards", "gpu") or tokens[place + 1].kind == "card"
            if (
                _counts(tokens[place])
                and here
                and any(w in ("each", "per", "every") for w in line.words(at, place + 4))
            ):
                line.claim(
                    Reading("num_gpus", whole(tokens[at].value * tokens[place].value), at, place + 1),
                    at,
                    place,
                )
                return


def _is_card(line: Line, at: int) -> bool:
    token = line.tokens[at]
    if not CONSUMER.match(token.text):
        return False
    if at == 0:
        # A bare number answers which card it is.
        return token.text.endswith("s") or _among_cards(line, at) or "num_gpus" in line.topic
    before, after = line.tokens[at - 1], line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    counted = before.kind == "number" and (before.spelled or before.unit in ("x", "gb"))
    if before.entry is not None and before.entry.named is not None and before.text not in _CARD:
        return False
    return (
        before.text in _BEFORE_CARD or counted or token.text.endswith("s") or _among_cards(line, at)
    ) and (after is None or after.entry is None or after.entry.named is None or after.text in _CARD)


def _among_cards(line: Line, at: int) -> bool:
    """Whether a bare number stands beside a word for cards, or their memory: "GPU: 4090", "24 GB (4090)"."""
    for places in (range(at - 1, max(-1, at - 4), -1), range(at + 1, min(at + 3, len(line.tokens)))):
        for place in places:
            token = line.tokens[place]
            if token.text in _CARD or (token.kind == "number" and token.unit == "gb"):
                return True
            if token.kind != "break" and token.text not in ("is", "=", "are", "an", "a"):
                break
    return False


def card_name(text: str) -> str:
    """A card's name in normal form: "nvidia a100" is A100, "3090" is RTX 3090."""
    plain = _VENDOR.sub("", text).upper().replace("-", " ")
    plain = re.sub(r"(?<=\d)S\Z", "", plain) if not plain.startswith("L40") else plain
    plain = re.sub(r"^(RTX|GTX)(?=\d)", r"\1 ", plain)
    plain = re.sub(r"(?<=\d) ?TI\Z", " Ti", plain)
    if re.match(r"\d{4}", plain):
        plain = f"{'GTX' if plain.startswith('10') else 'RTX'} {plain}"
    return re.sub(r"^RTX A(?=\d)", "A", plain)


def _card(line: Line, at: int) -> None:
    kind = line.words(at + 1, at + 2)
    better = kind[0] if kind and kind[0] in ("ti", "super") else ""
    name = card_name(f"{line.tokens[at].text} {better}".strip())
    line.claim(Reading("gpu", name, at, at + bool(better)))
    before = at - 1
    while before >= 0 and (
        (line.tokens[before].text in _SKIPPED and line.tokens[before].kind == "word")
        or line.tokens[before].unit == "gb"
    ):
        before -= 1
    if before >= 0 and _counts(line.tokens[before]) and at - before <= 3:
        line.claim(Reading("num_gpus", whole(line.tokens[before].value), before, at), before)
    elif before >= 0 and line.tokens[before].text == "both" and not line.tokens[before].claimed:
        line.claim(Reading("num_gpus", 2, before, at), before)
    elif after := _times_after(line, at):
        line.claim(Reading("num_gpus", whole(line.tokens[after].value), at, after), after)


def _counts(token: Token) -> bool:
    return (
        token.kind == "number"
        and not token.claimed
        and token.unit in ("", "x")
        and token.value == int(token.value)
        and 1 <= token.value <= 4096
    )


def _times_after(line: Line, at: int) -> int:
    """The place of the count in "A100 x4" and "H100 80GB x2", or 0."""
    for place in range(at + 1, min(at + 3, len(line.tokens))):
        token = line.tokens[place]
        if _counts(token) and token.unit == "x":
            return place
        if token.unit != "gb":
            return 0
    return 0


def _memory(line: Line, at: int) -> None:
    number = line.tokens[at]
    after = line.words(at + 1, at + 4)
    if any(w in _OTHER_MEMORY for w in after[:3]) and not any(w in _MEMORY_OF for w in after[:2]):
        return
    nearby = range(max(0, at - 7), min(len(line.tokens), at + 4))
    beside_card = any(line.tokens[n].kind == "card" for n in nearby)
    beside_word = any(
        w in _MEMORY_OF for n in nearby for w in (line.tokens[n].text, *line.tokens[n].text.split())
    )
    if not beside_card and not beside_word:
        return
    line.claim(Reading("gpu_memory_gb", whole(number.value), at, at, "max"))
    if (
        at + 1 < len(line.tokens)
        and line.tokens[at + 1].text in ("card", "cards", "gpu", "gpus")
        and at
        and _counts(line.tokens[at - 1])
    ):
        line.claim(Reading("num_gpus", whole(line.tokens[at - 1].value), at - 1, at + 1), at - 1, at + 1)

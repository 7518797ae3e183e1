"""Cards, how many, and their memory: "8xA100-80GB", "my single 3090", "one 24 GB card", "16 GB of VRAM"."""

from __future__ import annotations

import re

from firstcause.check.brief.limits import limit
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_CONSUMER = re.compile(r"[1-5]0[5-9]0s?\Z")
_BEFORE_CARD = word_set("hardware", "before_card")
_VENDOR = re.compile(r"^(?:nvidia |geforce )+")
_SKIPPED = word_set("hardware", "skipped")
_MEMORY_OF = word_set("hardware", "memory_of")
_OTHER_MEMORY = word_set("hardware", "other_memory")


def name_hardware(line: Line) -> None:
    """Claim cards, their count and their memory."""
    for at, token in enumerate(line.tokens):
        if token.kind in ("number", "word") and _is_card(line, at):
            token.kind = "card"
        if token.kind == "card":
            _card(line, at)
    _nodes(line)
    for at, token in enumerate(line.tokens):
        if token.kind != "number" or token.claimed:
            continue
        following = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
        if token.unit == "gb":
            _memory(line, at)
        elif token.unit == "b" and (
            following is None
            or following.text not in ("tokens", "token", "words", "samples", "parameters of data")
        ):
            line.claim(Reading("model_size_b", whole(token.value), at, at, limit(line, at, at, at)))
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


def _shards(line: Line) -> bool:
    return any(t.text in ("deepspeed", "zero") for t in line.tokens)


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
    if not _CONSUMER.match(token.text) or at == 0:
        return False
    before, after = line.tokens[at - 1], line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    counted = before.kind == "number" and (before.spelled or before.unit == "x")
    return (before.text in _BEFORE_CARD or counted) and (
        after is None
        or after.entry is None
        or after.entry.named is None
        or after.text in ("gpu", "gpus", "card", "cards")
    )


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
    name = card_name(line.tokens[at].text)
    line.claim(Reading("gpu", name, at, at))
    before = at - 1
    while before >= 0 and line.tokens[before].text in _SKIPPED and line.tokens[before].kind == "word":
        before -= 1
    if before >= 0 and _counts(line.tokens[before]) and at - before <= 3:
        line.claim(Reading("num_gpus", whole(line.tokens[before].value), before, at), before)
    elif at + 1 < len(line.tokens) and _counts(line.tokens[at + 1]) and _times_after(line, at):
        line.claim(Reading("num_gpus", whole(line.tokens[at + 1].value), at, at + 1), at + 1)


def _counts(token: Token) -> bool:
    return (
        token.kind == "number"
        and not token.claimed
        and token.unit in ("", "x")
        and token.value == int(token.value)
        and 1 <= token.value <= 4096
    )


def _times_after(line: Line, at: int) -> bool:
    """Whether "x" stands between a card and the number after it, as in "A100 x4"."""
    gap = line.tokens[at + 1].start - line.tokens[at].end
    return (
        gap in (2, 3)
        and line.tokens[at + 1].unit in ("", "x")
        and not line.tokens[at + 1].spelled
        and gap > 1
    )


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

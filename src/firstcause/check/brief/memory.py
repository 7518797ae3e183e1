"""What an engine leaves of the cards: "leave 15% of the memory free" is a use of 0.85."""

from __future__ import annotations

from firstcause.check.brief.limits import limit
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set
from firstcause.schema.instruction import Relation

_LEAVES = word_set("memory", "leaves")
_FREE = word_set("memory", "free")
_STAYS = word_set("memory", "stays")
_OF_CARD = word_set("memory", "of_card")
_FRACTIONS = {"tenth": 0.1, "eighth": 0.125, "fifth": 0.2, "quarter": 0.25, "third": 1 / 3, "half": 0.5}
_MEMORY = frozenset({"memory use", "memory usage", "memory budget"})
_TO_SHARE = frozenset(
    {":", "=", "at", "to", "of", "is", "should be", "be", "set", "around", "about", "~", "max"}
)
_ONE_CARD = frozenset({"memory", "vram", "card", "gpu"})
_TAKEN = frozenset({"other", "others", "already", "process", "desktop"})
_MAY_USE = word_set("memory", "may_use")
_TURNED: dict[Relation, Relation] = {"min": "max", "max": "min"}
_REACH = 6


def left_free(line: Line) -> None:
    """Claim the use of the memory that is left where a share of it stays free for others."""
    if line.scene.training:
        return
    tokens = line.tokens
    for at, token in enumerate(tokens):
        share = _share(token) or _quotient(tokens, at)
        if token.claimed or not 0 < share < 1:
            continue
        own = [
            n for n in range(at + 1, min(at + _REACH + 1, len(tokens))) if tokens[n].segment == token.segment
        ]
        card = next((n for n in own if _OF_CARD & set(tokens[n].text.split())), 0)
        if not card:
            continue
        after = [w for t in tokens[card + 1 : card + 5] if t.segment == token.segment for w in t.text.split()]
        before = [
            w for t in tokens[max(0, at - 4) : at] if t.segment == token.segment for w in t.text.split()
        ]
        leaves = bool(set(before) & _LEAVES) and bool(set(after) & _FREE)
        kept = "for" in after and bool({"kept", "left", "reserved"} & set(after))
        stays = kept or (bool(set(after) & _STAYS) and "free" in after)
        if not leaves and not stays:
            continue
        relation = limit(line, at, card, at)
        value = round(1 - share, 6)
        line.claim(Reading("gpu_memory_utilization", value, at, card, _TURNED.get(relation, relation)))


def used(line: Line) -> None:
    """Claim the share in "use three quarters of the card", "GPU memory 0.88" and "memory use: 0.9"."""
    if line.scene.training and not any(t.gives("framework") and t.text == "vllm" for t in line.tokens):
        return
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if token.claimed:
            continue
        if token.text in _MEMORY or token.key == "gpu_memory_gb":
            number = at + 1
            while number < len(tokens) and tokens[number].text in _TO_SHARE:
                number += 1
            share = (
                _share(tokens[number]) if number < len(tokens) and tokens[number].kind == "number" else 0.0
            )
            if share > 0:
                relation = limit(line, at, number, number)
                line.claim(Reading("gpu_memory_utilization", round(share, 12), at, number, relation))
        elif (
            (share := _spelled(line, at))
            and line.words(at + 2, at + 3)[0:1]
            and tokens[at + 2].text.startswith("of")
        ):
            own = [
                n for n in range(at + 2, min(at + _REACH, len(tokens))) if tokens[n].segment == token.segment
            ]
            card = next((n for n in own if _ONE_CARD & set(tokens[n].text.split())), 0)
            before = {w for t in tokens[max(0, at - _REACH) : at] for w in t.text.split()}
            if (
                card
                and not before & _TAKEN
                and (before & _MAY_USE or at == 0 or tokens[at - 1].kind == "break")
            ):
                relation = limit(line, at, at, at)
                line.claim(Reading("gpu_memory_utilization", share, at, card, relation))


def _spelled(line: Line, at: int) -> float:
    """The share in "three quarters" and "two thirds", or 0."""
    token, parts = line.tokens[at], line.words(at + 1, at + 2)
    part = _FRACTIONS.get(parts[0].rstrip("s"), 0.0) if parts else 0.0
    share = token.value * part if token.kind == "number" and token.unit == "" else 0.0
    return round(share, 6) if 0 < share < 1 else 0.0


def _share(token: Token) -> float:
    if token.kind != "number":
        return _FRACTIONS.get(token.text, 0.0)
    share = token.value / 100 if token.unit == "%" else token.value
    return share if token.unit in ("", "%") and share < 1 else 0.0


def _quotient(tokens: list[Token], at: int) -> float:
    """The share in "1/4 of the card"."""
    apart = tokens[at : at + 3]
    if len(apart) < 3 or apart[0].text != "1" or apart[1].text != "/" or apart[2].kind != "number":
        return 0.0
    return 1 / apart[2].value if apart[2].value > 1 else 0.0

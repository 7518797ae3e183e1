"""What each device takes of a total, and all devices of a machine: "256 in total (32 each)", "so use all 8"."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.leftovers import has_no_noun
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_EACH = frozenset({"each", "apiece", "on each", "for each"})
_JOINS = word_set("shares", "joins")
_TAKES = word_set("shares", "takes")
_OF_THEM = frozenset({"of", "the", "of the", "them", "of them", "these", "those"})
_MACHINES = ("gpu", "card", "node", "box", "machine", "server")
_REMEMBERED = 6


def share_of_each(line: Line) -> None:
    """Claim the 32 in "total batch 256 (32 each)": it is what every device takes."""
    tokens = line.tokens
    totals = [r for r in line.readings if r.key == "effective_batch_size" and isinstance(r.value, int)]
    for at, token in enumerate(tokens[:-1]):
        each = tokens[at + 1]
        if each.text not in _EACH or each.claimed or not _counts(token) or not _ends(tokens, at + 2):
            continue
        for total in totals:
            first, last = sorted((at, total.first if total.first > at else total.last))
            between = tokens[first + 1 + (first == at) : last]
            linked = all(t.text in _JOINS or t.key == "effective_batch_size" for t in between)
            if linked and token.value < total.value and total.value % token.value == 0:
                line.claim(Reading("batch_size", whole(token.value), at, at + 1, scope="per_device"))
                return


def all_of_them(line: Line, heard: Sequence[Reading]) -> None:
    """Claim the 8 in "I got the 8 GPU node, so use all 8": the devices that were spoken of, or the 4 in "use 4 of them"."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if _some_of_them(tokens, at):
            line.claim(Reading("num_gpus", whole(token.value), at, at + 1, corrects=True, settled=True))
            return
        if not _counts(token) or not has_no_noun(line, at):
            continue
        place = at - 1
        while place > 0 and tokens[place].text in _OF_THEM:
            place -= 1
        taken = place > 0 and tokens[place].text == "all" and _takes(tokens[place - 1])
        if taken and (_said(heard, token) or _named(tokens[:place], token)):
            line.claim(Reading("num_gpus", whole(token.value), place, at, corrects=True, settled=True))
            return


def _some_of_them(tokens: Sequence[Token], at: int) -> bool:
    """Whether some of the devices that the sentence names are taken: "there are 8 cards, use 4 of them"."""
    following = " ".join(t.text for t in tokens[at + 1 : at + 3])
    if not at or not _counts(tokens[at]) or not following.startswith(("of them", "of those", "of these")):
        return False
    counted = [n for n, t in enumerate(tokens[:at]) if t.kind == "number"]
    more = bool(counted) and tokens[counted[-1]].value > tokens[at].value
    named = more and tokens[counted[-1] + 1].text.startswith(_MACHINES)
    return named and _takes(tokens[at - 1])


def _takes(token: Token) -> bool:
    return token.text in _TAKES or token.has("wish")


def _said(heard: Sequence[Reading], token: Token) -> bool:
    return any(r.key == "num_gpus" and r.value == token.value for r in heard[-_REMEMBERED:])


def _named(before: Sequence[Token], token: Token) -> bool:
    """Whether so many devices are named before in the sentence: "the 8 GPU node", "8 cards"."""
    return any(
        t.kind == "number" and t.value == token.value and before[n + 1].text.startswith(_MACHINES)
        for n, t in enumerate(before[:-1])
    )


def _counts(token: Token) -> bool:
    plain = token.kind == "number" and not token.unit and not token.claimed
    return plain and token.value == int(token.value) and token.value >= 1


def _ends(tokens: Sequence[Token], at: int) -> bool:
    """Whether what is said ends here: "32 labels each" and "32 each for two tasks" count other things."""
    return (
        at >= len(tokens) or tokens[at].kind in ("break", "join") or tokens[at].text in ("and", "then", "so")
    )

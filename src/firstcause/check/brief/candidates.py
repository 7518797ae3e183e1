"""How many answers are wanted for one prompt: "4 different titles for every article", "three variants each"."""

from __future__ import annotations

from itertools import pairwise

from firstcause.check.brief.limits import limit
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

# What one draws several of, whatever they are about.
_DRAWN = word_set("candidates", "drawn")
_APART = word_set("candidates", "apart")
_NOT_DRAWN = word_set("candidates", "not_drawn")
_ASKS = word_set("candidates", "asks")
_MAKES = frozenset(
    {"write", "generate", "make", "create", "produce", "propose", "suggest", "draft", "invent"}
)
_REACH = 4
_EACH = frozenset({"each", "apiece"})
_PER = frozenset({"per", "for each", "for every", "for each of"})


def several_answers(line: Line) -> None:
    """Claim the count of answers to one prompt; what one answer lists is none."""
    _best_of(line)
    if line.scene.training or any(r.key == "num_return_sequences" for r in line.readings):
        return
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if token.kind != "number" or token.claimed or token.unit or not 2 <= token.value <= 1000:
            continue
        noun = at + 1
        while noun + 1 < len(tokens) and tokens[noun].text in _APART:
            noun += 1
        if noun >= len(tokens) or tokens[noun].kind != "word" or tokens[noun].claimed:
            continue
        drawn = tokens[noun].text.split()[0] in _DRAWN
        plural = tokens[noun].text.endswith("s") and tokens[noun].text not in _NOT_DRAWN
        made = bool(set(words_in(tokens[max(0, at - _REACH) : at])) & _MAKES) and tokens[noun].has("data")
        plain = (tokens[noun].entry is None or made) and plural and noun > at + 1
        if token.value == int(token.value) and (drawn or plain) and _for_each(line, at, noun, drawn):
            line.claim(
                Reading("num_return_sequences", whole(token.value), at, noun, limit(line, at, noun, at))
            )
            return


def _best_of(line: Line) -> None:
    """Claim the 2 in "4 beams, best 2 returned" and "return the best 2 of 5 beams"."""
    tokens = line.tokens
    if not any(t.key == "num_beams" or t.gives("num_beams") for t in tokens):
        return
    for at in range(1, len(tokens)):
        token = tokens[at]
        if token.kind != "number" or token.claimed or token.unit or token.value != int(token.value):
            continue
        before = words_in(tokens[max(0, at - _REACH) : at])
        after = words_in(tokens[at + 1 : at + _REACH + 2])
        noun = tokens[at + 1].text.split()[0] if at + 1 < len(tokens) else ""
        returned = any(w.startswith("return") for w in (*before, *after))
        things = noun in _DRAWN or noun in ("of", "are", "is", "") or noun.startswith("return")
        things = things or (at + 1 < len(tokens) and tokens[at + 1].kind == "break")
        if before[-1:] in (["best"], ["top"]) and returned and things and token.value >= 1:
            line.claim(Reading("num_return_sequences", whole(token.value), at, at))
            return


def _for_each(line: Line, at: int, noun: int, drawn: bool) -> bool:
    """Whether so many are wanted for every single prompt."""
    after = line.words(noun + 1, noun + 4)
    words = [w for t in after for w in t.split()]
    before = [w for t in line.words(at - 8, at) for w in t.split()]
    each = after[:1] != [] and (
        after[0] in _EACH or after[0] in _PER or words[:2] in (["for", "each"], ["for", "every"])
    )
    each = each or any(a in ("for", "per") and b in ("every", "each") for a, b in pairwise(before))
    return each and (drawn or bool(set(before) & _ASKS) or at == 0 or line.tokens[at - 1].kind == "break")

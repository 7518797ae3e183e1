"""What others ended up with and is taken over: "he ended up at 2e-5. So use his number"."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.leftovers import has_no_noun, is_alike
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.values import in_normal_form
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_ENDS = word_set("borrowed", "ends")
_WHOSE = word_set("borrowed", "whose")
_VALUES = word_set("borrowed", "values")
_TAKES = word_set("borrowed", "takes")
_ENDS_WITH = frozenset({"instead", "now", "please", "too", "here", "then", "as well"})
# What is taken over was said in the sentence before, or in the one before that.
_NEAR = 4


def told_ends(line: Line, known: Vocabulary, heard: Sequence[Reading]) -> None:
    """Claim, as told, the 2e-5 in "5e-6 hardly moves it, he ended up at 2e-5": a later word may take it over."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if token.kind != "number" or token.claimed or at < 1:
            continue
        verb = tokens[at - 1] if tokens[at - 1].text not in ("at", "on", "with") else tokens[at - 2]
        if verb.text not in _ENDS or not has_no_noun(line, at):
            continue
        like = next(
            (r for r in reversed(heard) if r.polarity == "require" and is_alike(r, token, known)), None
        )
        if like is not None:
            value = in_normal_form(known.keys[like.key], token)
            line.claim(Reading(like.key, value, at, at, scope=like.scope, told=True, settled=True))


def borrowed(line: Line, heard: Sequence[Reading]) -> None:
    """Make a wish of what was told just before where the sentence takes it over: "use his number", "take hers"."""
    tokens = line.tokens
    for at, token in enumerate(tokens[:-1]):
        if token.text not in _TAKES:
            continue
        whose = tokens[at + 1].text
        named = whose in _WHOSE or _is_name(line, at + 1)
        noun = tokens[at + 2] if at + 2 < len(tokens) else None
        ends = noun is None or noun.kind == "break"
        if whose in ("his", "hers", "theirs") and ends:
            key = ""
        elif named and noun is not None and noun.text in _VALUES | {"learning rate", "lr", "batch size"}:
            key = noun.key
        else:
            continue
        after = tokens[at + 3] if at + 3 < len(tokens) else None
        goes_on = not ends and after is not None and after.kind != "break" and after.text not in _ENDS_WITH
        refused = any(t.has("not") for t in tokens[:at] if t.statement == token.statement)
        if goes_on or refused or any(t.has("not") for t in tokens[at + 1 :]):
            # "Use this value only for the head".
            return
        near = [*heard[-_NEAR:], *(r for r in line.readings if r.first < at and not _is_refused(line, r))]
        told = [
            r
            for r in near
            if (r.told or r in line.readings) and isinstance(r.value, (int, float)) and key in ("", r.key)
        ]
        if not told or len({r.key for r in told}) > 1:
            return
        taken = told[-1]
        line.claim(
            Reading(
                taken.key, taken.value, at, at + 1 + (not ends), scope=taken.scope, corrects=True, settled=True
            )
        )  # fmt: skip
        return


def _is_refused(line: Line, reading: Reading) -> bool:
    """Whether it is the value that the other one took the place of: "3e-5 and not 1e-4, so use hers"."""
    return reading.status != "active" or any(
        t.has("not") or t.text == "and not" for t in line.tokens[max(0, reading.first - 2) : reading.first]
    )


def _is_name(line: Line, at: int) -> bool:
    """Whether a name in the genitive stands here: "Jonas's", "Mia's"."""
    token = line.tokens[at]
    typed = line.sentence.text.lower().replace("\u2019", "'")
    return token.entry is None and token.text.endswith("s") and f"{token.text[:-1]}'s" in typed

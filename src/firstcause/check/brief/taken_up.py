"""What is told and yet asked for, or the other way round: "the paper we follow uses 64", "0.7 is what broke it"."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_FOLLOWED = word_set("taken_up", "followed")
_FOLLOWS = word_set("taken_up", "follows")
_GIVES_UP = word_set("taken_up", "gives_up")
_BETTER = word_set("taken_up", "better")
_DISLIKES = word_set("taken_up", "dislikes")
_WHAT = frozenset({"what", "why", "how", "exactly", "precisely"})
_THAT = frozenset({"that", "it", "this", "them", "those"})
_REACH = 6


def follow(line: Line, heard: Sequence[Reading]) -> None:
    """Let what the user follows be wanted where nothing else is: "the paper we follow uses 64 pairs per update"."""
    for reading in line.readings:
        beside = [r for r in line.readings if r is not reading]
        asked = any(
            r.key == reading.key and r.polarity == "require" and not r.told for r in (*heard, *beside)
        )
        if reading.told and not asked and not line.sentence.asks and _of_what_is_followed(line, reading):
            reading.told = False


def _of_what_is_followed(line: Line, reading: Reading) -> bool:
    """Whether it stands in "the paper we follow uses 64 pairs per update", with nothing else told beside it."""
    statement = line.tokens[reading.first].statement
    own = [t for t in line.tokens if t.statement == statement]
    before = words_in(t for t in own if t.start < line.tokens[reading.first].start)
    follows = any(
        word in _FOLLOWED and " ".join(before[at + 1 : at + 3]) in _FOLLOWS for at, word in enumerate(before)
    )
    others = [t for t in own if (t.has("told") or t.has("judged")) and not _FOLLOWED & set(t.text.split())]
    return follows and not others


def did_better(line: Line, reading: Reading) -> bool:
    """Whether it stands in "drop that, SGD with lr 0.01 was clearly better"."""
    tokens = line.tokens
    statement = tokens[reading.first].statement
    after = words_in(t for t in tokens[reading.last + 1 :] if t.statement == statement)
    verb = next((n for n, w in enumerate(after) if w in ("was", "were", "worked", "did", "is")), -1)
    if verb < 0 or not _BETTER & set(after[verb + 1 : verb + _REACH]) or "not" in after[verb : verb + 3]:
        return False
    own = tokens[: reading.first]
    opening = [
        w for t in own if t.statement == statement for w in (t.text.split() if t.kind == "word" else [t.text])
    ]
    return any(
        opening[n] in _GIVES_UP and opening[n + 1] in _THAT and opening[n + 2] in (",", "—", ":")
        for n in range(len(opening) - 2)
    )


def is_what_broke(line: Line, reading: Reading) -> bool:
    """Whether a value is only what something came of: "0.7 is what gave us those clones, use 1.0"."""
    after = line.tokens[reading.last + 1 : reading.last + 1 + _REACH]
    words = words_in(after[:4])
    if words[:1] not in (["is"], ["was"]) or not _WHAT & set(words[1:3]):
        return False
    own = [t for t in after if t.segment == after[0].segment]
    return any(t.has("told") or t.has("judged") for t in own) and not any(t.has("wish") for t in own)


def is_disliked(line: Line, reading: Reading) -> bool:
    """Whether it is what something does not bear: "T5 dislikes fp16, hence bf16"."""
    segment = line.tokens[reading.first].segment
    own = [t for t in line.tokens[max(0, reading.first - 4) : reading.first] if t.segment == segment]
    before = f" {' '.join(words_in(own))} "
    return any(f" {verb} " in before for verb in _DISLIKES)

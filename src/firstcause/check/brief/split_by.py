"""By which groups the data is parted: "the split must be by patient", "divided per speaker"; by time is an order of rows."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_PARTS = word_set("split_by", "parts")
_ENTITIES = word_set("split_by", "entities")
_SMALL = frozenset({"the", "each", "whole", "single", "by", "per"})
_DENIES = ("not", "never", "no", "isnt", "without", "must not", "not be", "never be", "do not", "dont")
_OTHER_THINGS = word_set("split_by", "other_things")
_IS = frozenset({"is", "are", "was", "were", "come", "comes"})
_SETS = ("train", "val", "test", "dev", "held", "hold", "eval")
_OTHER_DEEDS = frozenset(
    {"report", "measure", "average", "group", "score", "log", "plot", "print", "show", "sort"}
)
# What is cut into pieces, and is no set of samples.
_PIECES = frozenset(
    {"audio", "conversation", "conversations", "recording", "text", "transcript", "transcripts"}
)
_REACH = 22


def split_by(line: Line) -> None:
    """Claim what the parts must not share."""
    tokens = line.tokens
    parted = [n for n, t in enumerate(tokens) if _PARTS & set(t.text.split())]
    if not parted or line.scene.inference or tells_how_it_lies(line, parted[0]):
        return
    for at in range(max(0, parted[0] - 3), min(len(tokens), parted[0] + _REACH)):
        words = tokens[at].text.split()
        if at > parted[0] and (tokens[at].text == ";" or set(words) & _OTHER_DEEDS):
            # "Split 80/20; report the error by customer".
            return
        denied = any(w in _DENIES for w in words_in(tokens[max(0, at - 2) : at]))
        if (words[-1] in ("by", "per") or words[0] == "by") and not denied and _is_group(line, at):
            line.readings.append(Reading("split_by", "group", parted[0], at, settled=True))
            return


def tells_how_it_lies(line: Line, at: int) -> bool:
    """Whether the word of a split at a place is about something else, or about how files lie in a folder."""
    before = words_in(line.tokens[max(0, at - 4) : at])
    if _OTHER_THINGS & set(before):
        # "The layers are split by device".
        return True
    # "The mails are split by month in data/".
    behind = words_in(line.tokens[at + 1 : at + 4])
    if _PIECES & set(behind) or "already" in words_in(line.tokens):
        # "Split the audio by speaker", "they are split by speaker already".
        return True
    is_so = bool(before) and before[-1] in _IS
    return is_so and not any(w.startswith(_SETS) for w in words_in(line.tokens))


def _is_group(line: Line, at: int) -> bool:
    following = [w for w in words_in(line.tokens[at : at + 4]) if w not in _SMALL]
    word = following[0].removesuffix("s") if following else ""
    return word in _ENTITIES and not (following[1:2] and following[1].startswith("zone"))

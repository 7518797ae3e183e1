"""Which part of a model stays as it is, in the wordings that no phrase has: "train only the new classifier"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import word_set

_HEADS = word_set("frozen", "heads")
_LAST = frozenset({"last", "final", "top", "output", "new"})
_LAYER = frozenset({"layer", "linear", "classifier", "fully", "fc"})
_ALL = word_set("frozen", "all")
_BUT = frozenset({"but", "except", "apart", "besides", "save", "other"})
_ONLY = frozenset({"only", "just", "alone", "solely", "nothing"})
_TRAINS = ("train", "tune", "fine", "updat", "learn", "optimi")
_FREEZES = ("freez", "frozen", "unfrozen", "unfreez")
_PARTS = {
    "backbone": word_set("frozen", "backbone"),
    "encoder": frozenset({"encoder", "encoders"}),
    "embeddings": frozenset({"embedding", "embeddings"}),
    "batchnorm": frozenset({"batchnorm", "bn", "batchnorms"}),
    "decoder": frozenset({"decoder"}),
}
_NEAR = 6


def frozen(line: Line) -> None:
    """Claim the part that is frozen."""
    if any(r.key == "freeze" for r in line.readings):
        return
    words = [(at, w) for at, t in enumerate(line.tokens) for w in t.text.split()]
    said = {w for _, w in words}
    freezes = [at for at, w in words if w.startswith(_FREEZES)]
    heads = [
        at
        for n, (at, w) in enumerate(words)
        if w in _HEADS or (w in _LAST and n + 1 < len(words) and words[n + 1][1] in _LAYER)
    ]
    if any(w.startswith("unfr") for w in said) and said & _ALL:
        _forbid(line, freezes[0])
        return
    if freezes and heads and said & _ALL and (said & _BUT or _only_trains(line, heads)):
        line.claim(Reading("freeze", "backbone", freezes[0], freezes[0]))
    elif heads and _only_trains(line, heads):
        line.claim(Reading("freeze", "backbone", heads[0], heads[0]))
    elif freezes:
        _part(line, freezes[0], words)


def _part(line: Line, at: int, words: list[tuple[int, str]]) -> None:
    """Claim the part that stands nearest to "freeze" or "frozen"."""
    near = sorted(
        (abs(place - at), value) for place, w in words for value, names in _PARTS.items() if w in names
    )
    if near and near[0][0] <= _NEAR and not line.tokens[at].claimed:
        line.claim(Reading("freeze", near[0][1], at, at))


def _only_trains(line: Line, heads: list[int]) -> bool:
    """Whether "only" and a verb of training stand with the head in one breath."""
    for head in heads:
        own = [
            w
            for n, t in enumerate(line.tokens)
            if t.segment == line.tokens[head].segment and abs(n - head) <= _NEAR
            for w in t.text.split()
        ]
        if set(own) & _ONLY and any(w.startswith(_TRAINS) for w in own):
            return True
    return False


def _forbid(line: Line, at: int) -> None:
    line.claim(Reading("freeze", "none", at, at, polarity="forbid", settled=True))

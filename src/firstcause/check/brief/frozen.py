"""Which part of a model stays as it is, in the wordings that no phrase has: "train only the new classifier"."""

from __future__ import annotations

from itertools import pairwise

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_HEADS = word_set("frozen", "heads")
_LAST = frozenset({"last", "final", "top", "output", "new"})
_LAYER = frozenset({"layer", "linear", "classifier", "fully", "fc"})
_ALL = word_set("frozen", "all")
_BUT = frozenset({"but", "except", "apart", "besides", "save", "other"})
_ONLY = frozenset({"only", "just", "alone", "solely", "nothing"})
_TRAINS = ("train", "tune", "fine", "updat", "learn", "optimi")
_FREEZES = ("freez", "frozen", "unfrozen", "unfreez")
_UNFREEZES = ("unfreez", "unfroz")
# Names of two words first: a text encoder is not the encoder.
_PAIRS = {
    ("text", "encoder"): "text_encoder",
    ("image", "encoder"): "vision_encoder",
    ("vision", "encoder"): "vision_encoder",
    ("vision", "tower"): "vision_encoder",
    ("image", "tower"): "vision_encoder",
    ("image", "side"): "vision_encoder",
    ("vision", "model"): "vision_encoder",
    ("text", "tower"): "text_encoder",
    ("text", "side"): "text_encoder",
    ("text", "model"): "text_encoder",
    ("visual", "encoder"): "vision_encoder",
    ("feature", "extractor"): "backbone",
    ("feature", "encoder"): "feature_encoder",
    ("word", "embeddings"): "embeddings",
    ("language", "model"): "language_model",
}
_PARTS = {
    "vae": frozenset({"vae", "autoencoder"}),
    "unet": frozenset({"unet"}),
    "backbone": word_set("frozen", "backbone"),
    "encoder": frozenset({"encoder", "encoders"}),
    "embeddings": frozenset({"embedding", "embeddings"}),
    "batchnorm": frozenset({"batchnorm", "bn", "batchnorms"}),
    "decoder": frozenset({"decoder"}),
}
_NORMS = frozenset({"batchnorm", "batchnorms", "bn"})
_NEAR = 7
# "Stays untouched", "is kept fixed", "leave it alone", "do not touch it".
_STAYS = word_set("frozen", "stays")
_AS_IT_IS = word_set("frozen", "as_it_is")
_OTHERWISE = frozenset({"architecture", "config", "code", "tokenizer", "script", "class", "api"})


def frozen(line: Line) -> None:
    """Claim the part that is frozen."""
    if _norms_in_eval(line):
        return
    said_already = [r for r in line.readings if r.key == "freeze"]
    for reading in said_already:
        # "The vision encoder frozen": the phrase has the encoder alone.
        before = line.words(reading.first - 1, reading.first)
        pair = (before[0], line.tokens[reading.first].text.split()[0]) if before else ("", "")
        reading.value = _PAIRS.get(pair, reading.value)
    if said_already:
        _joined(
            line,
            said_already[0],
            _parts([(at, w) for at, t in enumerate(line.tokens) for w in t.text.split()]),
        )
        return
    words = [(at, w) for at, t in enumerate(line.tokens) for w in t.text.split()]
    said = {w for _, w in words}
    if _thawed(line, words):
        return
    freezes = [at for at, w in words if w.startswith(_FREEZES)] or _left_as_it_is(line, words)
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


def _norms_in_eval(line: Line) -> bool:
    """Claim "the BatchNorm layers of the backbone remain in eval mode": their statistics stay as they are."""
    words = words_in(line.tokens)
    norms = next((n for n, t in enumerate(line.tokens) if set(t.text.split()) & _NORMS), -1)
    mode = any(a in ("eval", "evaluation") and b == "mode" for a, b in pairwise(words))
    if {"test", "inference", "evaluation"} & set(words):
        # "Remain in eval mode at test time" says nothing of the training.
        return False
    if norms < 0 or not mode or not (_STAYS & set(words)) or line.tokens[norms].claimed:
        return False
    line.claim(Reading("freeze", "batchnorm", norms, norms, settled=True))
    return True


def _thawed(line: Line, words: list[tuple[int, str]]) -> bool:
    """Whether a part is only said to be trained from some time on: "unfreeze the encoder after 3 epochs"."""
    thaws = [at for at, w in words if w.startswith(_UNFREEZES)]
    if not thaws or len(thaws) != sum(w.startswith(_FREEZES) for _, w in words):
        return False
    denied = any(t.has("not") for t in line.tokens[max(0, thaws[0] - 3) : thaws[0]])
    return not denied and not {w for _, w in words} & _ALL


def _part(line: Line, at: int, words: list[tuple[int, str]]) -> None:
    """Claim the part that stands nearest to "freeze" or "frozen", and what is joined to it by "and"."""
    named = _parts(words)
    near = sorted((abs(place - at), place, value) for place, value in named.items())
    if not near or near[0][0] > _NEAR or line.tokens[at].claimed:
        return
    reading = Reading("freeze", near[0][2], at, at)
    line.claim(reading)
    _joined(line, reading, named, near[0][1])


def _joined(line: Line, reading: Reading, named: dict[int, str], nearest: int = -1) -> None:
    """Add the part that is joined by "and" to the one that is frozen: "text encoder and VAE stay frozen"."""
    nearest = reading.first if nearest < 0 else nearest
    for place, other in named.items():
        between = line.words(min(place, nearest) + 1, max(place, nearest))
        joined = len(between) <= 3 and any(w in ("and", "&", "+") for w in between)
        if joined and other not in (reading.value, "backbone") and line.tokens[place].kind == "word":
            line.readings.append(
                Reading("freeze", other, reading.first, reading.last, settled=reading.settled)
            )
            return


def _parts(words: list[tuple[int, str]]) -> dict[int, str]:
    """The parts of a model by their places."""
    found: dict[int, str] = {}
    for n, (at, word) in enumerate(words):
        pair = (words[n - 1][1], word) if n else ("", word)
        value = _PAIRS.get(pair) or next((v for v, names in _PARTS.items() if word in names), "")
        if value:
            found[at] = value
    return found


def _left_as_it_is(line: Line, words: list[tuple[int, str]]) -> list[int]:
    """The place of "untouched" or "fixed" where a part of the model stays so."""
    if not line.scene.training:
        return []
    for n, (at, word) in enumerate(words):
        near = [(w, place) for place, w in words[max(0, n - _NEAR) : n + 4] if line.same_segment(place, at)]
        said = {w for w, _ in near}
        if word == "as" and line.words(at + 1, at + 2) in (["it is"], ["is"], ["they"]):
            # "Must stay as it is": a turn for other concerns, not for this one.
            earlier = words[max(0, n - _NEAR) : n]
            if {"stay", "stays", "remain", "remains", "leave", "left"} & {w for _, w in earlier} and _parts(
                earlier
            ):
                return [at]
        touched = word == "touch" and any(line.tokens[p].has("not") for _, p in near)
        dont_touch = word == "touch" and bool({"dont", "not", "never"} & said)
        as_it_is = word in _AS_IT_IS and bool(_STAYS & said) and not _OTHERWISE & said
        if word == "alone":
            # "The encoder alone is trained" trains it.
            as_it_is = bool({"leave", "left"} & said)
        extractor = word == "fixed" and "extractor" in said
        if word in _AS_IT_IS and n and words[n - 1][0] in _parts(words):
            # "Text encoder fixed, only the rest learns".
            ends = at + 1 >= len(line.tokens) or line.tokens[at + 1].kind == "break"
            as_it_is = as_it_is or (ends and word != "alone")
        if (touched or dont_touch or as_it_is or extractor) and _parts([(p, w) for w, p in near]):
            return [at]
    return []


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

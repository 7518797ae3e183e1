"""How often the weights are updated: "step the optimizer every 4 batches", "update after 32", "4 x 8 x 2 = 64"."""

from __future__ import annotations

import math

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import word_set

_UPDATES = word_set("updates", "updates")
_BATCHES = word_set("updates", "batches")
_SAMPLES = word_set("updates", "samples")
_FEW = word_set("updates", "few")
_IN_TOTAL = word_set("totals", "in_total")
_PARTS = frozenset({"batch_size", "gradient_accumulation", "num_gpus"})
_SEES = word_set("updates", "sees")
_THESE = frozenset({"these", "those", "them"})
_MICRO = ("micro batches", "microbatches", "sub batches", "subbatches")
_REACH = 6


def update_paces(line: Line) -> None:
    """Claim the batches, or samples, that go into one update."""
    for at, token in enumerate(line.tokens):
        for claim in (_paced, _product, _seen, _micro, _of_these, _for_an_update):
            if _counts(token) and not token.claimed:
                claim(line, at)


def summed_up(line: Line) -> None:
    """Claim the 32 in "4 per GPU on 8 GPUs, so 32 in total", once the batch is known."""
    if any(r.key == "num_gpus" for r in line.readings):
        _on_each(line)
    if not any(r.key == "batch_size" for r in line.readings):
        return
    for at, token in enumerate(line.tokens):
        if _counts(token) and not token.claimed:
            after = line.words(at + 1, at + 3)
            if (after[:1] and after[0] in _IN_TOTAL) or " ".join(after) in _IN_TOTAL:
                line.claim(Reading("effective_batch_size", whole(token.value), at, at))


def _on_each(line: Line) -> None:
    """Claim the 16 in "a total batch of 64 on 4 GPUs with 16 each"."""
    if not any(r.key == "effective_batch_size" for r in line.readings):
        return
    for at, token in enumerate(line.tokens):
        if _counts(token) and not token.claimed and line.words(at + 1, at + 2) == ["each"]:
            line.claim(Reading("batch_size", whole(token.value), at, at + 1, scope="per_device"))


def _counts(token: Token) -> bool:
    return token.kind == "number" and not token.unit and token.value == int(token.value) and token.value >= 2


def _paced(line: Line, at: int) -> None:
    """Claim a number of batches, or of samples, after "every" or "after" beside an update of the weights."""
    tokens = line.tokens
    if not at or not (tokens[at - 1].has("every") or tokens[at - 1].text in ("after", "from", "over")):
        return
    own = [t for t in tokens if t.segment == tokens[at].segment]
    if any(t.has(cue) for t in own for cue in ("save", "eval", "log")):
        return
    update = next(
        (
            n
            for n in range(max(0, at - _REACH), min(len(tokens), at + _REACH))
            if tokens[n].text in _UPDATES and tokens[n].segment == tokens[at].segment
        ),
        -1,
    )
    if update < 0:
        return
    noun = at + 1 if at + 1 < len(tokens) else at
    while noun + 1 < len(tokens) and tokens[noun].text in _FEW:
        noun += 1
    if tokens[noun].text in _BATCHES:
        key = "gradient_accumulation"
    elif tokens[noun].text in _SAMPLES or (
        tokens[at - 1].text == "after" and (noun == at or tokens[noun].kind == "break")
    ):
        key = "effective_batch_size"
    else:
        return
    places = {at, noun, update} if tokens[noun].kind != "break" else {at, update}
    line.claim(Reading(key, whole(tokens[at].value), min(places), max(places), settled=True), *places)


def _seen(line: Line, at: int) -> None:
    """Claim the 256 in "one optimizer step has to see 256 sequences"."""
    tokens = line.tokens
    nouns = tokens[at + 1 : at + 3]
    # "So an update sees 64": the number alone, right behind its verb.
    alone = (
        (not nouns or nouns[0].kind == "break") and at > 0 and bool(set(tokens[at - 1].text.split()) & _SEES)
    )
    if not alone and not any(t.has("data") or set(words_in([t])) & _SAMPLES for t in nouns):
        return
    before = tokens[max(0, at - _REACH - 1) : at]
    verb = next((n for n, t in enumerate(before) if set(t.text.split()) & _SEES), -1)
    if verb > 0 and any(t.text in _UPDATES - {"weights", "optimizer"} for t in before[:verb]):
        places = (at,) if alone else (at, at + 1)
        line.claim(Reading("effective_batch_size", whole(tokens[at].value), at, at, settled=True), *places)


def _of_these(line: Line, at: int) -> None:
    """Claim the two of "batch 16 and two of these accumulated"."""
    after = words_in(line.tokens[at + 1 : at + 5])
    if (
        after[:1] == ["of"]
        and after[1:2]
        and after[1] in _THESE
        and any(w.startswith("accumul") for w in after)
    ):
        line.claim(Reading("gradient_accumulation", whole(line.tokens[at].value), at, at, settled=True))


def _for_an_update(line: Line, at: int) -> None:
    """Claim the 256 in "64 images per card, i.e. 256 for an update"."""
    after = line.words(at + 1, at + 4)
    if after[:1] not in (["for"], ["in"], ["to"]) or after[1:2] not in (
        ["an"],
        ["one"],
        ["a"],
        ["each"],
        ["every"],
    ):
        return
    if after[2:] and after[2] in _UPDATES - {"weights", "optimizer", "step", "updates", "updated"}:
        line.claim(
            Reading("effective_batch_size", whole(line.tokens[at].value), at, at + 3, settled=True),
            *range(at, at + 4),
        )


def _micro(line: Line, at: int) -> None:
    """Claim the four of "four micro-batches of 16": what is added up to one update."""
    tokens = line.tokens
    noun = " ".join(words_in(tokens[at + 1 : at + 3])).replace("-", " ")
    if not noun.startswith(_MICRO) or any(t.has("every") for t in tokens[max(0, at - 2) : at]):
        return
    last = at + 1 + (tokens[at + 1].text in ("micro", "mini"))
    if tokens[min(last, len(tokens) - 1)].text.endswith(" of") or line.words(last + 1, last + 2) == ["of"]:
        line.claim(Reading("gradient_accumulation", whole(tokens[at].value), at, at, settled=True))


def _product(line: Line, at: int) -> None:
    """Claim the 64 in "4 per GPU x 8 GPUs x 2 steps = 64" where the factors agree."""
    tokens = line.tokens
    if at < 4 or tokens[at - 1].text not in ("=", "is", "makes", "gives"):
        return
    factors = [t.value for t in tokens[:at] if t.statement == tokens[at].statement and _counts(t)]
    crosses = sum(t.text in ("x", "*", "times") or t.unit == "x" for t in tokens[:at])
    batch = any(t.key in _PARTS for t in tokens)
    if batch and crosses and len(factors) in (2, 3) and math.prod(factors) == tokens[at].value:
        line.claim(Reading("effective_batch_size", whole(tokens[at].value), at, at, settled=True))

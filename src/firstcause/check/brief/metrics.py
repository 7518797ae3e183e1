"""By what the best is chosen: "keep the best by macro F1", "monitor val loss", "stop when dev loss does not improve"."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.counts import IMPROVES
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import word_set

_BEST = word_set("metrics", "best")
_BY = word_set("metrics", "by")
_KEEPS = word_set("metrics", "keeps")
_STOPS = word_set("metrics", "stops")
_WATCHES = frozenset({"early_stopping", "early_stopping_patience", "metric_for_best"})
_PICKS = word_set("metrics", "picks")
_RETURNS = word_set("metrics", "returns")
SUPERLATIVES = frozenset({"best", "lowest", "highest"})
_RETURNED = frozenset({
    "kept", "returned", "loaded", "saved", "restored", "stored", "reloaded", "back", "stays", "stay", "remains",
})  # fmt: skip
# "Return the best", "keep the lowest one": what is meant is a checkpoint.
_ONE = word_set("metrics", "one")
_WEIGHTS = (".pt", ".pth", ".ckpt", ".bin", ".safetensors")
_REACH = 5
_REMEMBERED = 8


def best_by(line: Line, heard: Sequence[Reading] = ()) -> None:
    """Claim the metric that chooses the checkpoint; ``heard`` may hold one that was only measured."""
    metrics = [(at, _metric(line, at)) for at in range(len(line.tokens)) if _metric(line, at)]
    for at, value in metrics:
        if _chooses(line, at) or "metric_for_best" in line.topic:
            # "Without improvement of the loss" denies the improvement.
            improves = any(
                _improves(t) for t in line.tokens[max(0, at - 4) : at + 8] if t is not line.tokens[at]
            )
            line.claim(Reading("metric_for_best", value, at, at, settled=improves))
            return
    _best_one(line, metrics, heard)


def note_metric(line: Line) -> None:
    """Keep a metric that is evaluated as told: "return the best one" in a later sentence refers to it."""
    found = {value: at for at in range(len(line.tokens)) if (value := _metric(line, at))}
    keys = {r.key for r in line.readings if not r.told and r.polarity == "require"}
    if len(found) == 1 and "eval_strategy" in keys and "metric_for_best" not in keys:
        [(value, at)] = found.items()
        line.readings.append(Reading("metric_for_best", value, at, at, told=True, settled=True))


def _best_one(line: Line, metrics: list[tuple[int, str]], heard: Sequence[Reading]) -> None:
    """Claim the metric in "kappa after each epoch, and return the best one"."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if token.text not in SUPERLATIVES or (at + 1 < len(tokens) and not _is_one(tokens[at + 1])):
            continue
        before_it = set(words_in(tokens[max(0, at - _REACH) : at]))
        after_it = set(words_in(tokens[at + 1 : at + _REACH]))
        if not before_it & _RETURNS and not after_it & _RETURNED:
            continue
        before = [(n, value) for n, value in metrics if n < at]
        if before and len({value for _, value in before}) == 1 and len(metrics) == len(before):
            line.claim(Reading("metric_for_best", before[0][1], before[0][0], before[0][0], settled=True))
        elif not metrics and (said := _measured(heard)):
            line.claim(Reading("metric_for_best", said, at, at, settled=True))
        return


def _is_one(token: Token) -> bool:
    return token.kind == "break" or token.text in _ONE or token.has("save")


def _measured(heard: Sequence[Reading]) -> str:
    """The metric that the sentences before evaluate and none chooses by, or nothing."""
    said = [r for r in heard[-_REMEMBERED:] if r.key == "metric_for_best"]
    return str(said[-1].value) if said and all(r.told and r.settled for r in said) else ""


def _improves(token: Token) -> bool:
    return token.text.startswith(IMPROVES) or token.text in ("gone", "goes")


def _metric(line: Line, at: int) -> str:
    token = line.tokens[at]
    if token.entry is None:
        return ""
    return next((value for key, value in token.entry.values if key == "metric"), "")


def _chooses(line: Line, at: int) -> bool:
    before = [w for t in line.words(at - 9, at) for w in t.split()]
    near = line.tokens[max(0, at - 9) : at + 9]
    kept = any(w in _KEEPS for w in words_in(near)) or any(
        t.kind == "path" and t.text.endswith(_WEIGHTS) for t in near
    )
    if any(w in _BEST for w in before) and kept:
        # "The best accuracy we got" is told; mood sees to that.
        return any(w in _BY for w in before[-5:])
    if {"checkpoint", "checkpoints", "model", "epoch", "selection"} & set(before) and _PICKS & set(before):
        return before[-1] in ("by", "on", "using", "with", "the", "dev", "validation")
    following = line.tokens[at + 1 : at + 8]
    after = words_in(following)
    if _PICKS & set(after) and {"best", "checkpoint", "model", "epoch"} & set(after) and "to" in after:
        return True
    if before[-1:] == ["by"] and {"lowest", "highest"} & set(after[:4]):
        # "By CER, lowest is best".
        return True
    improves = any(_improves(t) for t in (*following, *line.tokens[max(0, at - 4) : at]))
    if improves:
        return any(t.text in _STOPS for t in line.tokens)
    early = any(t.key in _WATCHES for t in line.tokens[max(0, at - 6) : at])
    return early and any(w in ("on", "by", "=", ":", "for", "monitoring", "best", "is") for w in before[-3:])

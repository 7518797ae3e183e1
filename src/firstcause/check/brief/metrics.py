"""By what the best is chosen: "keep the best by macro F1", "monitor val loss", "stop when dev loss does not improve"."""

from __future__ import annotations

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


def best_by(line: Line) -> None:
    """Claim the metric that chooses the checkpoint."""
    metrics = [(at, _metric(line, at)) for at in range(len(line.tokens)) if _metric(line, at)]
    if not metrics:
        return
    for at, value in metrics:
        if _chooses(line, at) or "metric_for_best" in line.topic:
            # "Without improvement of the loss" denies the improvement.
            improves = any(
                _improves(t) for t in line.tokens[max(0, at - 4) : at + 8] if t is not line.tokens[at]
            )
            line.claim(Reading("metric_for_best", value, at, at, settled=improves))
            return


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
    if any(w in _BEST for w in before) and any(w in _KEEPS for w in words_in(near)):
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

"""What is no wish although it names values: questions, the past, what others do, what is judged."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import word_set

_ASKS_FOR = tuple(sorted(word_set("told", "asks_for")))
_OPENERS = word_set("told", "openers")
_ONLY_ASKS = word_set("told", "only_asks")
_SPEAKS_OF_SELF = word_set("told", "speaks_of_self")
# A wish even where something is told before it in the same breath.
_SURELY = word_set("told", "surely")
_PAST = frozenset({"was", "were", "had been"})
# Who says it is not the user: "the finder suggested 1e-3".
_SAYS = _PAST | {
    "suggested",
    "suggests",
    "said",
    "says",
    "reported",
    "reports",
    "recommended",
    "recommends",
    "gave",
}
_CONSUMES = frozenset({"needs", "takes", "uses", "consumes", "required", "requires", "took"})
_ASKS_WHY = ("why ", "does ", "did ", "how come ", "should i ", "should we ", "is there ", "are there ")
# What one waits for: its condition is the wish itself.
_WAITED_FOR = frozenset(
    {"early_stopping", "early_stopping_patience", "metric_for_best", "save_strategy", "eval_strategy"}
)
_HARDWARE = frozenset({"gpu", "num_gpus", "gpu_memory_gb"})


def asks(line: Line) -> bool:
    """Whether a sentence only asks: "Is 64 better?", but not "Could you set the batch size to 8?"."""
    if line.sentence.proposes:
        return False
    words = [w for t in line.tokens[:14] for w in t.text.split() if t.kind == "word"]
    while words and words[0] in _OPENERS:
        words.pop(0)
    text = " ".join(words)
    if not line.sentence.asks:
        return text.startswith(_ASKS_WHY)
    return not text.startswith(_ASKS_FOR) or any(w in _ONLY_ASKS for w in words[:8])


def is_told(line: Line, reading: Reading) -> bool:
    """Whether what is said is past, reported or judged, by the words of its statement."""
    tokens = line.tokens
    statement, segment = tokens[reading.first].statement, tokens[reading.first].segment
    if reading.key not in _HARDWARE and _measures(line, reading):
        return True
    for at, token in enumerate(tokens):
        if token.statement != statement:
            continue
        if token.text in ("if", "when", "unless") and _in_condition(tokens, at, reading):
            return True
        if token.entry is None:
            continue
        if reading.first <= at <= reading.last:
            # "The seed was 1".
            if (
                token.text in _SAYS
                and not _wished(tokens, reading.first, segment)
                and not _wish_between(tokens, at, reading.last)
            ):
                return True
            continue
        near = token.segment == segment or (token.segment == segment - 1 and at < reading.first)
        judged = token.has("judged") and near and reading.key not in _HARDWARE
        if judged and not _wish_between(tokens, at, reading.first):
            return True
        if not token.has("told"):
            continue
        if at < reading.first:
            if not _wish_between(tokens, at, reading.first):
                return True
        elif token.segment == segment and not _wished(tokens, reading.first, segment):
            return True
    return False


def _in_condition(tokens: list[Token], at: int, reading: Reading) -> bool:
    """Whether a value is a part of a condition, as in "if bf16 is not possible use fp16"."""
    if (
        reading.key in _WAITED_FOR
        or not at < reading.first
        or tokens[at].segment != tokens[reading.first].segment
    ):
        return False
    return not any(t.has("wish") for t in tokens[at + 1 : reading.first])


def _measures(line: Line, reading: Reading) -> bool:
    """Whether the sentence says what a setting takes: "it needs 14 GB at batch size 8"."""
    return any(
        token.kind == "number" and token.unit == "gb" and any(w in _CONSUMES for w in line.words(at - 2, at))
        for at, token in enumerate(line.tokens)
        if token.statement == line.tokens[reading.first].statement
    )


def _wish_between(tokens: list[Token], first: int, last: int) -> bool:
    after = (t for t in tokens[last : last + 4] if t.segment == tokens[last].segment)
    return any(t.text in _SURELY for t in (*tokens[first + 1 : last], *after))


def _wished(tokens: list[Token], before: int, segment: int) -> bool:
    return any(t.text in _SPEAKS_OF_SELF and t.segment == segment for t in tokens[:before])

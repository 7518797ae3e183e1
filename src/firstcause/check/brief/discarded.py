"""What was talked about and not taken: "we discussed LoRA and decided against it"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_PHRASES = tuple(sorted(word_set("discarded", "phrases")))
_CONSIDERED = tuple(sorted(word_set("discarded", "considered")))
_SMALL = word_set("discarded", "small")
_FURTHEST = 10


def discarded(line: Line, reading: Reading) -> bool:
    """Whether a value was thought about, and the sentence goes straight on to say that it was decided against."""
    tokens = line.tokens
    before = words_in(t for t in tokens[: reading.first] if t.segment == tokens[reading.first].segment)
    if not any(" ".join(before[n : n + 3]).startswith(_CONSIDERED) for n in range(len(before))):
        return False
    for at in range(reading.last + 1, min(reading.last + _FURTHEST, len(tokens))):
        if " ".join(words_in(tokens[at : at + 4])).startswith(_PHRASES):
            return True
        if not tokens[at].gives(reading.key) and tokens[at].text not in _SMALL | {","}:
            return False
    return False

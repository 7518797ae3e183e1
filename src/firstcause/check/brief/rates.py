"""A rate that the sentence before speaks of: "The backbone wants a tenth of the learning rate. So 2e-4 in general"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line

# A topic of its own: it is no key, so that only numbers which are written as rates answer it.
RATE = "a rate"
_OPENS = frozenset({"so", "hence", "therefore", "thus", "that", "i", "then", "in"})


def rate_without_value(line: Line) -> tuple[str, ...]:
    """The topic that a sentence leaves open which speaks of the learning rate and gives none."""
    speaks = any(t.key == "learning_rate" and t.text not in ("rate", "rates") for t in line.tokens)
    valued = any(r.key == "learning_rate" for r in line.readings)
    return (RATE,) if speaks and not valued and not line.sentence.asks else ()


def follows_from_rate(line: Line, at: int) -> bool:
    """Whether a number is the first thing that a sentence names after one about the rate: "So 2e-4 in general"."""
    before = [w for t in line.tokens[:at] if t.kind == "word" for w in t.text.split()]
    if line.words(at + 1, at + 2) == ["of"]:
        return False
    return RATE in line.topic and set(before) <= _OPENS | {
        "take",
        "use",
        "it",
        "is",
        "means",
        "would",
        "be",
        "please",
    }

"""Values by another: "alpha twice the rank", "alpha = 2r", "the eval batch the same"."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_TIMES = {
    "twice": 2.0,
    "double": 2.0,
    "doubled": 2.0,
    "2r": 2.0,
    "2xr": 2.0,
    "same": 1.0,
    "equal": 1.0,
    "equals": 1.0,
    "half": 0.5,
    "triple": 3.0,
    "4r": 4.0,
}
_BASES = {"lora_alpha": "lora_r"}
_LINKS = word_set("relative", "links")


def relative_values(line: Line, known: Vocabulary, heard: Sequence[Reading]) -> None:
    """Claim keys whose value is a multiple of another's."""
    for at, token in enumerate(line.tokens):
        name = token.entry.named.key.name if token.entry is not None and token.entry.named is not None else ""
        if token.claimed or name not in _BASES:
            continue
        factor, place = _factor(line, at)
        base = next(
            (r for r in reversed([*heard, *line.readings]) if r.key == _BASES[name] and r.status == "active"),
            None,
        )
        if factor and base is not None and isinstance(base.value, (int, float)):
            line.claim(Reading(name, whole(base.value * factor), at, place))


def _factor(line: Line, at: int) -> tuple[float, int]:
    """The factor that follows a key and its place: "twice that", "2 x r"; 0 where none does."""
    for place in range(at + 1, min(at + 6, len(line.tokens))):
        token = line.tokens[place]
        if token.text in _TIMES:
            return _TIMES[token.text], place
        if token.kind == "number" and (
            token.unit == "x"
            or (
                place + 1 < len(line.tokens)
                and line.tokens[place + 1].text in ("times", "r", "x", "the rank")
            )
        ):
            token.claimed = True
            return token.value, place
        if token.text not in _LINKS:
            break
    return 0.0, at

"""Parameters that are left out of the weight decay: "no weight decay on biases and norms, 0.01 elsewhere"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.values import accepts, in_normal_form
from firstcause.check.brief.vocabulary import vocabulary, word_set

_PARAMETERS = ("bias", "norm", "layernorm", "batchnorm", "embedding", "scale", "gain", "1d")
_ELSEWHERE = word_set("exempt", "elsewhere")
_REACH = 5


def exempt_from_decay(line: Line) -> None:
    """Claim the decay of the others; that some have none does not rule the decay out."""
    tokens = line.tokens
    key = vocabulary().keys["weight_decay"]
    for at, token in enumerate(tokens):
        if token.key != "weight_decay" or token.claimed:
            continue
        denied = any(t.has("not") for t in tokens[max(0, at - 3) : at] if t.segment == token.segment)
        # "Weight decay 0 for biases and 0.1 for the rest".
        zero = next((n for n in range(at + 1, min(at + 4, len(tokens))) if _is_zero(tokens[n])), at)
        denied = denied or zero > at
        after = [t for t in tokens[zero + 1 : zero + _REACH] if t.segment == token.segment]
        before = [t for t in tokens[max(0, at - _REACH) : at] if t.segment == token.segment]
        linked = bool(after) and after[0].text in ("on", "for", "to", "in", "of")
        if not denied or not (_names_parameters(before) or (linked and _names_parameters(after))):
            continue
        token.claimed = tokens[zero].claimed = True
        for number in range(zero + 1, len(tokens)):
            beside = {w for t in tokens[max(at, number - 4) : number + 5] for w in t.text.split()}
            if tokens[number].kind == "number" and beside & _ELSEWHERE and accepts(key, tokens[number]):
                value = in_normal_form(key, tokens[number])
                line.claim(Reading("weight_decay", value, number, number, settled=True))
                break


def _is_zero(token: Token) -> bool:
    return token.kind == "number" and token.value == 0 and not token.claimed


def _names_parameters(tokens: list[Token]) -> bool:
    return any(w.startswith(_PARAMETERS) or w.endswith(("norm", "norms")) for w in words_in(tokens))

"""Tokens and keys that must not stand in the code: "our token is in HF_TOKEN, do not put it into the code"."""

from __future__ import annotations

import re

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import word_set

_VARIABLE = re.compile(
    r"\b[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:TOKEN|KEY|SECRET|PASSWORD|PAT|CREDENTIALS)\b|\b[A-Z]+_[A-Z_]*(?:TOKEN|KEY)[A-Z_]*\b"
)
_SECRET = word_set("secrets", "secret")
_KEEPS_OUT = word_set("secrets", "keeps_out")
_ENVIRONMENT = frozenset({"environment", "env", "environ", "variable"})


def name_secrets(line: Line, typed: str) -> None:
    """Claim the variable that holds a secret, or that a secret stays out of the code."""
    if not line.tokens:
        return
    match = _VARIABLE.search(typed, line.tokens[0].start, line.tokens[-1].end)
    if match:
        first = next(at for at, t in enumerate(line.tokens) if t.end > match.start())
        line.claim(Reading("secrets", match[0], first, first, settled=True))
        return
    texts = [t.text for t in line.tokens]
    at = next((n for n, t in enumerate(line.tokens) if t.text in _SECRET and t.kind == "word"), None)
    if at is None or not _SECRET & set(texts):
        return
    if any(t in _ENVIRONMENT for t in texts):
        line.claim(Reading("secrets", "env", at, at, settled=True))
    elif any(t.has("not") for t in line.tokens) and any(w in _KEEPS_OUT for t in texts for w in t.split()):
        line.claim(Reading("secrets", "none", at, at, polarity="forbid", settled=True))

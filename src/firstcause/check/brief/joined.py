"""Names of several parts: "deeplabv3_resnet50" is one model, and "best_resnet50" what is made of one."""

from __future__ import annotations

import re

from firstcause.check.brief.vocabulary import Vocabulary

# No file's: "train_resnet50.py" is none.
_JOINED = re.compile(r"[a-z][a-z\d]{0,40}(?:_[a-z\d]{1,40}){1,6}(?![\w/])(?!\.[a-z])")
_MADE_OF_MODELS = frozenset({"best", "final", "last", "my", "new", "old", "test", "train", "use"})


def joined_name(text: str, at: int, end: int, known: Vocabulary) -> tuple[str, str] | None:
    """The kind ("model", or "word" for what is made of one) and the name that begin here, whose later parts are a model's."""
    match = _JOINED.match(text, at, end)
    if match is None or known.models.match(text, at, end):
        return None
    parts = match[0].split("_")
    tails = ("_".join(parts[n:m]) for n in range(1, len(parts)) for m in range(n + 1, len(parts) + 1))
    if not any(known.models.fullmatch(tail) for tail in tails):
        return None
    made = parts[0] in known.folders or parts[0] in _MADE_OF_MODELS
    return "word" if made else "model", match[0]

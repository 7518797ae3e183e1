"""The tools that a program is built on where they are named as such: "framework: PyTorch", "sentence-transformers 5.x"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import word_set

_LABELS = word_set("stacks", "labels")
_BEFORE = word_set("stacks", "before")
_PLURAL = frozenset({"model", "models", "checkpoint", "checkpoints", "family", "embeddings"})
_TORCH = frozenset({"pytorch", "torch"})


def named_stack(line: Line) -> None:
    """Claim PyTorch where a label says that it is the framework, or where it is to be the only one."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if token.text not in _TORCH or token.claimed or token.entry is not None:
            continue
        label = at - 1 - (at > 1 and tokens[at - 1].text in (":", "=", "is"))
        labelled = at > 0 and tokens[label].text in _LABELS
        after = line.words(at + 1, at + 3)
        only = after[:1] == ["only"] or (after[1:] == ["only"] and tokens[at + 1].gives("distributed"))
        if labelled or only:
            line.claim(Reading("framework", "pytorch", at, at))


def names_library(line: Line, at: int) -> bool:
    """Whether "sentence transformers" is the library and no kind of model: "with sentence-transformers 5"."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is not None and after.text in _PLURAL:
        return False
    if at == 0 or line.tokens[at - 1].kind in ("break", "join"):
        return True
    before = line.tokens[at - 1]
    return before.text in _BEFORE or before.has("not") or before.has("not_needed")

"""The tools that a program is built on where they are named as such: "framework: PyTorch", "sentence-transformers 5.x"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_LABELS = word_set("stacks", "labels")
_BEFORE = word_set("stacks", "before")
_PLURAL = frozenset({"model", "models", "checkpoint", "checkpoints", "family", "embeddings"})
_LINKS = frozenset({",", "with", "and", "please", "(", "but"})
_OTHERS = word_set("stacks", "others")
_SORTS_OF = word_set("stacks", "sorts_of")
_REACH = 6
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
        if labelled or only or _alone(line, at):
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


def _alone(line: Line, at: int) -> bool:
    """Whether PyTorch is to be without others: "without frameworks", "and nothing else", "no Lightning or Trainer"."""
    tokens = line.tokens
    if any(r.key == "framework" and not _is_denied(line, r) for r in line.readings):
        return False
    if at and tokens[at - 1].text == "nothing but":
        return True
    following = tokens[at + 1 : at + 1 + _REACH]
    words = words_in(following)
    if words[:1] in (["alone"], ["itself"]) or words[:3] == ["and", "nothing", "else"]:
        return True
    while following and following[0].text in _LINKS:
        following = following[1:]
    if not following or not (following[0].has("not") or following[0].text.startswith(("without", "no "))):
        return False
    for token in following[1:]:
        if token.text in _OTHERS or token.gives("framework"):
            return True
        if token.kind == "break" or token.text not in _SORTS_OF:
            return False
    return False


def _is_denied(line: Line, reading: Reading) -> bool:
    """Whether a tool stands after a negation: "no Lightning"."""
    return any(t.has("not") for t in line.tokens[max(0, reading.first - _REACH) : reading.first])

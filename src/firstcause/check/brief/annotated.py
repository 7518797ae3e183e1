"""Settings with remarks beside them: in "batch: 1024  # the GPU idles at that, take 8192" the remark is about the batch."""

from __future__ import annotations

import re

# A name and its value, then a remark; two such lines at least, or a heading with a hash would be taken for one.
_LINE = re.compile(r"^[ \t]*[-\w. ]{1,40}?[ \t]*[:=][ \t]*[^\s#][^#\n]*?[ \t](#)[ \t]*\S", re.MULTILINE)
_LEAST = 2
# What a remark begins with, or says, that puts another value in the place of the one beside it.
_CHANGES = re.compile(
    r"\s*(?:[-\d.]+(?:e-?\d+)?\s*(?:[,;.]|$|(?:is|are)\b|please)|(?!fine|fixed|okay|good|default|same|unchanged)[a-z]\w{2,12}\s*$)"
    r"|.*(?:->|→|\b(?:take|use|make it|should be|is enough|are enough|too (?:high|low|large|small|big|slow|jumpy))\b)",
    re.IGNORECASE,
)


def divided(text: str) -> tuple[str, frozenset[int]]:
    """The text with a full stop before each remark, as long as it was, and the rows that have one (from 0)."""
    found = [m for m in _LINE.finditer(text) if _CHANGES.match(_remark(text, m.end(1)))]
    every = sum(1 for _ in _LINE.finditer(text))
    if every < _LEAST:
        return text, frozenset()
    chars = list(text)
    for match in found:
        chars[match.start(1)] = "."
    return "".join(chars), frozenset(text.count("\n", 0, m.start(1)) for m in found)


def _remark(text: str, at: int) -> str:
    end = text.find("\n", at)
    return text[at : end if end >= 0 else len(text)]

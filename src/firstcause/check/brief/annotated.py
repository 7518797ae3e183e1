"""Settings with remarks beside them: in "batch: 1024  # the GPU idles at that, take 8192" the remark is about the batch."""

from __future__ import annotations

import re

# A name and its value, then a remark; two such lines at least, or a heading with a hash would be taken for one.
_LINE = re.compile(r"^[ \t]*[-\w. ]{1,40}?[ \t]*[:=][ \t]*[^\s#][^#\n]*?[ \t](#)[ \t]*\S", re.MULTILINE)
_LEAST = 2


def divided(text: str) -> tuple[str, frozenset[int]]:
    """The text with a full stop before each remark, as long as it was, and the rows that have one (from 0)."""
    found = list(_LINE.finditer(text))
    if len(found) < _LEAST:
        return text, frozenset()
    chars = list(text)
    for match in found:
        chars[match.start(1)] = "."
    return "".join(chars), frozenset(text.count("\n", 0, m.start(1)) for m in found)

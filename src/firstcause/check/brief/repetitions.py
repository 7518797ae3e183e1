"""A number that is said once more in full: "16k (16384 tokens)"."""

from __future__ import annotations

import re

_AGAIN = re.compile(
    r"\b(\d{1,4}) ?k\b[^.()\n]{0,12}(\( ?(\d{1,3}[, ]?\d{3}|\d{4,7})(?: [a-z]+)? ?\))", re.IGNORECASE
)
_KILO = (1000, 1024)


def said_once(text: str) -> str:
    """The text with what is said again blanked, as long as it was."""

    def blank(match: re.Match[str]) -> str:
        full = int(re.sub(r"[, ]", "", match[3]))
        if not any(full == k * int(match[1]) for k in _KILO):
            return match[0]
        start = match.start(2) - match.start()
        return match[0][:start] + " " * len(match[2])

    return _AGAIN.sub(blank, text)

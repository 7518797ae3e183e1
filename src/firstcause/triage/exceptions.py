"""Lines that name an exception, by themselves or in the middle of a sentence."""

from __future__ import annotations

import re

from firstcause.triage.expressions import expression

WIDEST = 4000

_ENDINGS = ("Error", "Exception", "Interrupt", "Exit", "Failure", "Timeout", "Warning", "NotFound")
# After a traceback, whatever stands there is the exception, however it is called.
_ANY = expression(r"([A-Za-z_][\w.]{0,200}?)(?:: ?(.*)|\s*)$")
_NAMED = expression(r"([A-Za-z_][\w.]{0,200}): ?(.*)$|([A-Za-z_][\w.]{0,200})\s*$")
_WORD = expression(
    r"(?<![\w.])(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}?(?:Error|Exception|Interrupt)(?![\w.]*\w)"
)
_NO_EXCEPTIONS = {"Error", "Exception", "Warning", "CUDA error", "Failure", "Timeout", "Exit"}


def exception_in(line: str, after_frames: bool) -> tuple[str, str] | None:
    """The type and message that a whole line states; ``after_frames`` where a traceback leads to it."""
    text = line.rstrip().removesuffix("```").rstrip()[:WIDEST]
    if after_frames:
        match = _ANY.match(text)
        return (match[1], match[2] or "") if match and _is_type(match[1]) else None
    match = _NAMED.match(text)
    if match is None:
        return None
    name, message = (match[1], match[2]) if match[1] else (match[3], "")
    last = name.rsplit(".", 1)[-1]
    if not last[:1].isupper() or not last.endswith(_ENDINGS) or name.endswith("Warning"):
        return None
    return (name, message) if name not in _NO_EXCEPTIONS or message else None


def _is_type(name: str) -> bool:
    last = name.rsplit(".", 1)[-1]
    return last[:1].isupper() or last.endswith(("Error", "_error", "error")) or "." in name


def exceptions_within(text: str) -> list[tuple[str, str]]:
    """Types named in the middle of a line, each with the words behind its colon, if any."""
    found = []
    for match in _WORD.finditer(text[:WIDEST]):
        rest = text[match.end() : match.end() + WIDEST]
        message = ""
        if rest.startswith(":"):
            quote = text[match.start() - 1] if match.start() else ""
            message = rest[1:].strip()
            if quote in "'\"`" and quote and quote in message:
                # Quoted in a sentence: it ends with the quote, which may not be one inside of a word.
                message = re.split(rf"{re.escape(quote)}(?!\w)", message, maxsplit=1)[0]
        found.append((match[0], message))
    return found

"""Phrases of the vocabulary among the tokens: several words become one token, the longest first."""

from __future__ import annotations

from firstcause.check.brief.tokens import Token
from firstcause.check.brief.vocabulary import Entry, Vocabulary


def merged(tokens: list[Token], known: Vocabulary) -> list[Token]:
    """The tokens with phrases of the vocabulary made one, the longest first."""
    result: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        phrase = _phrase(tokens, at, known) if token.kind in ("word", "number") else None
        if phrase is None:
            if token.kind == "number" and token.spelled and token.text in ("a", "an"):
                token.kind = "word"
            result.append(token)
            at += 1
            continue
        length, entry = phrase
        last = tokens[at + length - 1]
        result.append(
            Token(
                "word", " ".join(t.text for t in tokens[at : at + length]), token.start, last.end, entry=entry
            )
        )
        at += length
    return result


def _phrase(tokens: list[Token], at: int, known: Vocabulary) -> tuple[int, Entry] | None:
    for length in known.lengths.get(tokens[at].text, ()):
        part = tokens[at : at + length]
        entry = known.phrases.get(tuple(t.text for t in part))
        plain = all(t.kind in ("word", "number") or t.text == "&" for t in part)
        if entry is not None and len(part) == length and plain:
            return length, entry
    return None

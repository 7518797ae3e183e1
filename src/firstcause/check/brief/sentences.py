"""Messages cut into sentences, and sentences into segments and statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from firstcause.check.brief.normal import normal
from firstcause.check.brief.phrases import merged
from firstcause.check.brief.repetitions import said_once
from firstcause.check.brief.schemas import without_schemas
from firstcause.check.brief.stubs import wished_in_comments, with_comments_alone
from firstcause.check.brief.tokens import Token, tokens_of
from firstcause.check.brief.vocabulary import Vocabulary, word_set

# Words that may stand before a wish: "oh well, please also use".
LEADING = frozenset({"we", "i", "you", "please", "then", "just", "also", "oh", "well", "ok"})
# A sentence without an end is cut, so that what is looked for in it stays bounded.
LONGEST = 120
# A line this long without an end is wrapped by an editor, not finished.
_WRAPPED = 60
# A line of settings: "batch: 1024".
_SETTING = re.compile(r"\s*[\w-]{1,30} ?[:=] ?\S")
_BULLET = re.compile(r"\s*(?:[-*+•]\s|\d{1,2}[.)]\s|#{1,6}\s|\|)")
_FENCE = re.compile(r"^[ \t]*(```|~~~)([^\n]*)\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_SETTINGS = word_set("sentences", "settings")
_CODE = re.compile(r"^\s*(?:import |from \w+ import|def |class |Traceback|>>> |\w+ = \w+\()", re.MULTILINE)


@dataclass
class Sentence:
    """A sentence: its text as typed, the line where it begins, its tokens, and whether it asks something."""

    text: str
    line: int
    tokens: list[Token] = field(default_factory=list)
    asks: bool = False
    # Said by the assistant: a question of its own proposes what it names.
    proposes: bool = False


def sentences(text: str, known: Vocabulary, line: int = 1, schemas: bool = True) -> Iterator[Sentence]:
    """The sentences of a text in order; code in fences is left out, settings in fences are read.

    Where ``schemas`` is false, samples of JSON are left out as well.
    """
    content = _without_code(text)
    content = content if schemas else without_schemas(content, known)
    plain = said_once(normal(content))
    starts = [0, *(m.end() for m in re.finditer("\n", plain))]
    row = 0
    current: list[Token] = []
    for token in tokens_of(plain, known):
        while row + 1 < len(starts) and starts[row + 1] <= token.start:
            row += 1
        if token.kind == "newline":
            if not _continues(plain, token.start):
                yield from _sentence(text, current, line, starts, known, False)
                current = []
            continue
        if token.kind == "end":
            yield from _sentence(text, current, line, starts, known, token.text == "?")
            current = []
            continue
        current.append(token)
        if len(current) >= LONGEST:
            yield from _sentence(text, current, line, starts, known, False)
            current = []
    yield from _sentence(text, current, line, starts, known, False)


def _without_code(text: str) -> str:
    """The text with code blanked, as long as it was."""

    def blank(match: re.Match[str]) -> str:
        settings = match[2].strip().lower() in _SETTINGS and not _CODE.search(match[3])
        whole = match[0]
        lines = [line for line in match[3].splitlines() if line.strip()]
        if lines and all(line.lstrip().startswith("#") for line in lines):
            # A stub that holds nothing but what is wished: "# lr 5e-7, cosine".
            return re.sub(
                r"```[^\n]*|~~~[^\n]*|^[ \t]*#+", lambda m: " " * len(m[0]), whole, flags=re.MULTILINE
            )
        if wished_in_comments(text, lines):
            return with_comments_alone(whole)
        if settings:
            return re.sub(r"```[^\n]*|~~~[^\n]*", lambda m: " " * len(m[0]), whole)
        return re.sub(r"[^\n]", " ", whole)

    return _FENCE.sub(blank, text) if "```" in text or "~~~" in text else text


def _continues(text: str, at: int) -> bool:
    """Whether the line that ends here goes on in the next."""
    begin = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at + 1)
    here, following = text[begin:at], text[at + 1 : end if end >= 0 else len(text)]
    if not following.strip() or not here.strip():
        return False
    if _SETTING.match(here) and _SETTING.match(following):
        return False
    bullet = _BULLET.match(following)
    # A wrapped line may begin with a number: "accumulate / 8. bf16".
    if bullet and not (
        following.lstrip()[0].isdigit() and here.rstrip()[-1] not in ".:;!?" and not _BULLET.match(here)
    ):
        return False
    if here.rstrip().endswith((",", "and", "or", "with", "the", "of")):
        return True
    return len(here) >= _WRAPPED or following.startswith("  ")


def _sentence(
    text: str, tokens: list[Token], line: int, starts: list[int], known: Vocabulary, asks: bool
) -> Iterator[Sentence]:
    if not tokens:
        return
    begin = tokens[0].start
    row = sum(1 for s in starts if s <= begin) - 1 if len(starts) < 50 else _row(starts, begin)
    result = Sentence(" ".join(text[begin : tokens[-1].end].split()), line + row, merged(tokens, known), asks)
    _divide(result.tokens)
    yield result


def _row(starts: list[int], at: int) -> int:
    import bisect

    return bisect.bisect_right(starts, at) - 1


_TURNS = word_set("sentences", "turns")


def _divide(tokens: list[Token]) -> None:
    """Number the segments (between commas and the like) and the statements (between wishes and turns)."""
    segment = statement = 0
    depth = 0
    fresh = True
    for at, token in enumerate(tokens):
        if token.kind == "break":
            segment += 1
            depth += (token.text in "([{") - (token.text in ")]}")
            fresh = token.text in ",;:—" and depth == 0
            if token.text in ";—" and depth == 0:
                statement += 1
        elif token.kind == "word" and token.text in _TURNS:
            segment += 1
            if token.text != "as":
                statement += 1
            fresh = True
        elif token.kind == "word" and token.text in ("and", "also", "plus") and _wishes(tokens, at + 1):
            segment += 1
            statement += 1
        elif fresh and _wishes(tokens, at) and at:
            statement += 1
            fresh = False
        elif token.kind != "word" or token.text not in LEADING:
            fresh = False
        token.segment, token.statement = segment, statement


def _wishes(tokens: list[Token], at: int) -> bool:
    for token in tokens[at : at + 3]:
        if token.kind != "word":
            return False
        if token.has("wish"):
            return True
        if token.text not in LEADING | {"and", "will", "to"}:
            return False
    return False

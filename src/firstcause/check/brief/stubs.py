"""A stub in a fence whose comments are the wishes: "finish it, what I want stands in the comments"."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SAYS_SO = re.compile(
    r"\b(?:in|as|from|read|follow|see|per|by) (?:the|its|my|those|these) comments?\b"
    r"(?! (?:in|on|of|under|from) (?:the |my |your |that |our )?(?:pr|pull|review|issue|ticket|thread|doc|mail|page))"
    r"|\b(?:stub|skeleton)\b|"
    r"\bcomments? (?:in it |there |below |above )?(?:say|tell|state|describe|list|hold|are what)s?\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"[ \t]*#+(?!!)")
# What a shell or an interpreter printed.
_NO_STUB = re.compile(r"[ \t]*(?:Traceback|>>>|\$ |diff |@@)")
_LEAST = 2
# A comment this long goes on in the next line, unless that begins anew: "Adam, lr 1e-4", "batch: 128".
_WRAPPED = 60
_ANEW = re.compile(r"[ \t]*#+[ \t]*(?:[A-Z]|[\w -]{1,30}[:=])")
_GOES_ON = (",", "and", "or", "with", "the", "of", "(")


def wished_in_comments(text: str, lines: Sequence[str]) -> bool:
    """Whether the text beside a fence with code says that its comments hold what is wanted."""
    if any(_NO_STUB.match(line) for line in lines):
        return False
    comments = sum(bool(_COMMENT.match(line)) for line in lines)
    return comments >= _LEAST and bool(_SAYS_SO.search(re.sub(r"(?ms)^[ \t]*```.*?^[ \t]*```", "", text)))


def with_comments_alone(fence: str) -> str:
    """The fence with its code blanked, as long as it was; each comment begins a sentence unless it is a wrapped one."""
    kept: list[str] = []
    before = ""
    for line in fence.split("\n"):
        mark = _COMMENT.match(line)
        if mark is None:
            kept.append(" " * len(line))
            before = ""
            continue
        goes_on = len(before) >= _WRAPPED and not _ANEW.match(line)
        goes_on = goes_on or before.rstrip().endswith(_GOES_ON)
        first = " " if goes_on or not before else "."
        kept.append(first * bool(mark[0]) + " " * (len(mark[0]) - 1) + line[mark.end() :])
        before = line
    return "\n".join(kept)

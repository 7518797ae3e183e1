"""A transcript as messages: who speaks, from which line; a text without speakers is one message of the user."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from firstcause.check.brief.speakers import ASSISTANT, Mark, is_assistant, opening, stamped

_USER = r"user|human|me|you|client|customer|requester|author|asker|op|q|question"
_SPEAKER = re.compile(
    rf"^[ \t>]*(?:[*_#]{{1,4}} ?)?\[?(?P<who>{_USER}|{ASSISTANT}|system)\]?(?: ?[(\[][^)\]\n]{{0,40}}[)\]])?"
    r"(?:[*_]{0,2} ?: ?[*_]{0,2}|[*_]{1,2}(?=\s)|(?<=\))[*_]{1,2}(?=\s)|[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
# The head of a mail in a thread; each mail is a message.
_MAIL = re.compile(r"^From: [^\n]*\n(?:(?:Subject|To|Cc|Date|Sent): [^\n]*\n)*", re.MULTILINE)
# A chat that is pasted as a quotation has the mark of one before each of its lines.
_QUOTED = re.compile(r"^[ \t]*>(?:[ \t]?>)*(?=[ \t]|$)", re.MULTILINE)
_IS_ASSISTANT = re.compile(rf"(?:{ASSISTANT})\Z", re.IGNORECASE)
_ROLE_ALONE = re.compile(r"user|human|assistant", re.IGNORECASE)


@dataclass(frozen=True)
class Turn:
    """A message: its text, whether the assistant speaks, its number from 1, and its first line in the text, from 0."""

    text: str
    assistant: bool = False
    number: int = 1
    line: int = 0


def turns(content: str) -> list[Turn]:
    """The messages of a text in order."""
    from_json = _json_turns(content)
    if from_json:
        return from_json
    content = _unquoted(content)
    mails = list(_MAIL.finditer(content))
    if len(mails) > 1 and not content[: mails[0].start()].strip():
        ends = [*(m.start() for m in mails[1:]), len(content)]
        rows = _rows(content, [m.end() for m in mails])
        return [
            Turn(content[m.end() : end], False, n, row)
            for n, (m, end, row) in enumerate(zip(mails, ends, rows, strict=True), 1)
        ]
    marks = _marks(content)
    if not marks:
        return [Turn(content)]
    result = []
    preface = content[: marks[0].start]
    if preface.strip():
        result.append(Turn(preface))
    for at, (mark, row) in enumerate(zip(marks, _rows(content, [m.end for m in marks]), strict=True)):
        end = marks[at + 1].start if at + 1 < len(marks) else len(content)
        if mark.who.lower() == "system":
            continue
        assistant = bool(_IS_ASSISTANT.match(mark.who)) or is_assistant(mark.who)
        result.append(Turn(content[mark.end : end], assistant, len(result) + 1, row))
    return result


def _unquoted(content: str) -> str:
    """The text without the marks of a quotation, where each of its lines is quoted; places stay as they are."""
    lines = [line for line in content.splitlines() if line.strip()]
    if not lines or not all(_QUOTED.match(line) for line in lines):
        return content
    return _QUOTED.sub(lambda mark: " " * len(mark[0]), content)


def _marks(content: str) -> list[Mark]:
    """Where the speakers begin to speak, in order; nothing where the text is no conversation."""
    roles = [Mark(m.start(), m.end(), m["who"]) for m in _SPEAKER.finditer(content)]
    timed = stamped(content)
    if timed:
        places = {mark.start for mark in timed}
        others = [mark for mark in roles if mark.start not in places]
        return sorted([*timed, *others], key=lambda mark: mark.start)
    # One such word at a line's start may be a heading; both sides, or the word "user", make a conversation.
    sides = {bool(_IS_ASSISTANT.match(mark.who)) for mark in roles}
    named = [] if False in sides else opening(content, roles)
    if named:
        return sorted([*roles, *named], key=lambda mark: mark.start)
    if not roles:
        return []
    plain = sum(bool(_ROLE_ALONE.fullmatch(mark.who)) for mark in roles)
    if (len(sides) < 2 and not plain) or (len(roles) < 2 and content[: roles[0].start].strip()):
        return []
    return roles


def _rows(content: str, ends: Sequence[int]) -> Iterator[int]:
    """How many lines end before each place; every line is counted once."""
    row = last = 0
    for end in ends:
        row += content.count("\n", last, end)
        last = end
        yield row


def _json_turns(content: str) -> list[Turn]:
    """A list of {"role", "content"}, or an object that holds one under "messages"."""
    if content.lstrip()[:1] not in ("[", "{"):
        return []
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, dict):
        value = value.get("messages")
    if not isinstance(value, list):
        return []
    result: list[Turn] = []
    for entry in value:
        if (
            isinstance(entry, dict)
            and isinstance(entry.get("content"), str)
            and entry.get("role") in ("user", "assistant")
        ):
            result.append(Turn(entry["content"], entry["role"] == "assistant", len(result) + 1))
    return result

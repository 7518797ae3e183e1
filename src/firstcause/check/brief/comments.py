"""Comments in code, configuration and requirement files: those that state a wish, and those that give a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from firstcause.check.brief.text import Text

_WISH = re.compile(
    r"\b(?:notes? from|please|spec(?:ification)?s?\b ?:|must\b|todo ?\(?(?:user|me|you|claude|assistant)|as requested by|"
    r"requirements? ?:|requested ?:|user (?:wants|asked|said|needs)|client (?:wants|asked|said)|customer (?:wants|asked)|"
    r"(?:we|i) (?:want|need) |wanted ?:|per (?:the )?(?:brief|spec)|brief ?:|asked for ?:|"
    r"do(?: not|n't) (?:use|change))",
    re.IGNORECASE,
)
# Of a comment in code, only what says whose wish it is: "must" and "we need" are the author's talk about the code.
_ASKER = re.compile(
    r"\b(?:(?:the )?(?:user|client|customer|boss|supervisor|reviewer|advisor|pi|product|team lead) "
    r"(?:wants?|asks?|asked|says?|said|needs?|requires?|requested)\b|as requested by|requested by|"
    r"notes? from (?:the )?(?:user|client|customer|boss|supervisor|reviewer|advisor|meeting)|"
    r"(?<![/\w])(?:requirements?|requested|wanted|asked for|brief|spec(?:ification)?) ?:(?!//)|"
    r"(?:per|according to) the (?:brief|spec(?:ification)?)\b|todo ?\(?(?:user|claude|assistant)\b)",
    re.IGNORECASE,
)
# A heading over a list of them.
_HEADING = re.compile(
    r"^[ \t#]*(?:(?:my|our|the) )?(?:wanted|wish(?:es)?|wish ?list|requirements?|what (?:i|we) (?:want|need)|asked for|"
    r"the task)(?: (?:from|by) [\w.-]{1,20})?(?: ?\([^()\n]{1,40}\))? ?:?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_TO_WRITE = re.compile(
    r"^[ \t\"\']*(?:todo\b.*|please (?:write|implement|complete|fill).*|wanted|requirements?|"
    r"what (?:i|we) (?:want|need)) ?:[ \t]*$",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|otherwise|since|so that|do(?:es)? ?n[o']t fit|do(?:es)? not fit|would|to keep|to avoid|nans?|oom|"
    r"out of memory|deviat\w+|justif\w+|instead of the requested|too (?:large|big|slow|small)|not enough|cannot|can't|"
    r"unstable|diverge\w*|reason)\b",
    re.IGNORECASE,
)
# The lines of a file that are its top, and how many lines make a list.
TOP, LEAST_WISHES = 3, 4
_MARK = re.compile(r"^[ \t]*#+ ?", re.MULTILINE)


def speaks_for_user(comment: str) -> bool:
    """Whether a comment states what the user wants."""
    return bool(_WISH.search(comment) or _HEADING.search(comment)) and not re.search(
        r"\bdeviation\b", comment, re.IGNORECASE
    )


def names_asker(comment: str) -> bool:
    """Whether a comment in code says that somebody asked for what follows."""
    return bool(_ASKER.search(comment) or _HEADING.search(comment)) and not re.search(
        r"\bdeviation\b", comment, re.IGNORECASE
    )


def points_to_code(brief: str) -> bool:
    """Whether a brief says that what is wanted stands in the code's own comments."""
    return (
        re.search(r"\b(?:docstrings?|comments?|(?:at|on) (?:its|the) top)\b", brief, re.IGNORECASE)
        is not None
    )


def lists_wishes(block: Sequence[str], first: int) -> bool:
    """Whether a block of comments at the top of a file is a list of what is to be done, under a TODO."""
    head = block[0].lstrip("# \t").upper() if block else ""
    return first <= TOP and head.startswith("TODO") and len(block) >= LEAST_WISHES


def asks_to_write(line: str) -> bool:
    """Whether a line of a docstring opens a list of what is to be written: "TODO please write:", "Requirements:"."""
    return bool(_TO_WRITE.search(line) or _HEADING.search(line.rstrip(":")))


def is_reason(comment: str) -> bool:
    """Whether a comment of the code's author explains a choice."""
    return bool(_REASON.search(comment)) and not speaks_for_user(comment)


def wishes(text: Text) -> Iterator[Text]:
    """The part of a comment, or of a requirement file's comments, that speaks for the user; nothing where none does."""
    if text.kind == "requirements":
        for number, line in enumerate(text.content.splitlines()):
            if "#" in line:
                yield Text(line.split("#", 1)[1].strip(), text.origin, "requirements", text.line + number)
    elif speaks_for_user(text.content):
        yield Text(_MARK.sub("", text.content), text.origin, text.kind, text.line)

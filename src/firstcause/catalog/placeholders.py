"""Messages with placeholders: the literal that a scan looks for, and the bounded expression that then decides."""

from __future__ import annotations

import re

# Every repetition is bounded, so that no text, however made, makes a match slow.
_BUILTIN = (
    "NoneType|dict|list|tuple|set|str|bytes|int|float|bool|function|method|module|generator|type|coroutine"
)
# CUDA errors that have patterns of their own, or say nothing of an assertion.
_CUDA = (
    "an illegal|misaligned|unspecified launch|out of memory|no kernel|invalid|initialization|uncorrectable|hardware|"
    "operation|CUBLAS|no CUDA|system|CUDA driver|the provided|unknown|forward|too many|all CUDA|peer|device kernel|driver"
)
KINDS = {
    "int": r"-?\d{1,20}",
    "float": r"-?(?:\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,4})?|nan|inf)",
    "size": r"\d{1,20}(?:\.\d{1,10})? ?(?:bytes|[KMGTE]i?B)",
    "shape": r"\[[-\d, *]{0,120}\]",
    "dtype": r"[\w.:]{1,60}(?: [\w.:]{1,30})?",
    # As C++ or Python names it, and as the classes of old do, in which a device is part of the name.
    "scalar": r"(?!torch\.(?:cuda\.)?[A-Z])[\w.:]{1,60}(?: [\w.:]{1,30})?",
    "type": r"[A-Z]\w{0,40}",
    "device": r"[a-z]{2,12}(?::\d{1,4})?",
    "class": rf"(?!(?:{_BUILTIN})')[A-Za-z_]\w{{0,80}}",
    "otherwise": rf"(?!{_CUDA})[^\n]{{1,120}}",
    "name": r"[\w.:\[\]<>()/*-]{1,120}",
    "any": r"[^\n]{0,200}?",
    "lines": r"[\s\S]{0,400}?",
}
OPEN = ("any", "lines")
_PART = re.compile(r"\{(" + "|".join(KINDS) + r")\}")


def parts(text: str) -> list[str]:
    """A message cut at its placeholders: literals at even places, names of placeholders at odd ones."""
    return _PART.split(text)


def literal(text: str) -> str:
    """The longest run of a message without placeholder and without space at its ends; the first of the longest."""
    return max((run.strip() for run in parts(text)[::2]), key=len)


def expression(text: str) -> str:
    """A message as a regular expression; a run of spaces matches any white space, an open end nothing more."""
    cut = parts(text)
    # What is open at an end matches the empty text, and would only cost time.
    while len(cut) > 1 and cut[-1] == "" and cut[-2] in OPEN:
        del cut[-2:]
    while len(cut) > 1 and cut[0] == "" and cut[1] in OPEN:
        del cut[:2]
    whole = "".join(KINDS[part] if at % 2 else _literal(part) for at, part in enumerate(cut))
    # "loss=inf" is no beginning of "loss=info".
    return whole + r"(?!\w)" if cut[-1][-1:].isalnum() else whole


def opened(text: str) -> int:
    """How many placeholders of open length stand between other parts of a message."""
    cut = parts(text)
    first, last = 1 if cut[0] else 3, len(cut) - 2 if cut[-1] else len(cut) - 4
    return sum(cut[at] in OPEN for at in range(first, last + 1, 2))


def matches(text: str, line: str) -> bool:
    """Whether a message stands in a text."""
    return literal(text) in line and re.search(expression(text), line) is not None


def _literal(run: str) -> str:
    return r"\s{1,100}".join(re.escape(word) for word in re.split(r"\s+", run))

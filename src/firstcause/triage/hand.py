"""What a person wrote, where a text is mostly what programs print."""

from __future__ import annotations

import re

# People write few lines; a text with more is a log, and only lines that somebody speaks in are theirs.
LINES = 25
_SPEAKS = re.compile(
    r"\b(i|i'm|i've|my|we|our|me|us|please|pls|help|why|how|what|anyone|thanks|ich|mein\w{0,2}|wir|warum|mi|por qué|je|mon|nous"
    r"|pourquoi|meu|minha)\b|\?|[\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uff1f]",
    re.IGNORECASE,
)
# A time of day, or keys with their values: a program printed it, whatever words stand there.
_PRINTED = re.compile(
    r"\d\d:\d\d:\d\d|\b[A-Z][A-Z0-9_]{3,60}=|\b\w{2,40}=\S{1,60} \w{2,40}=|\.py\b.{0,80}\b(PASSED|FAILED)\b"
    r"|^\s*(INFO|DEBUG|WARNING)\b"
)
# What a library reports of itself in passing.
_REPORTED = re.compile(
    r"\bNCCL INFO\b|^\s*[\[(]?(?:INFO|DEBUG)\b"
    # Lightning's summary of a model, since 2.4.
    r"|^\s*Modules in (?:train|eval) mode: \d"
)
_BAR = re.compile(r"(it/s|s/it)(,.{0,80})?\]|\d%\|")
_ADDRESS = re.compile(r"https?://\S{1,300}")


def by_hand(prose: str) -> tuple[str, bool]:
    """The lines that somebody wrote, the others left empty; and whether the text is mostly a log."""
    lines = [
        "" if _BAR.search(line[:400]) or _REPORTED.search(line[:400]) else _ADDRESS.sub(" ", line)
        for line in prose.split("\n")
    ]
    if sum(1 for line in lines if line.strip()) <= LINES:
        return "\n".join(lines), False
    kept = [line if _SPEAKS.search(line[:400]) and not _PRINTED.search(line[:400]) else "" for line in lines]
    return "\n".join(kept), True

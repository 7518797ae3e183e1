"""Letters glued to their numbers: "LoRA r8 a16", "r16/a32"."""

from __future__ import annotations

import re

from firstcause.check.brief.reading import Line, Reading

_RANK = re.compile(r"r(\d{1,4})")
_ALPHA = re.compile(r"a(\d{1,4})")
_BETWEEN = frozenset({"/", ",", "and", "+", "&"})
_ADAPTERS = frozenset({"lora", "qlora", "dora"})


def glued_letters(line: Line) -> None:
    """Claim the rank and the alpha that are written so; a rank alone counts beside LoRA."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        rank = _RANK.fullmatch(token.text) if token.kind == "word" and token.entry is None else None
        if rank is None or not int(rank[1]):
            continue
        second = at + 1 + (at + 1 < len(tokens) and tokens[at + 1].text in _BETWEEN)
        alpha = _ALPHA.fullmatch(tokens[second].text) if second < len(tokens) else None
        if alpha is not None and int(alpha[1]):
            line.claim(Reading("lora_alpha", int(alpha[1]), second, second))
            tokens[second].kind = "word"
        elif not any(t.text in _ADAPTERS for t in tokens):
            continue
        line.claim(Reading("lora_r", int(rank[1]), at, at))

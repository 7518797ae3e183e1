"""Words that are made of a model's name and name none: "DETR-style models", "a BERT-like encoder", "Llama-3-sized"."""

from __future__ import annotations

import re

from firstcause.check.brief.vocabulary import word_set

_ENDINGS = "|".join(sorted(word_set("adjectives", "endings")))
_MADE_OF_NAME = re.compile(rf"-(?:{_ENDINGS})\Z")
_BEFORE_NOUN = re.compile(rf" (?:style|styled|inspired|sized|flavou?red)\b|-(?:{_ENDINGS})\b")

# "A ResNet-50-based classifier" is one.
_IS_THE_MODEL = re.compile(
    r"-based (?:\w+ )?(?:classifier|detector|encoder|model|network|regressor|tagger)\b"
)


def is_adjective(name: str, text: str, end: int) -> bool:
    """Whether a name that ends at a place of a text only says what something is like."""
    if _IS_THE_MODEL.match(text, end):
        return False
    return bool(_MADE_OF_NAME.search(name) or _BEFORE_NOUN.match(text, end))

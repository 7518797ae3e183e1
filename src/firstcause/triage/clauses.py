"""Prose cut into clauses, each with its words and the kinds that they belong to; linear in the text's length."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from firstcause.catalog.wording import stem
from firstcause.catalog.words import Vocabulary

# What somebody writes is short; of a longer text the ends tell the most.
MOST = 40_000
# A clause without an end is cut, so that what is looked for in it stays bounded.
LONGEST = 60
# A device used to this share or less is badly used; so many steps are no longer the first ones.
LITTLE = 60.0
MANY = 100.0
# An unspaced run is a sentence in a script without spaces; its words are those of the vocabulary.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff"
_TOKEN = re.compile(
    rf"[{_UNSPACED}]+|\d+(?:[.,]\d+)*(?:e[-+]?\d+)?%?|[^\W\d_{_UNSPACED}]+\d*"
    r"|\?|\.(?=\s|$|[.)\"'`])|[!;。]|\n|[,:()\[\]{}、`]|--|->|=>"
)
# "Cause?" asks for one, and is no theory.
_CAUSE = frozenset(
    ("cause", "causes", "reason", "reasons", "culprit", "diagnosis", "ursache", "causa", "原因")
)
_ENDS = frozenset("?.!;。\n")
_BREAKS = frozenset(",:()[]{}、`") | {"->", "=>", "--"}
# Wide and typographic punctuation as its plain form.
_PLAIN = str.maketrans(
    {"\uff1f": "?", "\uff01": "!", "\uff1b": ";", "\uff0c": ",", "\uff1a": ":", "\uff08": "(", "\uff09": ")"}
    | {"\u2019": "'", "\u2013": "--", "\u2014": "--", "\r": "\n"}
)
_TURNS = frozenset(
    {"but", "however", "yet", "aber", "pero", "mais", "mas", "但", "但是", "でも", "но", "although", "though"}
)
_NOT = re.compile(r"\b(do|does|did|is|was|are|were|ca|wo|has|have|had|should|would|could|must|need)n'?t\b")
_FOLDS = (
    # The modules of an exception's full name are no words of anybody: "deepspeed.runtime.zero.utils.ZeRORuntimeException".
    (re.compile(r"\b(?:[a-z_]\w{0,40}\.){2,8}(\w{1,60}(?:error|exception|warning))\b", re.IGNORECASE), r"\1"),
    (re.compile(r"\b(it|that|there|what|he|she|here|who|where|how)'s\b"), r"\1 is"),
    (re.compile(r"(?<=\w)'s\b"), ""),
    (re.compile(r"\bw/o\b|\bw/out\b"), "without"),
    (re.compile(r"\bw/(?=\s)"), "with "),
    (re.compile(r"\bcannot\b|\bcant\b"), "can not"),
    (
        re.compile(r"(?<=\d)\s?(?:%|percent|per cent|pct|prozent|por ciento|pour cent|процент\w{0,3})(?!\w)"),
        "%",
    ),
)


@dataclass
class Clause:
    """Words between two breaks; ``sentence`` counts sentences, ``asks`` tells that its sentence ends in a question mark.

    ``items`` are (first word, word after the last, kind or stem), the kinds in capitals.
    """

    sentence: int
    line: int
    words: list[str] = field(default_factory=list)
    items: list[tuple[int, int, str]] = field(default_factory=list)
    asks: bool = False
    opens: bool = False
    text: str = ""


def clauses(prose: str, vocabulary: Vocabulary) -> list[Clause]:
    """The clauses of a text in order."""
    if len(prose) > MOST:
        prose = prose[: MOST // 2] + "\n" + prose[-MOST // 2 :]
    result: list[Clause] = []
    sentence, line = 0, 1
    current = Clause(0, 1, opens=True)
    text = _unfolded(prose)
    begin = 0

    def close(end: int, opens: bool) -> Clause:
        nonlocal begin
        if current.words:
            current.text = " ".join(text[begin:end].split())
            result.append(current)
        else:
            opens = opens or current.opens
        begin = end
        return Clause(sentence, line, opens=opens)

    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
        if token in _ENDS:
            if token == "?":
                current.asks = True
                for clause in reversed(result):
                    if clause.sentence != sentence:
                        break
                    clause.asks = True
            sentence += 1
            current = close(match.end(), True)
        elif token in _BREAKS:
            current = close(match.end(), False)
        elif token in _TURNS and current.words:
            # What follows "but" stands for itself, also where a claim stood before.
            sentence += 1
            current = close(match.start(), True)
        elif len(current.words) >= LONGEST:
            current = close(match.start(), False)
            current.words.append(token)
        else:
            current.words += _words(token, vocabulary)
    close(len(text), False)
    for clause in result:
        clause.items = _items(clause.words, vocabulary)
        if clause.asks and len(clause.words) <= 2 and clause.words[-1] in _CAUSE:
            clause.items.append((0, len(clause.words), "CAUSEASKED"))
    return result


def _unfolded(prose: str) -> str:
    text = prose.replace("\r\n", "\n").translate(_PLAIN).lower()
    text = _NOT.sub(lambda m: {"ca": "can", "wo": "will"}.get(m[1], m[1]) + " not", text)
    # A run of them in quotes is what a model answers, not emphasis.
    text = re.sub(r"(?<=['\"])!{3,}|!{8,}", " exclamationmarks ", text)
    text = text.replace("()", "  ")
    for expression, word in _FOLDS:
        text = expression.sub(word, text)
    return text


def _words(token: str, vocabulary: Vocabulary) -> list[str]:
    if not ("\u3040" <= token[0] <= "\u9fff"):
        return [token]
    found = []
    at = 0
    while at < len(token):
        for size in range(min(vocabulary.longest_unspaced, len(token) - at), 0, -1):
            if size == 1 or token[at : at + size] in vocabulary.unspaced:
                found.append(token[at : at + size])
                at += size
                break
    return found


def _sizes(word: str) -> list[str]:
    """The kinds of a number: BIG for hundreds and more, and percentages low or not."""
    if not word[0].isdigit():
        return []
    try:
        value = float(word.rstrip("%").replace(",", ""))
    except ValueError:
        return ["NUMBER"]
    if word.endswith("%"):
        return ["NUMBER", "PERCENT", *(["LOWPERCENT"] if value <= LITTLE else [])]
    return ["NUMBER", *(["BIG"] if value >= MANY else [])]


def _items(words: list[str], vocabulary: Vocabulary) -> list[tuple[int, int, str]]:
    items = []
    stems = [stem(word) for word in words]
    for at, (word, root) in enumerate(zip(words, stems, strict=True)):
        items.append((at, at + 1, root))
        items += [(at, at + 1, kind) for kind in _sizes(word)]
        items += [(at, at + 1, kind) for kind in vocabulary.single.get(root, ())]
        items += [(at, at + 1, kind) for kind in vocabulary.unspaced.get(word, ())]
        for size in range(vocabulary.shortest_prefix, len(word) + 1):
            items += [(at, at + 1, kind) for kind in vocabulary.prefixes.get(word[:size], ())]
        for rest, kind in vocabulary.several.get(root, ()):
            if stems[at + 1 : at + 1 + len(rest)] == rest:
                items.append((at, at + 1 + len(rest), kind))
    return items

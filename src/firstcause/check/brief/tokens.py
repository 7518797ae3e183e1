"""A text as typed tokens: words, numbers with units, ranges, names (models, paths, data sets, cards), quotes, breaks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from firstcause.check.brief.adjectives import is_adjective
from firstcause.check.brief.joined import joined_name
from firstcause.check.brief.numbers import NUMBER, WORD_NUMBER, number, word_number
from firstcause.check.brief.vocabulary import Entry, Vocabulary, words_of

_SPACE = re.compile(r"[ \t\r]+")
_URL = re.compile(r"https?://[^\s)>\]]+")
_HUB = re.compile(r"https?://huggingface\.co/(datasets/)?(?P<owner>[\w-]+)/[\w.-]*\w")
_PAGES = frozenset(
    {
        "docs",
        "spaces",
        "blog",
        "papers",
        "landing",
        "join",
        "collections",
        "learn",
        "front",
        "settings",
        "datasets",
    }
)
# Folders and files of an object store.
_REMOTE = re.compile(r"(?:s3|gs|gcs|abfss?|hf|hdfs|dbfs)://[\w./*{},=-]*[\w/*}]")
# "One thousandth" is written for a number; "half" and "two" count things.
_SAID_AS_RATE = 0.1
_QUOTE = re.compile(r"`([^`\n]{1,200})`|\"([^\"\n]{1,300})\"|(?<![\w])'([^'\n]{1,80})'(?!\w)")
# A part of a path; braces stand for several files, "{train,val}.pt", and so do "<kind>/*.png".
_BRACED = r"(?:\{[\w.*+@$,:-]{0,200}\}|<[\w-]{1,60}>)"
_PART = rf"(?:[\w.*+@$\u2026-]|{_BRACED})"
_PATH = re.compile(
    rf"(?:(?:\.{{1,2}}|~)?/|[a-z]:\\)?(?:{_PART}+/)+(?:{_PART}*(?:[\w*]|{_BRACED}))?"
    r"|(?:\.{1,2}|~)/[\w.*-]+|(?<![\w/])/[a-z][\w.*-]+"
)
_SLASHED = re.compile(r"[\w.*+@${},<>~:\u2026-]{0,200}[/\\]")
# "complaints_<language>.jsonl" stands for several files.
_STEM = r"(?:[\w*-]|<[\w-]{1,60}>|\{[\w-]{1,60}\})"
_FILE = re.compile(rf"{_STEM}{{1,120}}(?:\.{_STEM}{{1,80}}){{0,6}}\.([a-z][a-z0-9]{{0,11}})(?![\w/])")
# A time of day is no value: "10:41", "17:05:30", "5 pm".
_TIME = re.compile(
    r"(?<![\w.:])(?:(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?: ?[ap]m\b)?|(?:0?\d|1[0-2]) ?(?:[ap]m\b|o'?clock\b))(?![\w:])"
)
_RANGE = re.compile(r"(?<![\w.])(\d{1,9}) ?(?:\.\.\.?|-|\u2013|—) ?(\d{1,9})(?![\w%]|\.\d)")
_COUNT = re.compile(r"\d{1,9}")
# "Not that one" counts nothing.
_BEFORE_NOUN = re.compile(r"\s+[a-z]")
_POINTED_AT = re.compile(r"\b(?:that|this|which|another|online|other|old|new|former|latter) $")
# "The effective one": what is counted has been named.
_OF_ITS_KIND = re.compile(r"\b(?:effective|global|logical|physical|real|total) $")
_LETTERS = re.compile(r"\w+")
_CHUNK = re.compile(r"[a-z][\w-]{0,60}")
_BITS = re.compile(r"(\d+)bits?\b")
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:['][^\W_]+)*")
_PUNCT = re.compile(r"->|→|=>|<=|>=|\.\.\.|--+|[-+=/&~<>≤≥|*#@^%$\\]|[.,;:!?()\[\]{}]|—|\u2013")
_SHORTENED = re.compile(r"\b(?:vs|eff|incl|resp|cf|al|fig|figs|eq|sec|dr|mr|mrs|prof|approx)\Z")
_BEFORE_NUMBER = re.compile(r"\b(?:max|min|approx|ca|nr|no)\Z")
_DOTTED = re.compile(r"e\.g\.|i\.e\.|w\.r\.t\.|a\.k\.a\.|llama\.cpp|fast\.ai|model\.generate|w/o\b|w&b\b")
_NAMED = re.compile(r"[a-z]{2}")
_OWNED = re.compile(r"[\w.-]+/[\w.-]+\Z")


@dataclass
class Token:
    """A piece of the text with its place; ``entry`` holds what the vocabulary knows of it.

    ``kind``: word, number, range, path, hub, model, data, card, quote, break, join or end.
    """

    kind: str
    text: str
    start: int
    end: int
    value: float = 0.0
    unit: str = ""
    upper: float = 0.0
    spelled: bool = False
    # Joined to a word by a hyphen, as in GPT-3.
    glued: bool = False
    # A path written out, with its capitals, where the text shortens it to ".../test".
    written: str = ""
    entry: Entry | None = None
    segment: int = 0
    statement: int = 0
    claimed: bool = field(default=False, compare=False)

    @property
    def key(self) -> str:
        """The key that the token names, or nothing."""
        return self.entry.named.key.name if self.entry is not None and self.entry.named is not None else ""

    @property
    def is_setting(self) -> bool:
        """Whether the token names a key, or is a value of one."""
        return self.entry is not None and (self.entry.named is not None or bool(self.entry.values))

    def has(self, cue: str) -> bool:
        return self.entry is not None and cue in self.entry.cues

    def gives(self, key: str) -> bool:
        """Whether the token is a value of a key."""
        return self.entry is not None and any(name == key for name, _ in self.entry.values)


def words_in(tokens: Iterable[Token]) -> list[str]:
    """The single words of some tokens, of which a phrase of the vocabulary is one."""
    return [w for t in tokens for w in t.text.split()]


def tokens_of(text: str, known: Vocabulary, base: int = 0, stop: int | None = None) -> Iterator[Token]:
    """The tokens of a normalised text between two places, in order."""
    at, end = base, len(text) if stop is None else stop
    while at < end:
        space = _SPACE.match(text, at, end)
        if space:
            at = space.end()
            continue
        token = _next(text, at, end, known)
        if token is None:
            at += 1
            continue
        at = token.end
        if token.kind == "quote":
            inner = token.text[1:-1]
            if _speaks(inner, known):
                yield from tokens_of(text, known, token.start + 1, token.end - 1)
                continue
        if token.kind != "skip":
            yield token


def _speaks(inner: str, known: Vocabulary) -> bool:
    """Whether what is quoted is a setting or a name of a file, and no text that is quoted."""
    entry = known.phrases.get(words_of(inner)) if " " not in inner else None
    if inner in ("none", "no", "off") or (entry is not None and entry.values):
        return True
    if (
        "/" in inner
        or re.search(r"[=:]\s*[\[(]?[\d.]|\d[\de.-]*\Z", inner)
        or known.models.fullmatch(inner)
        or joined_name(inner, 0, len(inner), known)
        or _FILE.fullmatch(inner)
    ):
        return " " not in inner.strip() or "=" in inner
    return False


def _next(text: str, at: int, end: int, known: Vocabulary) -> Token | None:
    first = text[at]
    if first == "_":
        return Token("skip", first, at, at + 1)
    if first == "\n":
        return Token("newline", first, at, at + 1)
    if first in "\"`'" and (match := _QUOTE.match(text, at, end)):
        return Token("quote", match[0], at, match.end())
    if first == "h" and (match := _URL.match(text, at, end)):
        return _of_url(match)
    if first in "sgahd" and (match := _REMOTE.match(text, at, end)):
        return Token("path", match[0], at, match.end())
    if match := _DOTTED.match(text, at, end):
        return Token("word", match[0].rstrip(".") if match[0] != "e.g." else "e.g.", at, match.end())
    if first.isdigit() or (first == "." and text[at + 1 : at + 2].isdigit()):
        if match := known.cards.match(text, at, end):
            return Token("card", match[0], at, match.end())
        if match := _TIME.match(text, at, end):
            return Token("time", match[0], at, match.end())
        if match := _BITS.match(text, at, end):
            return Token("word", f"{match[1]}bit", at, match.end())
        if (match := _RANGE.match(text, at, end)) and int(match[1]) < int(match[2]) and len(match[2]) < 8:
            return Token("range", match[0], at, match.end(), value=int(match[1]), upper=int(match[2]))
        if match := NUMBER.match(text, at, end):
            value, unit = number(match)
            if not value < 1e300:
                return Token("word", match[0], at, match.end())
            glued = at > 1 and text[at - 1] == "-" and text[at - 2].isalpha()
            return Token("number", match[0], at, match.end(), value=value, unit=unit, glued=glued)
    if (
        not (first == "/" and at > 0 and (text[at - 1].isalnum() or text[at - 1] == "<"))
        and _SLASHED.match(text, at, end)
        and (match := _PATH.match(text, at, end))
        and (path := _of_path(match, known))
    ):
        return path
    if first in "<{" and (match := _FILE.match(text, at, end)) and match[1] in known.file_types:
        return Token("path", match[0], at, match.end())
    if first.isalpha():
        if match := known.cards.match(text, at, end):
            return Token("card", match[0], at, match.end())
        if joined := joined_name(text, at, end, known):
            return Token(joined[0], joined[1], at, at + len(joined[1]))
        if match := known.models.match(text, at, end):
            file = _FILE.match(text, at, end)
            if (
                file is not None
                and file[1] in known.file_types
                and file.end() - at >= len(match[0].rstrip(".-"))
            ):
                # "vit_scenes.pt" is a file, whatever it is called.
                return Token("path", file[0], at, file.end())
            name = _without_dot("model", match)
            if is_adjective(name.text, text, name.end):
                name.kind = "word"
            return name
        if (match := _CHUNK.match(text, at, end)) and match[0] in known.datasets:
            return Token("set", match[0], at, match.end())
        if (match := _FILE.match(text, at, end)) and match[1] in known.file_types:
            return Token("path", match[0], at, match.end())
        if (match := WORD_NUMBER.match(text, at, end)) and not (
            match[0] == "one"
            and (
                _OF_ITS_KIND.search(text, max(0, at - 12), at)
                or (
                    not _BEFORE_NOUN.match(text, match.end(), end)
                    and _POINTED_AT.search(text, max(0, at - 12), at)
                )
            )
        ):
            return _spelled(match)
        if first == "x" and text[at + 1 : at + 2].isdigit():
            count = _COUNT.match(text, at + 1, end)
            if count and not text[count.end() : count.end() + 1].isalnum():
                return Token("number", count[0], at + 1, count.end(), value=int(count[0]), unit="x")
        if match := _WORD.match(text, at, end):
            return Token("word", _without_apostrophe(match[0], known), at, match.end())
    if match := _PUNCT.match(text, at, end):
        return _punctuation(text, match)
    if match := _LETTERS.match(text, at, end):
        return Token("word", match[0], at, match.end())
    return None


def _spelled(match: re.Match[str]) -> Token:
    """A number in words; a share of the steps, and a very small one, are as exact as figures."""
    value, unit = word_number(match)
    of_steps = bool(match["part"]) and "epoch" not in match.string[match.end() : match.end() + 7]
    exact = bool(match["times"]) or 0 < value < _SAID_AS_RATE or of_steps
    return Token("number", match[0], match.start(), match.end(), value=value, unit=unit, spelled=not exact)


def _without_apostrophe(word: str, known: Vocabulary) -> str:
    """A word as the vocabulary has it; the owner in "vLLM's server" is the tool."""
    plain = word.replace("'", "")
    if word.endswith("'s") and plain not in known.lengths:
        entry = known.phrases.get((word[:-2],))
        if entry is not None and any(key == "framework" for key, _ in entry.values):
            return word[:-2]
    return plain


def _of_url(match: re.Match[str]) -> Token:
    """A model or a data set of the hub by its address; any other address means nothing."""
    hub = _HUB.match(match[0])
    if hub is not None and hub["owner"] not in _PAGES:
        start = match.start() + hub.start("owner")
        return Token(
            "data" if hub[1] else "hub",
            match[0][hub.start("owner") : hub.end()],
            start,
            match.start() + hub.end(),
        )
    return Token("url", match[0], match.start(), match.end())


def _of_path(match: re.Match[str], known: Vocabulary) -> Token | None:
    """A path, or a hub id (owner/name, told apart from folders); None for words with a slash, such as "and/or"."""
    text = match[0].rstrip(".")
    while text.endswith((".", "*")) and not text.endswith("/*"):
        text = text[:-1]
    end = match.start() + len(text)
    ending = text.rsplit(".", 1)[-1] if "." in text.rsplit("/", 1)[-1] else ""
    first = text.split("/", 1)[0]
    pathlike = (
        text.startswith((".", "/", "~")) or text.endswith("/") or ending in known.file_types or "*" in text
        or text.count("/") > 1 or first in known.folders
    )  # fmt: skip
    parts = text.split("/")
    if all(part in _PARTS_OF_DATA for part in parts) or all(
        (len(part) == 1 and part.isalpha()) or part in _PARTS_OF_BLOCKS for part in parts
    ):
        return None
    if not pathlike and all((part,) in known.phrases for part in parts):
        # "No wandb/tensorboard", "Adam/AdamW".
        return None
    after = _WORD.match(match.string, match.end() + 1)
    if not pathlike and after and all((part, after[0]) in known.phrases for part in parts):
        # "Activation/gradient checkpointing".
        return None
    if text == "w/" and match.string[match.end() : match.end() + 2].strip().isalpha():
        # "Train w/ LoRA".
        return None
    if any(text.startswith(word) for word in ("w/o", "r/a", "lr/", "n/a")):
        return None
    if pathlike and not re.fullmatch(r"[\d./]+", text):
        return Token("path", text, match.start(), end)
    if _OWNED.match(text) and not re.fullmatch(r"[\d.]+/[\d.]+", text):
        name = text.split("/")[1]
        if name in SPLITS and (first,) not in known.phrases and _is_folder(match, first):
            # "Loss/train" is what is plotted.
            return Token("path", text, match.start(), end)
        if not _NAMED.search(name):
            return None
        # Both halves plain words: "train/test", "user/assistant", unless the name has what names have.
        if any(f in name for f in known.families) or known.models.fullmatch(name):
            return Token("hub", text, match.start(), end)
        if re.search(r"[\d_-]|[a-z]\.[a-z]", text) and not re.match(r"\d", first):
            return Token("hub", text, match.start(), end, unit="?")
        return Token("hub", text, match.start(), end, unit="??")
    return None


def _is_folder(match: re.Match[str], first: str) -> bool:
    """Whether a place is spoken of, or its other half too: "in roofs/train", "birds/train, birds/val"."""
    text, at = match.string, match.start()
    if _PLACED.search(text[max(0, at - 12) : at]):
        return True
    near = text[max(0, at - 200) : match.end() + 200]
    return len({m[2] for m in _OF_SPLIT.finditer(near) if m[1] == first}) > 1


def _without_dot(kind: str, match: re.Match[str]) -> Token:
    text = match[0].rstrip(".-")
    return Token(kind, text, match.start(), match.start() + len(text))


def _punctuation(text: str, match: re.Match[str]) -> Token | None:
    mark, at = match[0], match.start()
    if mark in ".!?":
        after = text[match.end() : match.end() + 1]
        if mark == "." and (after not in _ENDING or _abbreviates(text, at)):
            return Token("skip", mark, at, match.end())
        return Token("end", mark, at, match.end())
    if mark in (",", ";", ":", "(", ")", "[", "]", "{", "}", "—", "\u2013") or mark.startswith("--"):
        if (
            mark.startswith("--")
            and (at == 0 or text[at - 1] in " \n(")
            and text[match.end() : match.end() + 1].isalpha()
        ):
            return Token("break", ",", at, match.end())
        return Token("break", "—" if mark.startswith("-") or mark == "\u2013" else mark, at, match.end())
    if mark == "-":
        spaced = at > 0 and text[at - 1] == " " and text[match.end() : match.end() + 1] in (" ", "\n")
        return Token("break", "—", at, match.end()) if spaced else Token("skip", mark, at, match.end())
    if mark == "~":
        return Token("word", "~", at, match.end())
    if mark in ("*", "#", "|", "\\", "$", "^", "@", "..."):
        return Token("skip", mark, at, match.end())
    return Token("join", mark, at, match.end())


# What the folders of an image data set are called.
SPLITS = ("train", "val", "valid", "validation", "test")
_OF_SPLIT = re.compile(rf"(?<![\w/.-])([\w.-]{{1,60}})/({'|'.join(SPLITS)})(?![\w/])")
_PLACED = re.compile(r"(?<!\w)(?:in|on|from|under|at|over)(?: the)?(?: folder| directory)? [\"'`]?\Z")
_PARTS_OF_DATA = frozenset(
    {"train", "dev", "test", "val", "valid", "validation", "eval", "training", "testing", "holdout"}
)
# "LoRA on query/value" lists modules.
_PARTS_OF_BLOCKS = frozenset(
    {"query", "key", "value", "queries", "keys", "values", "gate", "up", "down", "attention", "mlp"}
)
_ENDING = frozenset({"", " ", "\n", ")", '"', "*", "'", "`"})


def _abbreviates(text: str, at: int) -> bool:
    """Whether the dot belongs to a shortened word, as in "max. 3B"."""
    before = text[max(0, at - 8) : at]
    following = text[at + 1 : at + 3].strip()
    return (bool(_SHORTENED.search(before)) and bool(following)) or (
        bool(_BEFORE_NUMBER.search(before)) and following[:1].isdigit()
    )

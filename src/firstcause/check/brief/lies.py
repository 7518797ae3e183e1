"""Folders that data is said to lie in: "we have recordings under calls/clips", "synced to /data/prefs, files a and b"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_THINGS = word_set("lies", "things")
_WHERE = frozenset({"under", "in", "below", "inside", "at", "within"})
_COPIED = word_set("lies", "copied")
_FOLDERS = frozenset({"folder", "directory", "dir", "path", "the", "our", "my"})
_IS_THERE = frozenset(
    {"have", "has", "are", "is", "got", "lie", "lies", "live", "sit", "sits", "come", "comes"}
)
_MADE = word_set("places", "saves") | word_set("lies", "made")
_REACH = 8
_SMALL = frozenset(
    {",", "(", "as", "the", "and", "with", "files", "file", "in", "it", ":", "named", "called", "are"}
)


def lie_there(line: Line, known: Vocabulary, typed: str) -> None:
    """Claim such folders as what is read, and write the files that are told behind one out with it."""
    key = "input_path" if line.scene.inference else "dataset"
    for at, token in enumerate(line.tokens):
        if token.claimed or token.kind not in ("path", "hub") or _is_file(token, known):
            continue
        copied = token.kind == "path" and _is_copied_to(line, at)
        if not copied and not (_holds_things(line, at) and (token.kind == "path" or _is_no_model(token))):
            continue
        name = token.written or typed[token.start : token.start + len(token.text)]
        files = _files_behind(line, at, known) if copied else []
        token.claimed = True
        for place in files:
            file = line.tokens[place]
            own = typed[file.start : file.start + len(file.text)]
            line.claim(Reading(key, f"{name.rstrip('/')}/{own}", place, place))
        if not files:
            line.claim(Reading(key, name, at, at))


def _is_file(token: Token, known: Vocabulary) -> bool:
    last = token.text.rstrip("/").rsplit("/", 1)[-1]
    return "." in last and last.rsplit(".", 1)[-1] in known.file_types


def _is_no_model(token: Token) -> bool:
    """Whether a name that could be the hub's says what lies there: "calls/clips"."""
    return token.unit == "??" or token.text.split("/")[-1] in _THINGS or token.text.split("/")[0] in _THINGS


def _holds_things(line: Line, at: int) -> bool:
    """Whether recordings, scans or the like are said to be under it, and nothing is written."""
    own = [t for t in line.tokens[max(0, at - _REACH) : at] if t.statement == line.tokens[at].statement]
    words = words_in(own)
    while words and words[-1] in _FOLDERS:
        words.pop()
    if not words or words[-1] not in _WHERE or _MADE & set(words):
        return False
    return bool(_THINGS & set(words[-4:-1])) and bool(_IS_THERE & set(words))


def _is_copied_to(line: Line, at: int) -> bool:
    own = [t for t in line.tokens[max(0, at - _REACH) : at] if t.statement == line.tokens[at].statement]
    before = words_in(own)
    if _MADE & set(before):
        # "The checkpoints are synced to /backup".
        return False
    while before and before[-1] in _FOLDERS:
        before.pop()
    return len(before) > 1 and before[-1] in ("to", "at", "on", "under") and before[-2] in _COPIED


def _files_behind(line: Line, at: int, known: Vocabulary) -> list[int]:
    """The bare file names that are listed right behind a folder: ", files train.parquet and eval.parquet"."""
    found = []
    for place in range(at + 1, len(line.tokens)):
        token = line.tokens[place]
        if token.kind == "path" and "/" not in token.text and _is_file(token, known) and not token.claimed:
            found.append(place)
        elif not _SMALL.issuperset(token.text.split()):
            break
    return found

"""Folders of data and what lies in them: "drawings/ is an image folder with a metadata.csv" names one data set."""

from __future__ import annotations

import re

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_DATA_KEYS = ("dataset", "input_path")
_FOLDERS = word_set("folders", "folders")
_PLAIN = word_set("folders", "plain")
_HOLDS = word_set("folders", "holds")
_LISTS = word_set("folders", "lists")
_MEDIA = word_set("folders", "media")
# "`_util/` with 79 files" holds code, for all one knows.
_ANY_FILES = frozenset({"files", "lines", "pages", "columns", "items", "entries", "days", "hours", "minutes"})
_TOGETHER = frozenset({"together", "along", "read", "combined"})
_OUT = word_set("places", "out")
_OF_SPLIT = re.compile(r"(?<![a-z])(?:train|val|valid|dev|test)")
_SIBLING = re.compile(r"(?:\.{3}|\u2026)/")
# Between a folder and what describes it: "drawings/ and scans/ are two image folders".
_BETWEEN = frozenset({"and", ",", "is", "are", "an", "a", "the", "two", "our", "my", "plain", "both"})
_REACH = 7


def siblings(line: Line, typed: str) -> None:
    """Write ".../test" out as the sibling of the path before it: "data/train and .../test"; ``typed`` has the capitals."""
    before = ""
    for token in line.tokens:
        if token.kind != "path":
            continue
        name = typed[token.start : token.start + len(token.text)]
        short = _SIBLING.match(name)
        if short and "/" in before.rstrip("/"):
            name = token.written = f"{before.rstrip('/').rsplit('/', 1)[0]}/{name[short.end() :]}"
            token.text = name.lower()
        before = name


def described_folders(line: Line, known: Vocabulary, typed: str) -> None:
    """Claim folders that are called folders of data, and leave out the files that are a part of a folder."""
    for at, token in enumerate(line.tokens):
        if (
            token.kind == "path"
            and not token.claimed
            and _is_folder(token.text, known)
            and _described(line, at)
        ):
            name = token.written or typed[token.start : token.start + len(token.text)]
            key = "input_path" if line.scene.inference else "dataset"
            line.claim(Reading(key, name, at, at))
    folders = [r.first for r in line.readings if r.key in _DATA_KEYS and _is_folder(str(r.value), known)]
    line.readings[:] = [
        r
        for r in line.readings
        if r.key not in _DATA_KEYS or not _is_part(line, r, [f for f in folders if f < r.first], known)
    ]


def _is_folder(name: str, known: Vocabulary) -> bool:
    last = name.rstrip("/").rsplit("/", 1)[-1]
    return "/" in name and "*" not in name and last.rsplit(".", 1)[-1].lower() not in known.file_types


def _described(line: Line, at: int) -> bool:
    """Whether a folder is called one of images or recordings, or is said to hold files that describe them."""
    tokens = line.tokens
    if tokens[at].text.lstrip("./").split("/", 1)[0] in _OUT:
        return False
    after = at + 1
    while after < len(tokens) and (tokens[after].text in _BETWEEN or tokens[after].kind == "path"):
        after += 1
    if after >= len(tokens) or tokens[after].statement != tokens[at].statement:
        return False
    words = words_in(tokens[after : after + 3])
    if words[:1] and words[0] in _FOLDERS:
        return True
    if words[1:2] and words[0] in _PLAIN and words[1] in _FOLDERS | {"folder", "folders", "directory"}:
        return True
    near = tokens[after : after + _REACH]
    of_data = any(t.has("data") and t.text not in _ANY_FILES for t in near) or bool(
        _MEDIA & set(words_in(near))
    )
    return of_data and bool(words) and words[0] in _HOLDS | {"folder", "folders", "directory"}


def _is_part(line: Line, reading: Reading, folders: list[int], known: Vocabulary) -> bool:
    """Whether a file lies in a folder that was named before: "scans/, with a labels.csv", "(metadata.csv with …)"."""
    name, at = str(reading.value), reading.first
    if not folders or "/" in name or _OF_SPLIT.search(name.lower()):
        return False
    if name.rsplit(".", 1)[-1].lower() not in _LISTS:
        return False
    tokens = line.tokens
    between = tokens[folders[-1] + 1 : at]
    if tokens[at].statement != tokens[folders[-1]].statement or any(
        t.kind == "path" and _is_folder(t.text, known) for t in between
    ):
        return False
    words = words_in(between)
    if words[-1:] == ["("]:
        return len(words) == 1 or words[-2] in _FOLDERS | _PLAIN
    near = words[-_REACH:]
    return bool(_HOLDS & set(near)) and not _TOGETHER & set(near)

"""Names of folders that are made, without a slash: "save the model to poem-gpt2"."""

from __future__ import annotations

import re

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_BEFORE_NAME = word_set("places", "before_name")
_SAVE_AS = word_set("places", "save_as")
_MERGES = frozenset({"merge", "merged", "fold", "load", "loaded", "plug", "insert", "back", "put", "inject"})
_BARE_NAME = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]*\w)*(?<=\w)")
# Words that are nothing but names of folders.
_FOLDERS = frozenset({"ckpt", "ckpts", "exp", "exps"})
_MADE = frozenset({"adapter", "adapters", "checkpoints", "weights", "model"})
_KEEPS = frozenset({"keep", "keeps", "kept", "leave"})
_KEPT = frozenset({"checkpoint", "checkpoints", "model", "weights", "adapter", "best"})
_RESULTS = frozenset({"everything", "output", "outputs", "result", "results", "artifacts"})
_OUT = word_set("places", "out")


def new_name(line: Line, at: int, known: Vocabulary, typed: str) -> None:
    """Claim the name of a folder without a slash: "save the model to poem-gpt2" writes there, and names no model.

    A name that answers where something goes needs no word before it: ``at`` is then -1.
    """
    tokens = line.tokens
    answers = "write" in line.topic and at <= 1
    word = tokens[at].text if at >= 0 else "in" if answers else ""
    if word not in _BEFORE_NAME or at + 1 >= len(tokens):
        return
    adapter = at >= 0 and word == "into" and bool(_MADE & set(line.words(at - 2, at)))
    before = {
        w
        for t in tokens[max(0, at - 8) : at + 1]
        if t.statement == tokens[max(at, 0)].statement
        for w in t.text.split()
    }
    first = at + 1
    called = False
    if tokens[first].text in (":", "=", "is", "called", "named") and at + 2 < len(tokens):
        called = word in ("folder", "directory", "dir")
        first += 1
    kept = bool(before & _KEEPS and before & _KEPT) or (bool(before & _RESULTS) and not before & _MERGES)
    if tokens[first].text in ("a", "the", "hugging", "hugging face", "huggingface") or not (
        called or (adapter and not before & _MERGES) or before & _SAVE_AS or kept or answers
    ):
        return
    start = tokens[first].start
    match = _BARE_NAME.match(typed, start)
    if (
        match is None
        or not (re.search(r"[-_]", match[0]) or match[0].lower() in _FOLDERS)
        or typed[match.end() : match.end() + 1] in ("/", "\\", ":")
    ):
        return
    if match[0].rsplit(".", 1)[-1].lower() in known.file_types and "." in match[0]:
        return
    own = [n for n in range(first, len(tokens)) if tokens[n].start < match.end()]
    if any(
        tokens[n].claimed or tokens[n].kind not in ("word", "model", "number", "card", "set") for n in own
    ):
        return
    ends = (
        own[-1] + 1 >= len(tokens)
        or tokens[own[-1] + 1].kind in ("break", "join")
        or tokens[own[-1] + 1].text == "and"
    )
    named = any(tokens[n].kind == "model" for n in own) or bool(re.search(r"[\d_]", match[0]))
    named = named or re.split(r"[-_]", match[0].lower())[0] in _OUT | {"model"}
    of_output = re.split(r"[-_]", match[0].lower())[0] in _OUT
    if word == "in" and (not named or (tokens[first].entry is not None and not of_output)):
        return
    if word == "as" and (tokens[first].entry is not None or not ends):
        # "Save as half-precision weights" says how.
        return
    line.claim(Reading("output_dir", match[0], first, own[-1]))

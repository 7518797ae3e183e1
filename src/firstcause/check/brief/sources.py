"""Paths that are there before the run: an adapter that is loaded, a folder told by its files, a file told by its columns."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.reading import Line
from firstcause.check.brief.tokens import words_in

_ADAPTED = frozenset({"adapter", "lora adapter", "checkpoint"})
_OURS = frozenset({"our", "the", "my", "this", "its", "your", "existing"})
_PICTURES_AND_SOUND = frozenset(
    {"png", "pngs", "jpg", "jpgs", "jpeg", "jpegs", "tif", "tiffs", "wav", "wavs", "flac", "npy", "npz"}
)
_FOLDERS = frozenset({"folder", "directory", "dir"})
_HAVE = frozenset({"i have", "we have", "there are", "ive got", "weve got", "i have got", "we have got"})
_EACH = frozenset({"each", "apiece", "files", "pdfs", "scans", "images", "photos", "texts", "txts"})
_GO = frozenset({"go", "goes", "save", "saved", "write", "written", "put", "store", "stored"})
_FILES = frozenset({"file", "csv", "json", "jsonl", "one", "single", "called", "named", "text"})
_OUTCOMES = frozenset({"result", "results", "output", "outcome", "deliverable"})
_RESULTS = frozenset(
    {"predictions", "prediction", "scores", "results", "outputs", "output", "answers", "submission", "leave", "left"}
)  # fmt: skip


def is_given(line: Line, at: int) -> bool:
    """Whether what is named has been made before: "serve it with our LoRA adapter ./adapters/legal"."""
    words = line.words(at - 3, at)
    return len(words) == 3 and words[0] == "with" and words[1] in _OURS and words[2] in _ADAPTED


def holds_files(line: Line, at: int) -> bool:
    """Whether a folder's files are told: "(folder tiles/, png, RGB)", "I have 300 letters, one file each in letters/"."""
    if _is_had(line, at):
        return True
    before, after = line.words(at - 2, at), line.words(at + 1, at + 4)
    named = before[-1:] and before[-1] in _FOLDERS and before[:1] in (["("], [":"], ["the"], ["our"])
    return (
        bool(named)
        and after[:1] in ([","], [":"], ["of"], ["with"])
        and bool(_PICTURES_AND_SOUND & set(after))
    )


def _is_had(line: Line, at: int) -> bool:
    """Whether the statement says of what lies in a folder that the user has it."""
    own = [t for t in line.tokens[:at] if t.statement == line.tokens[at].statement]
    first = next((n for n, t in enumerate(own) if t.text in _HAVE), -1)
    after = set(words_in(own[first + 1 :])) | set(line.words(at + 1, at + 6))
    return first >= 0 and bool(_EACH & after) and not (_RESULTS | _GO) & after


def is_result(before: Sequence[str]) -> bool:
    """Whether a file is what comes out, by the words before it, the nearest first: "the result is a file x.jsonl"."""
    words = [w for w in before if w not in _FILES]
    return words[:1] in (["is"], ["are"], ["be"]) and any(w in _OUTCOMES for w in words[1:3])


def shows_columns(line: Line, at: int) -> bool:
    """Whether a file's columns are told in the brackets that it stands in: "(tickets.csv: `text`, `dept`)"."""
    tokens = line.tokens[at + 1 : at + 3]
    opened = at > 0 and line.tokens[at - 1].text == "("
    columns = len(tokens) == 2 and tokens[0].text == ":" and tokens[1].kind == "quote"
    return opened and columns and not _RESULTS & set(words_in(line.tokens))


def is_denied(line: Line, at: int) -> bool:
    """Whether it is what something else is not: "I know that our scans are not ImageNet"."""
    return words_in(line.tokens[max(0, at - 2) : at])[-2:] in (["is", "not"], ["are", "not"])

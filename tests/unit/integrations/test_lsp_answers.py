"""Texts as editors hold them, also half written and strange ones: lines as the protocol counts them, edits that fit."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

pytest.importorskip("pygls")
from lsprotocol import types
from pygls.workspace import PositionCodec
from trainings import NO_ZERO_GRAD as BAD

from firstcause.integrations.lsp.answers import actions, place
from firstcause.integrations.lsp.documents import Document

STEP = 8


def document(folder: Path, text: str) -> Document:
    path = folder / "train.py"
    path.touch()
    return Document(str(path), text, str(folder))


def after(text: str, edit: types.WorkspaceEdit) -> str:
    """The text after an edit, by offsets: an ASCII text's columns are its signs."""
    (edits,) = edit.changes.values()
    starts, at = [0], 0
    for line in Document("", text, "").lines:
        at += len(line)
        starts.append(at)
    for one in sorted(edits, key=lambda e: -e.range.start.line):
        begin, end = (starts[p.line] + p.character for p in (one.range.start, one.range.end))
        text = text[:begin] + one.new_text + text[end:]
    return text


@pytest.mark.parametrize(
    "text",
    [
        BAD,
        BAD.replace("\n", "\r\n"),
        BAD.replace("\n", "\r"),
        BAD.rstrip("\n"),
        "\x0c" + BAD,
        BAD.replace("(4, 1)", "(4, 1)  # \x1c\x85\u2028"),
        BAD.replace("import torch\n", "# -*- coding: latin-1 -*-; import torch\n", 1).replace("; ", "\n"),
    ],
    ids=["plain", "crlf", "cr", "no-last-end", "form-feed", "other-ends", "latin-1"],
)
def test_a_correction_fits_the_text_that_the_editor_holds(tmp_path: Path, text: str) -> None:
    held = document(tmp_path, text)
    (found,) = held.findings()
    codec = PositionCodec()
    line = held.lines[place(found, held, codec).start.line]
    assert line.strip() == "optimizer.step()"
    for action in actions("file:///train.py", held, [found], codec):
        assert document(tmp_path, after(text, action.edit)).findings() == []


@pytest.mark.parametrize("text", ["x = '\0'\n", "(" * 3000, "# coding: nonsense\nx = 1\n", "def f(:\n"])
def test_what_is_no_python_is_one_finding(tmp_path: Path, text: str) -> None:
    (found,) = document(tmp_path, text).findings()
    assert found.slug == "syntax-error"


@pytest.mark.parametrize(
    "text", ["", "\ufeff" + BAD.replace("loss.b", "optimizer.zero_grad(); loss.b"), "x='\ud800'\n"]
)
def test_nothing_is_found_where_nothing_is(tmp_path: Path, text: str) -> None:
    assert document(tmp_path, text).findings() == []


def test_a_long_file_is_corrected_in_time(tmp_path: Path) -> None:
    text = BAD + "x = 1\n" * 3000 + BAD
    held = document(tmp_path, text)
    first, second = held.findings()
    began = time.process_time()
    correct, _, _, keep = actions("file:///train.py", held, [first, second], PositionCodec())
    assert time.process_time() - began < 10
    assert len(document(tmp_path, after(text, correct.edit)).findings()) == 1
    assert [e.range.start.line for e in keep.edit.changes["file:///train.py"]] == [STEP + 3000 + 9]

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstcause.report.plain import (
    cells,
    cropped,
    harmless,
    one_line,
    padded,
    plain,
    visible,
    without_traceback,
    wrapped,
)

BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
nasty = st.text(st.one_of(st.characters(), st.sampled_from("\x1b\x1b\x1b[]mHPX\\\x07\x9b\x00\r\t" + BIDI)))


@given(nasty)
def test_no_control_code_is_left(text: str) -> None:
    for made in (plain(text), harmless(text), one_line(text), visible(text)):
        left = {c for c in made if (unicodedata.category(c) == "Cc" and c not in "\n\t") or c in BIDI}
        assert not left
        made.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1bcb", "ab"),
        ("50%\r100%", "50%100%"),
        ("\x9b31mred", "red"),
        ("a\tb", "a   b"),
        ("evil\u202etxt.exe", "eviltxt.exe"),
        ("\ud800", "?"),
        ("plain é 漢", "plain é 漢"),
    ],
)
def test_escape_sequences_go_whole(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_what_is_approved_hides_nothing() -> None:
    assert visible("x = 1 # \u202e\x1b[8mhidden") == "x = 1 # \\u202e\\x1b[8mhidden"


@pytest.mark.parametrize("unit", ["\x1b[", "\x1b]", "\x1b[0;", "\x9b", "\x1b]\x1b", "\x1b[0 "])
def test_search_is_linear(unit: str) -> None:
    began = time.process_time()
    plain(unit * 300_000)
    assert time.process_time() - began < 3.0


@given(st.text(), st.integers(1, 60))
def test_cropped_text_fits(text: str, width: int) -> None:
    assert cells(cropped(text, width)) <= max(width, 1)
    if cells(text) <= width:
        assert cropped(text, width) == text
        assert cells(padded(text, width)) == width


@given(st.text(st.sampled_from("ab -é漢\n"), max_size=120), st.integers(10, 40))
def test_wrapped_lines_fit_and_keep_every_word(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert " ".join(lines).split() == text.split()
    for line in lines:
        assert cells(line) <= width or len(line.split()) == 1


def test_wrapping_keeps_indents_and_hangs_items() -> None:
    assert wrapped("  one two three\n- four five six", 10) == ["  one two", "  three", "- four", "  five six"]


def test_a_quoted_traceback_is_its_last_line() -> None:
    quoted = (
        'Caught E in worker 0.\nTraceback (most recent call last):\n  File "x.py", line 3\n    a\nE: gone\n\n'
    )
    assert without_traceback(quoted) == "Caught E in worker 0.\nE: gone"
    assert without_traceback("loss nan") == "loss nan"
    assert without_traceback("Traceback (most recent call last):") == "Traceback (most recent call last):"

from __future__ import annotations

import codecs

import pytest
from diffs import unified
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from firstcause.errors import InputError
from firstcause.fix.patch import parse, patched

a_line = st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=6)


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts of which the second is an edit of the first, with or without a newline at the end."""
    old = draw(st.lists(a_line, max_size=14))
    new = list(old)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(new)))
        new[at : at + draw(st.integers(0, 3))] = draw(st.lists(a_line, max_size=3))
    ends = draw(st.tuples(st.booleans(), st.booleans()))
    one, two = ("\n".join(lines) + "\n" * end for lines, end in zip((old, new), ends, strict=True))
    # splitlines, by which difflib is fed, knows more line ends than a diff does.
    assume(one != two and all(t.splitlines() == t.removesuffix("\n").split("\n") for t in (one, two) if t))
    return one, two


@given(texts(), st.integers(0, 3), st.sampled_from([b"", codecs.BOM_UTF8]))
@example(("a\nb", "a\nb\n"), 3, b"")
@example(("", "x"), 0, b"")
def test_gives_exactly_the_other_text(pair: tuple[str, str], context: int, bom: bytes) -> None:
    (patch,) = parse(unified({"x.py": pair}, context))
    assert patched(patch, bom + pair[0].encode()) == bom + pair[1].encode()


@given(texts(), st.integers(0, 3))
def test_crlf_stays_crlf(pair: tuple[str, str], context: int) -> None:
    """A diff made from text without CR, on a file that has them: every line keeps its style."""
    old, new = (text.replace("\n", "\r\n").encode() for text in pair)
    assume(b"\n" in old)
    (patch,) = parse(unified({"x.py": pair}, context))
    assert patched(patch, old) == new


# Pairs whose newlines stand otherwise are left out by the body, and by chance they come in a row.
@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(texts())
def test_diff_that_spells_out_cr_is_exact(pair: tuple[str, str]) -> None:
    old, new = (text.replace("\n", "\r\n") for text in pair)
    first, second, *body = unified({"x.py": pair}).removesuffix("\n").split("\n")
    assume(not any(line.startswith("\\") for line in body))
    spelt = [line if line.startswith("@@") else line + "\r" for line in body]
    (patch,) = parse("\n".join([first, second, *spelt]) + "\n")
    assert patched(patch, old.encode()) == new.encode()


@given(texts(), st.data())
def test_any_other_context_is_refused(pair: tuple[str, str], data: st.DataObject) -> None:
    (patch,) = parse(unified({"x.py": pair}))
    lines = pair[0].split("\n")
    covered = [at for h in patch.hunks for at in range(h.start - 1, h.start - 1 + h.count)]
    assume(covered)
    at = data.draw(st.sampled_from(covered))
    lines[at] += data.draw(st.sampled_from([" ", "\t", "x", "\u00e9"]))
    with pytest.raises(InputError) as raised:
        patched(patch, "\n".join(lines).encode())
    assert raised.value.slug == "patch-mismatch"
    assert raised.value.message.startswith(f"x.py:{at + 1} is ")


@given(texts(), st.integers(1, 3))
def test_moved_context_is_refused(pair: tuple[str, str], by: int) -> None:
    """No offset: a patch that would fit some lines further down is for another text."""
    (patch,) = parse(unified({"x.py": pair}, context=3))
    assume(patch.hunks[0].count > 0)
    content = ("moved\n" * by + pair[0]).encode()
    assume(content.split(b"\n")[: len(pair[0])] != pair[0].encode().split(b"\n"))
    first = patch.hunks[0]
    old = [line.text for line in first.lines if line.tag != "+"]
    there = content.decode().split("\n")[first.start - 1 : first.start - 1 + len(old)]
    assume(there != old)
    with pytest.raises(InputError):
        patched(patch, content)


def test_several_files_and_hunks() -> None:
    old = "".join(f"{i}\n" for i in range(30))
    new = old.replace("3\n", "three\n", 1).replace("27\n", "")
    patches = parse(unified({"a.py": (old, new), "pkg/b.py": ("x\n", "y\n")}))
    assert [(p.path, len(p.hunks)) for p in patches] == [("a.py", 2), ("pkg/b.py", 1)]
    assert patched(patches[0], old.encode()) == new.encode()
    assert [h.span() for h in patches[0].hunks] == [(4, 4), (28, 28)]


def test_mixed_newlines_follow_their_neighbour() -> None:
    (patch,) = parse(unified({"x.py": ("a\nb\nc\n", "a\nb\nnew\nc\n")}))
    assert patched(patch, b"a\nb\r\nc\n") == b"a\nb\r\nnew\r\nc\n"


def test_lone_carriage_return_is_no_line_end() -> None:
    (patch,) = parse("--- a/x.py\n+++ b/x.py\n@@ -2 +2 @@\n-b\n+B\n")
    assert patched(patch, b"a\ra\nb\n") == b"a\ra\nB\n"


def test_encoding_cookie_is_kept() -> None:
    (patch,) = parse("--- a/x.py\n+++ b/x.py\n@@ -2 +2 @@\n-é\n+ü\n")
    assert patched(patch, "# -*- coding: latin-1 -*-\né\n".encode("latin-1")) == (
        "# -*- coding: latin-1 -*-\nü\n".encode("latin-1")
    )
    (patch,) = parse("--- a/x.py\n+++ b/x.py\n@@ -2 +2 @@\n-a\n+→\n")
    with pytest.raises(InputError) as raised:
        patched(patch, b"# coding: latin-1\na\n")
    assert raised.value.slug == "patch-encoding"


def test_removed_line_may_look_like_a_header() -> None:
    pair = ("-- a\n++ b\nc\n", "c\n")
    (patch,) = parse(unified({"x.sql": pair}))
    assert patched(patch, pair[0].encode()) == pair[1].encode()


HUNK = "@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("diff", "why"),
    [
        ("", "it changes nothing"),
        ("hello\n", "are missing"),
        ("--- a/x\n+++ b/y\n" + HUNK, "no change of one file in place"),
        ("--- /dev/null\n+++ b/y\n" + HUNK, "no change of one file in place"),
        ("--- a/x\n+++ /dev/null\n" + HUNK, "no change of one file in place"),
        ("--- x\n+++ x\n" + HUNK, "no change of one file in place"),
        ("--- a/x\n+++ b/x\n", "a hunk that changes something is missing"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n a\n", "a hunk that changes something is missing"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n", "fewer lines than its header says"),
        ("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n-b\n+b\n", "more lines than its header says"),
        ("--- a/x\n+++ b/x\n@@ one @@\n-a\n+b\n", "not a hunk header"),
        ("--- a/x\n+++ b/x\n" + HUNK + "--- a/x\n+++ b/x\n" + HUNK, "x is patched twice"),
        ("--- a/x\n+++ b/x\n" + HUNK + "rubbish\n", "are missing"),
        ("old mode 100644\n--- a/x\n+++ b/x\n" + HUNK, "are missing"),
    ],
)
def test_other_diffs_are_refused(diff: str, why: str) -> None:
    with pytest.raises(InputError) as raised:
        parse(diff)
    assert raised.value.slug == "diff-invalid"
    assert why in raised.value.message


def test_git_header_is_read_over() -> None:
    (patch,) = parse("diff --git a/x b/x\nindex 1..2 100644\n--- a/x\t2026\n+++ b/x\t2026\n" + HUNK)
    assert (patch.path, patched(patch, b"a\n")) == ("x", b"b\n")


def test_lines_out_of_order_are_refused() -> None:
    (patch,) = parse("--- a/x\n+++ b/x\n@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n")
    with pytest.raises(InputError):
        patched(patch, b"a\nb\nc\n")
    (patch,) = parse("--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+b\n")
    with pytest.raises(InputError, match="glue two lines"):
        patched(patch, b"a")

from __future__ import annotations

import os
import re
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from firstcause.errors import InputError
from firstcause.fix.apply import apply_diff
from firstcause.fix.edits import Edit, apply_edits, unified_diff

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LINE = st.text(st.sampled_from("ab é∂\t+-@\\ \x0c\u2028"), max_size=6)
TEXT = st.builds(
    lambda lines, ends, last: "".join(line + end for line, end in zip(lines, ends, strict=False)) + last,
    st.lists(LINE, max_size=25),
    st.lists(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"]), min_size=25, max_size=25),
    st.sampled_from(["", "last", "\n"]),
)


def write(path, text):
    path.write_bytes(text.encode())


def real_patch(folder, diff):
    (folder / "p.diff").write_bytes(diff.encode())
    done = subprocess.run(
        ["patch", "-p1", "-i", "p.diff"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "fuzz" not in done.stdout
    assert "offset" not in done.stdout


@QUICK
@given(before=TEXT, after=TEXT)
@example(before="a", after="a\n")
@example(before="a\n", after="a")
@example(before="", after="x\n")
@example(before="x\r\ny\r\n", after="x\r\nz\r\n")
@example(before="a\n" * 30, after="b\n" + "a\n" * 28 + "c\n")
@example(before="\r\na\nb\nc\nlast", after="\r\na\nb\nc\nd\n")
def test_patch_and_our_applier_make_the_edited_text_of_the_diff(before, after, tmp_path):
    # An empty result is a removed file for patch.
    after = after or "x\n"
    write(tmp_path / "train.py", before)
    diff = unified_diff("train.py", before, after)
    if before == after:
        assert diff == ""
        return
    real_patch(tmp_path, diff)
    assert (tmp_path / "train.py").read_bytes() == after.encode()
    write(tmp_path / "train.py", before)
    assert apply_diff(diff, str(tmp_path)) == ["train.py"]
    assert (tmp_path / "train.py").read_bytes() == after.encode()


@QUICK
@given(text=TEXT, data=st.data())
def test_an_edit_changes_its_range_and_nothing_else(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 8)))
    # A range cannot begin or end between the two characters of one line end.
    if text[start - 1 : start + 1] == "\r\n" or text[end - 1 : end + 1] == "\r\n":
        return
    edit = Edit("train.py", place(text, start), place(text, end), "NEW")
    assert apply_edits(text, [edit]) == text[:start] + "NEW" + text[end:]


def place(text, offset):
    lines = re.split(r"\r\n|\r|\n", text[:offset])
    return len(lines), len(lines[-1].encode())


def test_several_edits_are_given_for_the_text_as_it_was():
    text = "a = 1\nb = 22\n"
    edits = [
        Edit("t", (2, 4), (2, 6), "3"),
        Edit("t", (1, 4), (1, 5), "10 + 10"),
        Edit("t", (1, 4), (1, 4), "-"),
    ]
    assert apply_edits(text, edits) == "a = -10 + 10\nb = 3\n"


def test_columns_are_utf8_bytes_as_ast_counts_them():
    assert apply_edits("é = 'é'; x\n", [Edit("t", (1, 11), (1, 12), "y")]) == "é = 'é'; y\n"


def test_overlapping_edits_are_refused():
    with pytest.raises(InputError) as caught:
        apply_edits("abcdef\n", [Edit("t", (1, 0), (1, 3), "x"), Edit("t", (1, 2), (1, 4), "y")])
    assert caught.value.slug == "edits-overlap"


def test_distant_changes_are_separate_hunks_with_three_lines_of_context():
    before = "".join(f"{i}\n" for i in range(40))
    diff = unified_diff("pkg/a.py", before, before.replace("5\n", "five\n", 1).replace("30\n", "thirty\n"))
    assert diff.startswith(
        "--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -28,7 +28,7 @@\n"
    )


CHANGED = "--- a/train.py\n+++ b/train.py\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n"


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "hello\n",
        CHANGED.replace("-a", "-x"),
        CHANGED.replace("-1,2 +1,2", "-2,2 +2,2"),
        CHANGED.replace("train.py", "missing.py"),
        CHANGED.replace("train.py", "../train.py"),
        CHANGED.replace("a/train.py", "/etc/passwd").replace("b/train.py", "/etc/passwd"),
        CHANGED.replace("b/train.py", "b/other.py"),
        CHANGED.replace("-1,2 +1,2", "-1,9 +1,9"),
        "@@ -1 +1 @@\n-a\n+b\n",
        CHANGED + CHANGED,
        "--- /dev/null\n+++ b/train.py\n@@ -0,0 +1 @@\n+x\n",
    ],
)
def test_a_diff_that_does_not_fit_changes_nothing(diff, tmp_path):
    write(tmp_path / "train.py", "a\nc\n")
    with pytest.raises(InputError):
        apply_diff(diff, str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["train.py"]
    assert (tmp_path / "train.py").read_text() == "a\nc\n"


def test_all_files_change_or_none(tmp_path):
    write(tmp_path / "a.py", "a\nc\n")
    write(tmp_path / "b.py", "other\n")
    diff = CHANGED.replace("train.py", "a.py") + CHANGED.replace("train.py", "b.py")
    with pytest.raises(InputError, match=r"b\.py"):
        apply_diff(diff, str(tmp_path))
    assert (tmp_path / "a.py").read_text() == "a\nc\n"


def test_a_folder_that_is_a_link_to_the_outside_is_refused(tmp_path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "outside").mkdir()
    write(tmp_path / "outside" / "train.py", "a\nc\n")
    os.symlink(tmp_path / "outside", tmp_path / "copy" / "lib")
    with pytest.raises(InputError, match="no source below"):
        apply_diff(CHANGED.replace("train.py", "lib/train.py"), str(tmp_path / "copy"))

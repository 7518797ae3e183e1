"""Where cases lie, which of them is meant, and what is said when one cannot be made or taken up."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from case.samples import diagnosis
from case.test_case import opened
from firstcause.case import CaseFolder, all_cases, close, find_case, open_case, project_of, reject
from firstcause.case import folder as module
from firstcause.case.history import HEAD, HISTORY, Writer, read
from firstcause.errors import RecordError


def refused(act: object) -> RecordError:
    with pytest.raises(RecordError) as raised:
        act()  # type: ignore[operator]
    return raised.value


def test_case_that_cannot_be_made_is_said(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(root, "cases").write_text("a file\n")
    error = refused(lambda: opened(root))
    assert (error.slug, "cases cannot be made: " in error.message) == ("case-unwritable", True)
    Path(root, "cases").unlink()
    monkeypatch.setattr(module.secrets, "token_hex", lambda n: "a" * 2 * n)
    monkeypatch.setattr(module.time, "strftime", lambda *_: "20261128-100000")
    assert opened(root).id == "20261128-100000-nan-aaaa"
    error = refused(lambda: open_case(root, "r2", "elsewhere", diagnosis()))
    assert error.slug == "case-unwritable"
    assert "20261128-100000-nan-aaaa cannot be made: " in error.message
    assert len(all_cases(root)) == 1


def test_refusal_lets_the_lock_go(root: str) -> None:
    folder = opened(root)
    path = Path(folder.path, HISTORY)
    content = path.read_bytes()
    with Writer(folder.path) as writer:
        writer.append("applied", {"sources": {}})
    for _ in range(2):
        assert "(applied) cannot have happened" in refused(lambda: folder.writing().__enter__()).message
    path.write_bytes(content[:-9])
    for _ in range(2):
        assert "was cut off" in refused(lambda: folder.writing().__enter__()).message
    Path(folder.file(HEAD)).unlink()
    torn = content.rindex(b"\n", 0, -1) + 1
    in_the_way = Path(folder.file(f"torn-{torn}"))
    in_the_way.mkdir()
    for _ in range(2):
        assert refused(lambda: folder.writing().__enter__()).slug == "case-unwritable"
    in_the_way.rmdir()
    with folder.writing() as writer:
        assert writer.progress is not None
        assert writer.progress.recovered == len(content) - 9 - torn
    os.unlink(folder.file("lock"))
    os.mkdir(folder.file("lock"))
    assert refused(lambda: folder.writing().__enter__()).slug == "case-unwritable"


def test_every_line_set_aside_is_counted(root: str) -> None:
    folder = opened(root)
    assert folder.progress().recovered == 0
    for torn in (b"{", b'{"seq"'):
        with Path(folder.path, HISTORY).open("ab") as file:
            file.write(torn)
        reject(folder, "no", "ada") if torn == b"{" else opened(root)
    assert folder.progress().recovered == 7
    assert [e.event for e in read(folder.path).events].count("recovered") == 2


def test_what_cannot_be_read_is_said(root: str) -> None:
    folder = opened(root)
    for name in (HEAD, HISTORY):
        kept = Path(folder.path, "kept")
        os.rename(folder.file(name), kept)
        os.mkdir(folder.file(name))
        error = refused(folder.progress)
        assert (error.slug, f"{name} cannot be read: " in error.message) == ("case-unreadable", True)
        os.rmdir(folder.file(name))
        os.rename(kept, folder.file(name))
    assert folder.progress().case.state == "diagnosed"


def test_run_of_a_moved_project_is_found(root: str, tmp_path: Path) -> None:
    folder = opened(root)
    moved = tmp_path / "moved"
    moved.mkdir()
    shutil.move(root, moved)
    there = CaseFolder(str(moved / ".firstcause" / "cases" / folder.id))
    assert there.run_folder() == str(moved / ".firstcause" / "runs" / "r1")
    assert project_of(there.path) == str(moved)
    elsewhere = open_case(str(moved / ".firstcause"), "r2", "/elsewhere/r2", diagnosis())
    assert find_case(str(moved / ".firstcause"), elsewhere.id).run_folder() == "/elsewhere/r2"


def test_newest_open_case_is_meant(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = []
    for number in (1, 2, 3):
        monkeypatch.setattr(module.time, "strftime", lambda *_, n=number: f"2026112{n}-100000")
        cases.append(open_case(root, f"r{number}", "elsewhere", diagnosis()).id)
    assert [folder.id for folder in all_cases(root)] == cases
    close(find_case(root), "measure")
    assert find_case(root).id == cases[1]
    assert find_case(root, cases[0]).id == cases[0]
    assert find_case(root, "20261123").id == cases[2]
    assert "3 cases begin with '2026112'" in refused(lambda: find_case(root, "2026112")).message
    error = refused(lambda: find_case(root, "nothing"))
    assert error.message == f"no case 'nothing' in {os.path.join(root, 'cases')}"
    # A whole id is that case, though another one begins with it.
    shutil.copytree(find_case(root, cases[0]).path, f"{root}/cases/{cases[0]}-copy")
    assert find_case(root, cases[0]).id == cases[0]


def test_case_without_its_acknowledged_line_is_shown(root: str) -> None:
    folder = opened(root)
    head = Path(folder.path, HEAD).read_bytes()
    Path(folder.path, HEAD).unlink()
    assert [f.id for f in all_cases(root)] == [folder.id]
    Path(folder.path, HEAD).write_bytes(head)
    Path(folder.path, HISTORY).write_bytes(b"")
    assert [f.id for f in all_cases(root)] == [folder.id]
    Path(folder.path, HEAD).write_bytes(b"")
    assert all_cases(root) == []

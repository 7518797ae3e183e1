"""A change that nobody approved is found wherever and whenever it was made."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from case.samples import PROGRAM
from case.test_case import approved, events, opened
from firstcause.case import Verification, apply, verify, watching
from firstcause.case.watching import differences, snapshot
from firstcause.errors import GateError, InputError


def edit(path: str, text: str = "changed = 1\n") -> Callable[[Path], None]:
    def act(cwd: Path) -> None:
        (cwd / path).parent.mkdir(exist_ok=True)
        (cwd / path).write_text(text)

    return act


@pytest.mark.parametrize("moment", ["before apply", "after apply", "while it runs"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (edit("data.py"), "data.py changed"),
        (edit("conf/model.yaml", "lr: 10\n"), "conf/model.yaml changed"),
        (edit("torch.py"), "torch.py was added"),
        (edit("pkg/__init__.py"), "pkg/__init__.py was added"),
        (lambda cwd: (cwd / "data.py").unlink(), "data.py was removed"),
    ],
)
def test_change_voids_the_verification(
    root: str, moment: str, change: Callable[[Path], None], said: str
) -> None:
    cwd = Path(root).parent
    edit("conf/model.yaml", "lr: 1\n")(cwd)
    folder = opened(root)
    approved(folder)
    if moment == "before apply":
        change(cwd)
    apply(folder, str(cwd))
    if moment == "after apply":
        change(cwd)

    def again() -> Verification:
        assert moment == "while it runs"
        change(cwd)
        return Verification(True, "fine")

    with pytest.raises(GateError) as raised:
        verify(folder, str(cwd), again)
    assert raised.value.slug == "files-changed"
    assert (
        raised.value.message == f"{said} since the fix was approved, and nobody approved that: not verified"
    )
    assert (events(folder)[-1], folder.progress().case.state) == ("voided", "fixed")


def test_what_a_program_writes_is_no_change(root: str) -> None:
    cwd = Path(root).parent
    folder = opened(root)
    approved(folder)
    apply(folder, str(cwd))
    for path in ("loss.json", "log.txt", "conf.yaml", "__pycache__/x.py", ".hydra/config.yaml"):
        edit(path)(cwd)
    (cwd / "runs" / "a" / "code").mkdir(parents=True)
    edit("runs/a/code/train.py")(cwd)
    assert verify(folder, str(cwd), lambda: Verification(True, "fine"))[1].case.state == "verified"


def test_what_git_keeps_is_watched_whatever_it_is(root: str) -> None:
    cwd = Path(root).parent
    edit("ds.json", "{}")(cwd)
    edit("left.json", "{}")(cwd)
    assert "ds.json" not in snapshot(str(cwd))
    subprocess.run(["git", "init", "-q", "."], cwd=cwd, check=True)
    subprocess.run(["git", "add", "ds.json"], cwd=cwd, check=True)
    known = snapshot(str(cwd), ["gone.py"])
    assert {"ds.json", "train.py", "data.py", "gone.py"} == set(known)
    assert known["gone.py"] == ""
    edit("ds.json", "[]")(cwd)
    edit("gone.py")(cwd)
    assert differences(str(cwd), known, False) == [("ds.json", "changed"), ("gone.py", "was added")]


def test_environments_and_records_are_not_watched(tmp_path: Path) -> None:
    for path in ("env/lib.py", "env/pyvenv.cfg", ".firstcause/runs/x.py", "site-packages/y.py", "a.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    assert set(snapshot(str(tmp_path))) == {"a.py"}


def test_patched_file_that_changed_elsewhere_is_not_patched(root: str) -> None:
    cwd = Path(root).parent
    folder = opened(root)
    approved(folder)
    (cwd / "train.py").write_text(PROGRAM + "\n\n\nextra = 1\n")
    with pytest.raises(InputError, match=r"train\.py changed since the patch was approved for it") as raised:
        apply(folder, str(cwd))
    assert raised.value.slug == "patch-mismatch"
    assert (cwd / "train.py").read_text() == PROGRAM + "\n\n\nextra = 1\n"
    assert events(folder)[-1] == "approved"


def test_many_changes_are_one_line(root: str) -> None:
    cwd = Path(root).parent
    for number in range(9):
        edit(f"m{number}.py", "x = 0\n")(cwd)
    folder = opened(root)
    approved(folder)
    apply(folder, str(cwd))
    for number in range(9):
        edit(f"m{number}.py")(cwd)
    with pytest.raises(GateError) as raised:
        verify(folder, str(cwd), lambda: pytest.fail("the program must not run"))
    assert "m4.py changed and 4 more files since" in raised.value.message
    assert "m5.py" not in raised.value.message


def test_module_that_may_stand_in_for_another_is_one_or_two_folders_deep(tmp_path: Path) -> None:
    for path in ("train.py", "pkg/a.py", "conf/deep/x.yaml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        edit(path)(tmp_path)
    known = snapshot(str(tmp_path))
    assert differences(str(tmp_path), known, True) == []
    added = ["b.py", "new/c.py", "pkg/d.py", "pkg/sub/e.py"]
    for path in (*added, "out/run/f.py", "pkg/sub/deep/g.py", "conf/deep/h.py", "notes.yaml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    assert differences(str(tmp_path), known, False) == []
    assert differences(str(tmp_path), known, True) == [(path, "was added") for path in added]
    (tmp_path / "train.py").unlink()
    edit("pkg/a.py", "other = 1\n")(tmp_path)
    assert differences(str(tmp_path), known, False) == [("pkg/a.py", "changed"), ("train.py", "was removed")]


def test_no_more_than_so_many_files_are_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        edit(f"m{number}.py")(tmp_path)
    monkeypatch.setattr(watching, "MOST_FILES", 3)
    assert sorted(snapshot(str(tmp_path))) == ["m0.py", "m1.py", "m2.py"]
    git = ["git", "-c", "user.name=x", "-c", "user.email=x"]
    subprocess.run([*git, "init", "-q", "."], cwd=tmp_path, check=True)
    for number in range(4):
        edit(f"d{number}.json", "{}")(tmp_path)
    subprocess.run([*git, "add", "."], cwd=tmp_path, check=True)
    assert sorted(snapshot(str(tmp_path))) == ["d0.json", "d1.json", "d2.json", "m0.py", "m1.py", "m2.py"]


def test_large_files_and_what_is_no_file_are_not_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LARGEST", 5)
    edit("small.py", "x = 1")(tmp_path)
    edit("large.py", "x = 11")(tmp_path)
    (tmp_path / "gone.py").symlink_to("nowhere")
    assert set(snapshot(str(tmp_path))) == {"small.py"}
    real = os.path.getsize
    monkeypatch.setattr(watching.os.path, "getsize", lambda p: real(p + ".deleted meanwhile"))
    assert snapshot(str(tmp_path)) == {}


def test_own_records_are_not_watched_even_where_git_keeps_them(root: str) -> None:
    cwd = Path(root).parent
    subprocess.run(["git", "init", "-q", "."], cwd=cwd, check=True)
    subprocess.run(["git", "add", "-f", "."], cwd=cwd, check=True)
    assert (
        subprocess.run(["git", "ls-files"], cwd=cwd, check=True, capture_output=True).stdout.count(b"\n") == 3
    )
    assert set(snapshot(str(cwd))) == {"train.py", "data.py"}


@pytest.mark.parametrize("git", ["sleep 5", "exit 3; echo x", "printf 'ds.json\\0'"])
def test_git_that_hangs_or_fails_keeps_nothing_from_being_watched(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, git: str
) -> None:
    edit("ds.json", "{}")(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").write_text(f"#!/bin/sh\n{git}\n")
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setattr(watching, "_GIT_SECONDS", 0.2 if "sleep" in git else 10.0)
    kept = {"ds.json"} if git.startswith("printf") else set()
    assert set(snapshot(str(tmp_path))) == {"train.py", "data.py"} | kept
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    assert set(snapshot(str(tmp_path))) == {"train.py", "data.py"}


def test_sources_are_those_of_the_run(root: str) -> None:
    cwd = Path(root).parent
    folder = opened(root)
    assert watching.sources_of(folder) == ("train.py", "data.py")
    edit("conf.txt", "lr 1")(cwd)
    path = Path(root, "runs", "r1", "run.json")
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "sources": {"conf.txt": "", "/elsewhere/x.py": ""}}))
    assert watching.sources_of(folder) == ("conf.txt", "/elsewhere/x.py")
    assert set(watching.project(folder)) == {"train.py", "data.py", "conf.txt", "/elsewhere/x.py"}
    path.write_text(json.dumps({**record, "sources": None}))
    assert watching.sources_of(folder) == ()
    path.unlink()
    assert watching.sources_of(folder) == ()
    assert set(watching.project(folder)) == {"train.py", "data.py"}


def test_changes_are_named_up_to_five(root: str) -> None:
    cwd = Path(root).parent
    for number in range(7):
        edit(f"m{number}.py", "x = 0\n")(cwd)
    folder = opened(root)
    approved(folder)
    apply(folder, str(cwd))
    for number in range(5):
        edit(f"m{number}.py")(cwd)
    with pytest.raises(GateError) as raised:
        verify(folder, str(cwd), lambda: pytest.fail("the program must not run"))
    assert raised.value.message.startswith(
        "m0.py changed, m1.py changed, m2.py changed, m3.py changed, m4.py changed since"
    )
    edit("m5.py")(cwd)
    with pytest.raises(GateError, match=r"m4\.py changed and 1 more file since"):
        verify(folder, str(cwd), lambda: pytest.fail("the program must not run"))
    edit("m6.py")(cwd)
    with pytest.raises(GateError, match=r"m4\.py changed and 2 more files since"):
        verify(folder, str(cwd), lambda: pytest.fail("the program must not run"))

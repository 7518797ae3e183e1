"""A change that nobody approved is found wherever and whenever it was made."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from case.samples import PROGRAM
from case.test_case import approved, events, opened
from firstcause.case import Verification, apply, verify
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

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from firstcause.errors import InputError, RecordError
from firstcause.fix.writing import rewrite, target


def test_replaces_all_files_and_keeps_their_modes(tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "pkg" / "two.sh"
    two.parent.mkdir()
    for path, mode in ((one, 0o640), (two, 0o755)):
        path.write_bytes(b"old\n")
        path.chmod(mode)
    rewrite({str(one): b"new\n", str(two): b""})
    assert (one.read_bytes(), two.read_bytes()) == (b"new\n", b"")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (one, two)] == [0o640, 0o755]
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["one.py", "pkg", "two.sh"]


def test_missing_file_leaves_the_others_alone(tmp_path: Path) -> None:
    one = tmp_path / "one.py"
    one.write_bytes(b"old\n")
    with pytest.raises(RecordError, match="no file was changed"):
        rewrite({str(one): b"new\n", str(tmp_path / "gone.py"): b""})
    assert one.read_bytes() == b"old\n"
    assert [p.name for p in tmp_path.iterdir()] == ["one.py"]


def test_failure_half_way_puts_the_first_file_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / name for name in ("a.py", "b.py", "c.py")]
    for file in files:
        file.write_bytes(b"old\n")
    replace, calls = os.replace, []

    def failing(source: str, destination: str) -> None:
        calls.append(destination)
        if len(calls) == 3:
            raise OSError(5, "Input/output error", destination)
        replace(source, destination)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(RecordError, match="no file was changed"):
        rewrite({str(file): b"new\n" for file in files})
    assert [file.read_bytes() for file in files] == [b"old\n"] * 3
    assert len(calls) == 5
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.py", "b.py", "c.py"]


def test_failure_to_put_back_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / "a.py", tmp_path / "b.py"]
    for file in files:
        file.write_bytes(b"old\n")
    replace, calls = os.replace, []

    def failing(source: str, destination: str) -> None:
        calls.append(destination)
        if len(calls) >= 2:
            raise OSError(5, "Input/output error", destination)
        replace(source, destination)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(RecordError) as raised:
        rewrite({str(file): b"new\n" for file in files})
    assert raised.value.slug == "patch-half-written"
    assert "a.py" in raised.value.message


@pytest.mark.parametrize(
    "path",
    ["../out.py", "/etc/hostname", "pkg/../../out.py", "away/out.py", "link.py", "", ".", ".git/config", "x\0y",
     ".firstcause/cases/x", "inner/.git/hooks/pre-commit"],
)  # fmt: skip
def test_paths_outside_the_project_are_refused(tmp_path: Path, path: str) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (
        project / ".git",
        project / ".firstcause" / "cases",
        project / "inner/.git/hooks",
        outside,
    ):
        folder.mkdir(parents=True)
    for file in (outside / "out.py", tmp_path / "out.py", project / ".git" / "config"):
        file.write_text("x\n")
    (project / "away").symlink_to(outside)
    (project / "link.py").symlink_to(outside / "out.py")
    with pytest.raises(InputError) as raised:
        target(str(project), path)
    assert raised.value.slug == "patch-outside"


def test_link_inside_the_project_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text("x\n")
    (tmp_path / "link.py").symlink_to("real.py")
    path = target(str(tmp_path), "link.py")
    rewrite({path: b"y\n"})
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_text() == "y\n"


def test_missing_file_is_told_apart_from_one_outside(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        target(str(tmp_path), "train.py")
    assert raised.value.slug == "patch-no-file"

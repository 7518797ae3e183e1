"""An archive of a run: what is in it, what was left out and why, and that it is whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from firstcause.errors import InputError, RecordError
from firstcause.record.folder import RunFolder
from firstcause.record.pack import MANIFEST, pack


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    run = tmp_path / "run-1"
    for name in ("run.json", "snapshots/a/state.pt", "sources/abc", "scratch/x", "run.json.new"):
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(f"content of {name}")
    (tmp_path / "secret").write_text("of somebody else")
    (run / "link").symlink_to(tmp_path / "secret")
    return RunFolder(str(run))


def content(path: str) -> dict[str, bytes]:
    if path.endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            return {n: archive.read(n) for n in archive.namelist()}
    with tarfile.open(path) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["x.tar.gz", "x.tgz", "x.zip"])
def test_the_manifest_tells_what_is_in_it_and_what_is_not(
    folder: RunFolder, tmp_path: Path, name: str
) -> None:
    out = str(tmp_path / name)
    packed = pack(folder, out, frozenset({"data"}))
    held = content(out)
    manifest = json.loads(held.pop(f"run-1/{MANIFEST}"))
    assert set(held) == {"run-1/run.json", "run-1/sources/abc"} == {f"run-1/{n}" for n in manifest["files"]}
    for file, said in manifest["files"].items():
        assert said["sha256"] == hashlib.sha256(held[f"run-1/{file}"]).hexdigest()
        assert said["bytes"] == len(held[f"run-1/{file}"])
    assert manifest["left_out"] == packed.left_out == {
        "link": "a link, or no plain file",
        "run.json.new": "half a file",
        "scratch/x": "files of a replay that was cut short",
        "snapshots/a/state.pt": "--without data",
    }  # fmt: skip
    assert os.stat(out).st_mode & 0o777 == 0o600
    assert b"of somebody else" not in Path(out).read_bytes()


def test_all_of_it_without_a_wish(folder: RunFolder, tmp_path: Path) -> None:
    assert "snapshots/a/state.pt" in pack(folder, str(tmp_path / "x.zip")).files


def test_another_kind_and_another_place_are_refused(folder: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"neither .tar.gz nor .zip"):
        pack(folder, str(tmp_path / "x.rar"))
    with pytest.raises(RecordError, match="cannot be written"):
        pack(folder, str(tmp_path / "none" / "x.zip"))
    assert not list(tmp_path.glob("x*"))

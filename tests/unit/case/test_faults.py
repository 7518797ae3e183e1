"""Full disks, read-only and removed folders, damage, newer versions, two writers: one clear line, code 2, nothing lost."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from case.samples import FIXED, PROGRAM, diagnosis, project
from firstcause.case import CaseFolder, approve, diagnosis_hash, diff_hash, find_case, open_case
from firstcause.case.event import START, digest
from firstcause.case.history import HEAD, HISTORY, Writer, read
from firstcause.cli.main import main
from firstcause.errors import RecordError

COMMAND = (sys.executable, "-m", "firstcause")
YES = {"symptom": "y", "scope": "t", "side-effect": "y"}
STEPS = {
    "show": [],
    "reject": ["--because", "seen before"],
    "apply": [],
    "verify": [],
    "try": [],
    "close": ["--lesson", "measure"],
}


def approved_case(cwd: Path, run: str = "r1") -> CaseFolder:
    root = str(project(cwd)) if not (cwd / ".firstcause").exists() else str(cwd / ".firstcause")
    shown = diagnosis()
    folder = find_case(root, open_case(root, run, f"{root}/runs/{run}", shown).id)
    approve(folder, diagnosis_hash(shown), diff_hash(shown), "tester", YES)
    return folder


def case(cwd: Path, step: str, *words: str, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "case", step, *words, *STEPS.get(step, [])],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **more,  # type: ignore[call-overload]
    )


def inside(cwd: Path, step: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The same command in this process, which saves the start of another."""
    out, err = io.StringIO(), io.StringIO()
    before = os.getcwd()
    os.chdir(cwd)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["case", step, *words, *STEPS.get(step, [])])
    finally:
        os.chdir(before)
    return subprocess.CompletedProcess([step], code, out.getvalue(), err.getvalue())


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The one line of a refusal, which ends with code 2 and names the next step."""
    assert done.returncode == 2, done.stdout + done.stderr
    said, following = done.stderr.splitlines()
    assert said.startswith("firstcause: ")
    assert following.startswith("next: ")
    assert "Traceback" not in done.stderr
    return said


def flipped(content: bytes) -> bytes:
    return content[:200] + bytes([content[200] ^ 4]) + content[201:]


def newer(content: bytes) -> bytes:
    """The same history as a later version would begin it, its chain whole."""
    last, lines = START, []
    for line in content.splitlines():
        record = json.loads(line)
        if record["event"] == "opened":
            record["data"]["schema"] = 99
        record["previous"] = last
        lines.append(json.dumps(record, separators=(",", ":")).encode())
        last = digest(lines[-1])
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda c: c[: c.rindex(b"\n", 0, -1) + 1], "was acknowledged: it was cut off"),
        (lambda c: c[:-40], "was acknowledged: it was cut off"),
        (lambda c: b"", "was acknowledged: it was cut off"),
        (flipped, "does not follow from the line before"),
        (newer, "is of version 99, and this firstcause reads up to version 2"),
        (lambda c: b"\x00\xff" * 300 + b"\n", "line 1: "),
    ],
)
def test_damaged_history_is_refused_by_each_command(
    tmp_path: Path, damage: Callable[[bytes], bytes], said: str
) -> None:
    folder = approved_case(tmp_path)
    other = approved_case(tmp_path, "r2")
    path = Path(folder.path, HISTORY)
    bad = damage(path.read_bytes())
    path.write_bytes(bad)
    if said.startswith("is of version"):
        Path(folder.path, HEAD).unlink()
    healthy = Path(other.path, HISTORY).read_bytes()
    for step in STEPS:
        assert said in one_line(inside(tmp_path, step, folder.path))
    assert said in one_line(case(tmp_path, "apply", folder.path))
    assert path.read_bytes() == bad
    assert (tmp_path / "train.py").read_text() == PROGRAM
    assert Path(other.path, HISTORY).read_bytes() == healthy
    listed = inside(tmp_path, "list")
    assert listed.returncode == 0
    assert f"{folder.id}  damaged" in listed.stdout
    assert f"{other.id}  approved" in listed.stdout
    assert inside(tmp_path, "apply", other.id).returncode == 0


def test_two_writers(tmp_path: Path) -> None:
    folder = approved_case(tmp_path)
    before = Path(folder.path, HISTORY).read_bytes()
    with Writer(folder.path):
        for step in ("reject", "apply", "close"):
            assert f"is being written by process {os.getpid()}" in one_line(case(tmp_path, step))
        assert case(tmp_path, "show").returncode == 0
    assert Path(folder.path, HISTORY).read_bytes() == before
    assert (tmp_path / "train.py").read_text() == PROGRAM


def test_many_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    folder = approved_case(tmp_path)
    words = [*COMMAND, "case", "reject", folder.id, "--because"]
    children = [
        subprocess.Popen(
            [*words, f"writer {n}"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for n in range(6)
    ]
    codes = []
    for child in children:
        child.communicate(timeout=60)
        codes.append(child.returncode)
    # Of an approval one rejection has a place; every other is refused, either as second writer or as too late.
    assert sorted(codes) == [0, 2, 2, 2, 2, 2]
    rejections = folder.progress().rejections
    assert [r.text for r in rejections] == [f"writer {codes.index(0)}"]


def test_removed_folders(tmp_path: Path) -> None:
    folder = approved_case(tmp_path)
    shutil.rmtree(folder.path)
    for step in STEPS:
        assert f"no case '{folder.id}'" in one_line(inside(tmp_path, step, folder.id))
    shutil.rmtree(tmp_path / ".firstcause")
    for step in STEPS:
        assert "has no open case" in one_line(inside(tmp_path, step))
    assert case(tmp_path, "list").returncode == 0


def test_folder_removed_while_it_is_written(tmp_path: Path) -> None:
    folder = approved_case(tmp_path)
    with folder.writing() as writer:
        shutil.rmtree(folder.path)
        with pytest.raises(RecordError, match="was removed while it was written"):
            writer.append("rejected", because="x", by="y")


def test_removed_record_takes_nothing_from_the_case(tmp_path: Path) -> None:
    folder = approved_case(tmp_path)
    shutil.rmtree(tmp_path / ".firstcause" / "runs")
    assert case(tmp_path, "show").returncode == 0
    assert case(tmp_path, "apply").returncode == 0
    assert "holds no run.json" in one_line(case(tmp_path, "verify"))
    assert folder.progress().case.state == "fixed"


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    """What a full quota does: a write past the limit is refused in the middle of a line."""
    folder = approved_case(tmp_path)
    before = Path(folder.path, HISTORY).read_bytes()
    limit = len(before) + 60

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    for step in ("reject", "apply", "close"):
        done = case(tmp_path, step, preexec_fn=limited)
        assert done.returncode == 2
        if step != "close":
            assert "cannot be written" in one_line(done)
        assert Path(folder.path, HISTORY).read_bytes() == before
        assert (tmp_path / "train.py").read_text() == PROGRAM
    assert case(tmp_path, "apply").returncode == 0
    assert (tmp_path / "train.py").read_text() == FIXED


def mounted(cwd: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script where .firstcause is a disk of 256 KiB of its own, with the same content."""
    fc = " ".join(COMMAND)
    text = f"""set -e
cp -a .firstcause kept && mount -t tmpfs -o size=256k none .firstcause && cp -a kept/. .firstcause/
fc() {{ {fc} case "$@" && code=0 || code=$?; echo "code $code" >&2; }}
{script}"""
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", text],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"no mount here: {done.stderr.strip()[:200]}")
    return done


def test_full_disk(tmp_path: Path) -> None:
    approved_case(tmp_path)
    history = ".firstcause/cases/*/history.jsonl"
    (tmp_path / "kept.py").write_text(PROGRAM)
    done = mounted(
        tmp_path,
        f"""cp {history} before
dd if=/dev/zero of=.firstcause/fill bs=1k 2>/dev/null || true
for n in 1 2 3; do echo x; done > .firstcause/more 2>/dev/null || true
fc apply
cmp {history} before && cmp train.py kept.py
fc close --lesson x
fc reject --because "$(printf '%05000d' 1)"
cmp {history} before
rm .firstcause/fill
fc apply
fc show >shown""",
    )
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("code")] == [
        "code 2",
        "code 2",
        "code 2",
        "code 0",
        "code 0",
    ]
    assert "No space left on device" in lines[0]
    assert "firstcause: " in lines[0]
    assert "fixed" in (tmp_path / "shown").read_text()


def test_read_only_folder(tmp_path: Path) -> None:
    approved_case(tmp_path)
    done = mounted(
        tmp_path,
        """mount -o remount,ro .firstcause
fc apply
fc reject --because x
fc close --lesson x
fc show >shown
fc list >listed""",
    )
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("code")] == [
        "code 2",
        "code 2",
        "code 2",
        "code 0",
        "code 0",
    ]
    assert sum("Read-only file system" in line for line in lines) == 3
    assert (tmp_path / "train.py").read_text() == PROGRAM
    assert "approved" in (tmp_path / "listed").read_text()


def test_head_is_of_one_length(tmp_path: Path) -> None:
    folder = approved_case(tmp_path)
    assert os.path.getsize(folder.file(HEAD)) == 85
    assert len(read(folder.path).events) == 5

"""A disk that takes nothing more, or a folder that goes: the program ends as it would without us."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import processes
import programs
import pytest

from firstcause.record import checked
from firstcause.record.folder import RunFolder

# In a namespace of its own the mount goes with the last process of it.
OWN_MOUNTS = ("unshare", "-m") if os.geteuid() == 0 else ("unshare", "-rm")


PLAIN = "import sys\nprint('trained')\nsys.exit(3)\n"
TRAINS = programs.FAILS.replace("range(150)", "range(60)") + "sys.exit(3)\n"


def mounts_work() -> bool:
    if shutil.which("unshare") is None:
        return False
    trial = [*OWN_MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(trial, capture_output=True, check=False).returncode == 0


with_mount = pytest.mark.skipif(not mounts_work(), reason="no mount can be made here")


def mounted(options: str, at: str) -> Sequence[str]:
    """A prefix for a command that sees a file system in memory at a folder."""
    script = f'mount -t tmpfs -o {options} none {at} && exec "$@"'
    return (*OWN_MOUNTS, "sh", "-c", script, "sh")


@cache
def plain(source: str) -> processes.Done:
    with tempfile.TemporaryDirectory() as folder:
        return processes.command([sys.executable, "-c", source], Path(folder))


def compared(recorded: processes.Done, cwd: Path, said: str) -> str:
    """The one line of ours that says why, after everything else was found as without us."""
    without = plain(PLAIN if "torch" not in source(cwd) else TRAINS)
    assert (recorded.code, recorded.stdout) == (without.code, without.stdout), recorded.stderr
    assert "Traceback" not in recorded.stderr
    lines = [line for line in recorded.stderr.splitlines() if said in line]
    assert len(lines) == 1, recorded.stderr
    return lines[0]


def source(cwd: Path) -> str:
    return (cwd / "train.py").read_text()


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAINS)
    return tmp_path


def at_step(cwd: Path, step: int, statement: str) -> None:
    """Let the program do something before this step, only where it is recorded."""
    guarded = f"    if step == {step} and 'FIRSTCAUSE_RUN' in os.environ: {statement}\n"
    (cwd / "train.py").write_text(TRAINS.replace("    x = torch", f"{guarded}    x = torch", 1))


SMALL = ("sh", "-c", '"$@"; c=$?; cp -r small kept; exit $c', "sh")


def in_small(size: str, cwd: Path) -> processes.Done:
    """The training, recorded on a disk of this size, of which a copy is kept."""
    (cwd / "small").mkdir(exist_ok=True)
    words = ("run", "-o", "small/run", "python", "train.py")
    return processes.command(
        [*mounted(f"size={size}", "small"), *SMALL, *processes.FIRSTCAUSE, *words], cwd, COLUMNS="400"
    )


@with_mount
@pytest.mark.parametrize("size", ["4k", "16k"])
def test_no_room_from_the_start(size: str, cwd: Path) -> None:
    (cwd / "train.py").write_text(PLAIN)
    line = compared(in_small(size, cwd), cwd, "No space left on device")
    assert line.startswith("firstcause: ")
    assert line.endswith("the command runs unrecorded")


@with_mount
@pytest.mark.parametrize("step", [pytest.param(0, marks=pytest.mark.slow), 20])
def test_disk_that_fills_up(step: int, cwd: Path) -> None:
    at_step(cwd, step, "os.system('cat /dev/zero > small/other 2>/dev/null')")
    compared(in_small("400k", cwd), cwd, "No space left on device")
    record = RunFolder(str(cwd / "kept" / "run"))
    assert record.run().exit_code == 3
    assert record.run().seconds is not None
    assert sum(r.lost_bytes for r in record.journals().values()) == 0
    assert max(len(r.rows) for r in record.journals().values()) >= step
    diagnosed = processes.firstcause(cwd, "diagnose", "kept/run")
    assert diagnosed.code == 3
    assert "No space left on device" in " ".join(diagnosed.stdout.split())


@with_mount
def test_read_only_folder(cwd: Path) -> None:
    readonly = f'mount --bind {cwd} {cwd} && mount -o remount,ro,bind {cwd} && cd {cwd} && exec "$@"'
    (cwd / "train.py").write_text(PLAIN)
    done = processes.command(
        [*OWN_MOUNTS, "sh", "-c", readonly, "sh", *processes.FIRSTCAUSE, "run", "python", "train.py"], cwd
    )
    assert done.code == 3
    assert done.stdout == "trained\n"
    assert len(done.stderr.splitlines()) == 1
    assert "Read-only file system" in done.said[0]
    assert "unrecorded" in done.said[0]


@with_mount
@pytest.mark.parametrize("finished", [True, False])
def test_record_on_a_read_only_disk(finished: bool, cwd: Path) -> None:
    (cwd / "train.py").write_text(PLAIN)
    assert processes.firstcause(cwd, "run", "-o", "run", "python", "train.py").code == 3
    if not finished:
        path = cwd / "run" / "run.json"
        facts = checked.loads(path.read_text())
        path.write_text(checked.dumps(facts | {"seconds": None, "exit_code": None, "symptoms": []}))
    readonly = f'mount --bind {cwd} {cwd} && mount -o remount,ro,bind {cwd} && cd {cwd} && exec "$@"'
    prefix = [*OWN_MOUNTS, "sh", "-c", readonly, "sh"]
    done = processes.firstcause(cwd, "diagnose", "run", prefix=prefix)
    assert done.code == (3 if finished else 2)
    assert len(done.said) == 1
    assert "Read-only file system" in done.said[0]
    assert ("ended with exit code 3" in done.stdout) is finished


def test_folder_is_a_file(cwd: Path) -> None:
    (cwd / "train.py").write_text(PLAIN)
    (cwd / ".firstcause").write_text("a file\n")
    line = compared(processes.firstcause(cwd, "run", "python", "train.py"), cwd, "unrecorded")
    assert ".firstcause" in line
    assert (cwd / ".firstcause").read_text() == "a file\n"


@pytest.mark.parametrize("step", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_record_removed_while_it_is_written(step: int, cwd: Path) -> None:
    at_step(cwd, step, "__import__('shutil').rmtree(os.environ['FIRSTCAUSE_RUN'])")
    line = compared(processes.firstcause(cwd, "run", "python", "train.py"), cwd, "was removed")
    assert line.startswith("firstcause: ")
    assert not list((cwd / ".firstcause" / "runs").iterdir())
    after = processes.firstcause(cwd, "diagnose")
    assert after.code == 2
    assert len(after.said) == 1

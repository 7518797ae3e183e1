"""What a record keeps: for its owner alone, without secrets, listed, packed, removed, and restored bit for bit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import torch
from recording import environment, firstcause, record, the_run

SECRETS = {
    "HF_TOKEN": "hf_aBcDeFgHiJkLmNoPqRsTuVwX",
    "WANDB_API_KEY": "0123456789abcdef0123456789abcdef01234567",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY",
    "SERVICE_API_KEY": "s3rv1ce-k3y-of-somebody",
}
WORDS = ("--api-key", "t0p-s3cret", "--password=hunter2", "postgres://me:pa55word@host/db", "--lr", "0.1")
SECRET_WORDS = ("t0p-s3cret", "hunter2", "pa55word")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    before = os.umask(0)
    try:
        done = record(folder, "tied_and_saved", words=WORDS, **SECRETS)
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"done {list(WORDS)}\n"
    # The last line of the log is the whole of it.
    last = done.stderr.splitlines()[-1]
    assert last.startswith("firstcause: failed: nan: ")
    assert last.endswith(f"record {os.path.relpath(the_run(folder).path, folder)}")
    assert "1 word" not in last
    return folder


def test_everything_is_for_its_owner_alone(recorded: Path) -> None:
    home = recorded / ".firstcause"
    modes = {p: p.lstat().st_mode & 0o777 for p in (home, *home.rglob("*"))}
    assert len(modes) > 8
    wrong = {str(p): oct(m) for p, m in modes.items() if m != (0o700 if p.is_dir() else 0o600)}
    assert wrong == {}


def test_no_secret_is_anywhere_in_the_record(recorded: Path) -> None:
    texts = {p: p.read_bytes() for p in (recorded / ".firstcause").rglob("*") if p.is_file()}
    for secret in (*SECRETS.values(), *SECRET_WORDS):
        assert [str(p) for p, text in texts.items() if secret.encode() in text] == []
    run = the_run(recorded).run()
    assert run.command[-6:] == ("--api-key", "[redacted]", "--password=[redacted]", "postgres://me:[redacted]@host/db", "--lr", "0.1")  # fmt: skip
    assert any("3 words of the command line" in note for note in run.notes)


def test_the_state_is_restored_bit_for_bit(recorded: Path) -> None:
    out = recorded / "restored.pt"
    done = firstcause(recorded, "restore", "--step", "5", "-o", str(out))
    assert done.returncode == 0, done.stderr
    assert "not in it: schedulers" in done.stdout
    restored = torch.load(out, weights_only=True)
    own = torch.load(recorded / "own.pt", weights_only=True)
    assert set(restored) == {"model", "optimizer", "step"}
    assert restored["step"] == 5
    same(restored["model"], own["model"])
    same(restored["optimizer"], own["optimizer"])
    assert "out.weight" in restored["model"]
    assert "made_anew" not in restored["model"]


def same(one: Any, two: Any) -> None:
    assert type(one) is type(two) or (isinstance(one, dict) and isinstance(two, dict))
    if isinstance(one, dict):
        assert list(one) == list(two) or set(one) == set(two)
        for key in two:
            same(one[key], two[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(two)
        for a, b in zip(one, two, strict=True):
            same(a, b)
    elif isinstance(one, torch.Tensor):
        assert one.dtype == two.dtype
        assert torch.equal(one, two)
    else:
        assert one == two


def test_steps_that_are_not_held_are_answered_with_those_that_are(recorded: Path) -> None:
    done = firstcause(recorded, "restore", "--step", "2", "-o", "x.pt")
    assert (done.returncode, done.stdout) == (2, "")
    assert "the state before step 2 is not held; held are: 5" in done.stderr
    (recorded / "there.pt").write_text("mine")
    done = firstcause(recorded, "restore", "-o", "there.pt")
    assert done.returncode == 2
    assert "there.pt exists" in done.stderr
    assert (recorded / "there.pt").read_text() == "mine"
    assert not (recorded / "x.pt").exists()


@pytest.mark.parametrize("name", ["state.pt", "state.json"])
def test_a_damaged_state_is_not_restored(recorded: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(the_run(recorded).path, copy)
    (path,) = copy.rglob(name)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    done = firstcause(tmp_path, "restore", str(copy), "-o", "x.pt")
    assert (done.returncode, done.stdout) == (2, "")
    assert str(path) in done.stderr
    assert "the state of no step" not in done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert not (tmp_path / "x.pt").exists()


@pytest.mark.slow
def test_several_models_are_restored_by_their_names(tmp_path: Path) -> None:
    assert record(tmp_path, "two_models_saved", "-q").returncode == 0
    done = firstcause(tmp_path, "restore", "-o", "r.pt")
    assert done.returncode == 0, done.stderr
    restored, own = (torch.load(tmp_path / n, weights_only=True) for n in ("r.pt", "own.pt"))
    same(restored["models"], {n: own[n] for n in ("generator", "critic")})
    same(restored["optimizers"], {n: own[n] for n in ("slow", "fast")})


def test_list_show_pack_and_rm(tmp_path: Path) -> None:
    # Its own run: it is removed, and the others' tests may come after this one.
    recorded = tmp_path
    assert record(recorded, "tied_and_saved", words=WORDS, **SECRETS).returncode == 0
    run = the_run(recorded).path
    name = os.path.basename(run)
    done = firstcause(recorded, "runs", "list")
    assert done.stdout.splitlines()[0].startswith(name)
    assert done.stdout.splitlines()[-1].startswith("1 runs, ")
    (row,) = json.loads(firstcause(recorded, "runs", "list", "--json", "-").stdout)
    assert (row["id"], row["symptoms"], row["exit_code"], row["cases"]) == (name, ["nan"], 0, [])
    assert row["bytes"] == sum(p.stat().st_size for p in Path(run).rglob("*") if p.is_file())
    shown = firstcause(recorded, "runs", "show", name).stdout
    assert "held before step 5" in shown
    assert "[redacted]" in shown
    done = firstcause(recorded, "runs", "pack", "-o", "r.tar.gz", "--without", "data")
    assert done.returncode == 0, done.stderr
    assert "left out: snapshots" in done.stdout
    with tarfile.open(recorded / "r.tar.gz") as tar:
        assert f"{name}/run.json" in tar.getnames()
    assert firstcause(recorded, "diagnose", "-q").returncode in (0, 3)
    refused = firstcause(recorded, "runs", "rm", "last")
    assert refused.returncode == 2
    assert "points to it" in refused.stderr
    assert os.path.isdir(run)
    done = firstcause(recorded, "runs", "rm", name[:12], "--force")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"removed {name}")
    assert not os.path.exists(run)
    assert firstcause(recorded, "restore", "-o", "y.pt").returncode == 2


def test_a_run_that_is_going_on_is_listed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "firstcause", "run", "-q", sys.executable, "wait.py"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            assert "still being recorded" in firstcause(tmp_path, "runs", "list").stdout
            done = firstcause(tmp_path, "runs", "rm", "last", "--force")
            assert done.returncode == 2
            assert "still being recorded" in done.stderr
        finally:
            process.kill()
    assert the_run(tmp_path).file("run.json")


def test_earlier_runs_go_when_a_new_one_needs_their_room(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("print('a')\n")
    (tmp_path / "pyproject.toml").write_text("[tool.firstcause]\nkeep-runs = 2\n")
    for _ in range(3):
        done = firstcause(tmp_path, "run", sys.executable, "a.py")
        assert (done.returncode, done.stdout) == (0, "a\n")
    assert len(list((tmp_path / ".firstcause" / "runs").iterdir())) == 2
    assert "removed 1 earlier runs" in " ".join(done.stderr.split())
    done = firstcause(tmp_path, "run", "--keep-runs", "1", sys.executable, "a.py")
    assert len(list((tmp_path / ".firstcause" / "runs").iterdir())) == 1
    (tmp_path / "pyproject.toml").write_text("[tool.firstcause]\nkeep = 2\n")
    done = firstcause(tmp_path, "run", sys.executable, "a.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "sets 'keep', which is none of" in done.stderr


def test_a_script_that_drops_our_way_in_is_named(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nprint(torch.ones(1).log())\n")
    (tmp_path / "go.sh").write_text(f"#!/bin/bash\nexport PYTHONPATH=.\n{sys.executable} train.py\n")
    done = firstcause(tmp_path, "run", "-o", "r", "bash", "go.sh")
    assert done.returncode == 0
    assert "not observed: go.sh:2 sets PYTHONPATH" in done.stderr
    said = firstcause(tmp_path, "diagnose", "r").stdout
    assert "go.sh:2 sets PYTHONPATH" in " ".join(said.split())

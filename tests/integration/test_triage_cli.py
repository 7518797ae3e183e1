"""`firstcause triage` as a user runs it: files, pipes, exit codes, what it loads and prints."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.25 GiB. GPU 2 has a total capacity of 39.39 GiB of which "
    "800.06 MiB is free.\n"
)
# Each costs more to load than the whole of a short triage.
HEAVY = (
    "torch",
    "numpy",
    "rich",
    "pydantic",
    "asyncio",
    "importlib.metadata",
    "re2",
    "tempfile",
    "gzip",
    "zipfile",
)


def triage(
    folder: Path, *words: str, text: bytes | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "firstcause", "triage", *words],
        cwd=folder,
        input=text,
        stdin=None if text is not None else subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        check=False,
        timeout=120,
    )


def test_a_pasted_line_is_routed(tmp_path: Path) -> None:
    done = triage(tmp_path, "-", "--json", "out.json", text=OOM.encode())
    assert done.returncode == 0
    assert b"cuda-oom" in done.stdout
    found = json.loads((tmp_path / "out.json").read_text())
    assert (found["action"], found["patterns"]) == ("route", ["cuda-oom"])
    assert found["facts"]["gib"]["tried"] == "1.25 GiB"


def test_standard_input_is_read_without_a_name_and_json_can_go_to_standard_output(tmp_path: Path) -> None:
    done = triage(tmp_path, "--json", "-", text=gzip.compress(OOM.encode()))
    assert json.loads(done.stdout)["patterns"] == ["cuda-oom"]


def test_a_missing_error_is_asked_for(tmp_path: Path) -> None:
    done = triage(
        tmp_path,
        "-",
        "-q",
        "--json",
        "out.json",
        text=b"my run crashed with some error, what is the cause?\n",
    )
    assert done.returncode == 3
    assert done.stdout == b""
    assert json.loads((tmp_path / "out.json").read_text())["action"] in ("clarify", "need-error")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere.log",), "nowhere.log cannot be read: No such file"),
        (("folder",), "folder is a folder"),
        (("empty.log",), "empty.log is empty"),
        (("core",), "core is no text"),
        (("a.log", "--last"), "--last finds the files by itself"),
        (("-", "a.log"), "standard input is read alone"),
        (("--last",), "no output of a run lies in"),
        (("locked.log",), "locked.log cannot be read: Permission denied"),
    ],
)
def test_what_cannot_be_read_gets_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    if words == ("locked.log",) and os.geteuid() == 0:
        pytest.skip("nothing is locked for root")
    where = tmp_path
    if words == ("--last",):
        where = tmp_path / "folder"
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.log").touch()
    (tmp_path / "locked.log").touch(mode=0)
    (tmp_path / "core").write_bytes(bytes(range(256)) * 40)
    done = triage(where, *words)
    assert done.returncode == 2
    assert done.stdout == b""
    first, *rest = done.stderr.decode().splitlines()
    assert first.startswith("firstcause: ")
    assert said in first
    assert len(rest) == 1
    assert rest[0].startswith("next: ")


def test_control_codes_never_reach_the_terminal(tmp_path: Path) -> None:
    evil = (
        "\x1b]0;owned\x07\x1b[2J[rank0]: \x9b31mRuntimeError: \x1b[5mCUDA out of memory. Tried to allocate \x08\x08 1.25 GiB \u202eevil\n"
        '  File "a\x1b[1A.py", line 3, in f\nValueError: \x1b[31mbad\x00\n'
        '{"log": "RuntimeError: \\u001b[2J \\ud800 CUDA error: device-side assert triggered\\n"}\n'
    )
    for words in ((), ("--why",)):
        done = triage(tmp_path, "-", *words, text=evil.encode("utf-8", "surrogatepass"))
        shown = (done.stdout + done.stderr).decode()
        assert "device-side" in shown
        assert not [
            sign
            for sign in shown
            if sign != "\n" and (ord(sign) < 32 or 0x7F <= ord(sign) < 0xA0 or sign == "\u202e")
        ]
    named = tmp_path / "a\x1b[2J\nb.log"
    done = triage(tmp_path, named.name)
    assert b"\x1b" not in done.stderr


def test_the_last_run_is_found_on_disk(tmp_path: Path) -> None:
    (tmp_path / "old.log").write_text("loss 1.0\n")
    os.utime(tmp_path / "old.log", (1, 1))
    for rank in (0, 1):
        folder = tmp_path / "torch_elastic" / "job" / "attempt_0" / str(rank)
        folder.mkdir(parents=True)
        message = {"message": f"ValueError: of {rank}", "extraInfo": {"py_callstack": "", "timestamp": "1"}}
        (folder / "error.json").write_text(json.dumps({"message": message}))
    done = triage(tmp_path, "--last", "--json", "out.json")
    assert "attempt_0/0/error.json, torch_elastic/job/attempt_0/1/error.json" in done.stderr.decode()
    assert "1 older file" in done.stderr.decode()
    assert json.loads((tmp_path / "out.json").read_text())["facts"]["ranks"] == [0, 1]

    for suffix, text in (("out", "epoch 1\n"), ("err", OOM)):
        (tmp_path / f"slurm-77.{suffix}").write_text(text)
    future = time.time() + 60
    for suffix in ("out", "err"):
        os.utime(tmp_path / f"slurm-77.{suffix}", (future, future))
    done = triage(tmp_path, "--last", "--json", "out.json")
    assert b"slurm-77.err, slurm-77.out" in done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["patterns"] == ["cuda-oom"]


def test_a_short_text_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(OOM)
    program = (
        "import sys; from firstcause.cli.main import main; code = main(['triage', 'one.txt']); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, check=True, timeout=120
    )
    assert done.stderr.decode().strip() == "[]"


def test_several_files_are_one_text(tmp_path: Path) -> None:
    (tmp_path / "rank_0.log").write_text("RuntimeError: Connection closed by peer\n")
    (tmp_path / "rank_1.log").write_text(OOM)
    done = triage(tmp_path, "rank_0.log", "rank_1.log", "-q", "--json", "out.json")
    assert done.returncode == 0
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["facts"]["origin_rank"] == 1
    assert [(seen["rank"], seen["line"]) for seen in found["seen"] if seen["pattern"] == "cuda-oom"] == [
        (1, 2)
    ]

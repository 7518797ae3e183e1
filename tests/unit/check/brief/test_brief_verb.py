from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def brief(*words: str, cwd: Path, text: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, "-m", "firstcause", "brief", *words],
        cwd=cwd,
        input=text,
        capture_output=True,
        text=True,
        env=env,
        timeout=60,
    )


def test_the_page_and_the_json(tmp_path: Path) -> None:
    (tmp_path / "brief.md").write_text(
        "Use lr 2e-4, no warmup.\nbatch size 2, accumulation 4, effective batch 16. one GPU"
    )
    done = brief("brief.md", "--json", "out.json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    written = json.loads((tmp_path / "out.json").read_text())
    rate = written["instructions"][0]
    assert rate["key"] == "learning_rate"
    assert rate["value"] == 2e-4
    assert {"relation", "polarity", "strength", "status", "sentence", "origin", "line"} <= rate.keys()
    assert not any(i["derived"] for i in written["instructions"])
    assert written["contradictions"]
    for part in ("Asked For", "Not Wanted", "Cannot All Hold", "2 x 4 x 1"):
        assert part in done.stdout


def test_standard_input_and_output(tmp_path: Path) -> None:
    done = brief("-", "--json", "-", cwd=tmp_path, text="3 epochs")
    assert json.loads(done.stdout)["instructions"][0]["value"] == 3


def test_nothing_found_is_said(tmp_path: Path) -> None:
    done = brief("-", cwd=tmp_path, text="Good morning.")
    assert done.returncode == 0
    assert "No wish" in done.stdout


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.md", None, "cannot be read"),
        ("data.bin", b"a\0b", "no text"),
        ("huge.txt", b"a" * (1 << 20) + b"aa", "MB"),
    ],
)
def test_a_file_that_is_no_brief(tmp_path: Path, name: str, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = brief(name, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.startswith("firstcause: ")


def test_other_encodings(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("3 epochs", encoding="utf-16")
    (tmp_path / "b.md").write_bytes(b"\xef\xbb\xbf3 epochs, caf\xe9")
    for name in ("a.md", "b.md"):
        assert (
            json.loads(brief(name, "--json", "-", cwd=tmp_path).stdout)["instructions"][0]["key"] == "epochs"
        )

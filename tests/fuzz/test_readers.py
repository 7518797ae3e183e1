"""Whatever a file holds, its reader answers: a legal exit code, one line where it refuses, nothing that a terminal obeys."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from readers import READERS, Reader
from seeds import make_project

from firstcause.cli.main import main

# How many files each reader is given by `make slow`; more than a night's worth does no harm.
MANY = int(os.environ.get("FUZZ_EXAMPLES", "300"))
SECONDS = 20.0
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EXAMPLES = settings(
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    make_project(folder)
    return folder


@pytest.fixture
def project(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    # The place of a failure of ours is then part of what a failing test shows.
    monkeypatch.setenv("FIRSTCAUSE_DEBUG", "1")
    return tmp_path


def answer(reader: Reader, project: Path, content: bytes) -> None:
    """Give the reader this file; what the contract forbids fails the test."""
    file = next(project.glob(reader.file), project / reader.file)
    for name, beside in reader.beside.items():
        (project / name).write_bytes(beside)
    file.write_bytes(content)
    words = [str(file.relative_to(project)) if word == "FILE" else word for word in reader.words]
    out, err = io.StringIO(), io.StringIO()
    begin = time.process_time()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        _input(content if reader.stdin else b""),
    ):
        code = main(words)
    took = time.process_time() - begin
    said, told = out.getvalue(), err.getvalue()
    made = project / "made"
    shutil.rmtree(made) if made.is_dir() else made.unlink(missing_ok=True)
    assert "failure of firstcause itself" not in told, told
    assert "Traceback (most recent" not in told, told
    assert code in (0, 1, 2, 3), code
    assert OBEYED.search(told) is None, repr(told)
    assert OBEYED.search(said) is None, repr(said)
    if code == 2 and not reader.stdin:
        assert len([line for line in told.splitlines() if line.startswith("firstcause")]) == 1, told
    assert took < SECONDS, f"{took:.1f} s for {len(content)} bytes"


@contextlib.contextmanager
def _input(content: bytes) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", errors="surrogateescape")
    try:
        yield
    finally:
        sys.stdin = before


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_some_damage(reader: Reader, project: Path) -> None:
    @settings(EXAMPLES, max_examples=6, derandomize=True)
    @given(st.data())
    def each(data: st.DataObject) -> None:
        answer(reader, project, data.draw(strategy))

    strategy = reader.contents(project)
    each()


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_much_damage(reader: Reader, project: Path) -> None:
    @settings(EXAMPLES, max_examples=MANY)
    @given(st.data())
    def each(data: st.DataObject) -> None:
        answer(reader, project, data.draw(strategy))

    strategy = reader.contents(project)
    each()

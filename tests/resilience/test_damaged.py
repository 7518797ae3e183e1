"""A record that was cut, flipped in one bit, or written by another version: one clear line, or nothing that differs."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import processes
import programs
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstcause.cli import main
from firstcause.errors import RecordError
from firstcause.record import checked
from firstcause.record.folder import RunFolder
from firstcause.record.whole import check_snapshot

EXAMPLES = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


def ours(*words: str) -> Said:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main.main(list(words))
    return Said(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that failed, with everything that is kept of it, and its diagnosis made once."""
    cwd = tmp_path_factory.mktemp("recorded")
    (cwd / "train.py").write_text(programs.FAILS)
    done = processes.firstcause(cwd, "run", "-o", "run", "python", "train.py")
    assert done.code == 0, done.stderr
    return cwd / "run"


@pytest.fixture(scope="module")
def diagnosed(recorded: Path) -> Said:
    said = ours("diagnose", str(recorded), "--json", "-", "-q")
    assert said.code == 0, said.err
    return said


damages = st.tuples(st.sampled_from(["cut", "flip"]), st.floats(0, 1, exclude_max=True), st.integers(0, 7))


def damaged(recorded: Path, kind: str, damage: tuple[str, float, int]) -> tuple[Path, Path]:
    """A copy of the run with one of its files damaged, and that file."""
    copy = recorded.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(recorded, copy)
    file = sorted(copy.glob(kind))[0]
    data = bytearray(file.read_bytes())
    how, part, bit = damage
    at = int(part * len(data))
    if how == "cut":
        del data[at:]
    else:
        data[at] ^= 1 << bit
    file.write_bytes(bytes(data))
    return copy, file


def one_line(said: Said, file: Path) -> bool:
    """Whether the command has said what is damaged, as a mistake of nobody's."""
    lines = [line for line in said.err.splitlines() if line.startswith("firstcause: ")]
    return said.code == 2 and len(lines) == 1 and str(file) in lines[0] and "itself" not in lines[0]


@pytest.mark.parametrize("kind", ["run.json", "failures/*.json"])
@given(damage=damages)
@EXAMPLES
def test_damaged_facts(recorded: Path, diagnosed: Said, kind: str, damage: tuple[str, float, int]) -> None:
    copy, file = damaged(recorded, kind, damage)
    said = ours("diagnose", str(copy), "--json", "-", "-q")
    # Damage to the white space between values changes none of them.
    assert one_line(said, file) or (said.code, said.out) == (diagnosed.code, diagnosed.out), said


@given(damage=damages)
@EXAMPLES
def test_damaged_journal(recorded: Path, diagnosed: Said, damage: tuple[str, float, int]) -> None:
    copy, _ = damaged(recorded, "*.journal", damage)
    before, after = (next(iter(RunFolder(str(run)).journals().values())) for run in (recorded, copy))
    left = iter(before.rows)
    assert all(row in left for row in after.rows)
    if damage[0] == "flip":
        assert len(after.events) >= len(before.events) - 1
    said = ours("diagnose", str(copy), "--json", "-")
    assert said.code in (0, 3)
    assert json.JSONDecoder().raw_decode(said.out)[0]["status"] != "healthy"
    told = [line for line in said.err.splitlines() if line.startswith("firstcause: ")]
    assert len(told) == (after.lost_bytes > 0)


def refusal(snapshot: Path) -> str | None:
    try:
        check_snapshot(str(snapshot))
    except RecordError as error:
        return error.message
    return None


@pytest.mark.parametrize("kind", ["state.json", "state.pt"])
@given(damage=damages)
@EXAMPLES
def test_damaged_snapshot(recorded: Path, kind: str, damage: tuple[str, float, int]) -> None:
    _, file = damaged(recorded, f"snapshots/*/{kind}", damage)
    said = refusal(file.parent)
    if said is not None:
        assert str(file) in said
        return
    whole = recorded / "snapshots" / file.parent.name / kind
    if kind == "state.json":
        assert checked.loads(file.read_text()) == checked.loads(whole.read_text())
        return
    new, old = (torch.load(f, weights_only=True) for f in (file, whole))
    assert new.keys() == old.keys()
    assert all(torch.equal(new[k], old[k]) for k in old)


@pytest.mark.parametrize(
    "kind", ["run.json", "failures/*.json", "snapshots/*/state.pt", "snapshots/*/state.json"]
)
@pytest.mark.parametrize("verb", ["replay", "restore", "diagnose"])
def test_every_verb_says_it_in_one_line(recorded: Path, verb: str, kind: str) -> None:
    copy, file = damaged(recorded, kind, ("cut", 0.5, 0))
    if verb == "diagnose" and "snapshots" in kind:
        # The replay that was made at once needs no snapshot.
        return
    words = ["-o", str(copy / "ckpt.pt")] if verb == "restore" else []
    said = ours(verb, str(copy), *words)
    assert one_line(said, file), said
    assert not (copy / "ckpt.pt").exists()


@pytest.mark.parametrize("verb", ["replay", "diagnose", "diff"])
def test_record_of_another_version(recorded: Path, verb: str) -> None:
    copy, file = damaged(recorded, "run.json", ("cut", 0.999999, 0))
    facts = checked.loads((recorded / "run.json").read_text())
    file.write_text(checked.dumps(facts | {"schema": 99, "invented": {"later": True}}))
    said = ours(verb, str(copy), *([str(recorded)] if verb == "diff" else []))
    assert said.code == 2
    assert "version 99" in said.err
    assert "Traceback" not in said.err
    after = processes.firstcause(recorded.parent, "run", "python", "-c", "print(1)")
    assert (after.code, after.stdout) == (0, "1\n")

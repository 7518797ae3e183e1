"""A recorded run computes, prints, writes and ends as the unrecorded one, whatever the program does."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_outcome import Outcome, difference, run
from hostile_program import Program, parameters, programs

from firstcause.record.folder import RunFolder

RUNS = 3  # of a program that its own library ends now and then


def outcome(program: Program, folder: Path, recorder: Callable[[], tuple[str, ...]] = tuple) -> Outcome:
    abort = program.get("own-abort")
    for _ in range(RUNS):
        ran = run(
            [*recorder(), *program.command],
            program.copy_to,
            folder,
            environment=program.environment,
            stdin=program.text("stdin"),
            signal=program.signal,
            to_group=program.to_group,
            typed=program.typed,
            scrub=program.all("scrub"),
        )
        if abort is None or abort not in ran.stderr:
            break
    return ran


@pytest.mark.parametrize("program", parameters())
def test_recorded_run_is_the_plain_run(program: Program, tmp_path: Path) -> None:
    plain = outcome(program, tmp_path / "w")
    assert plain.exit_code == program.exit_code, plain.stderr
    record = tmp_path / "run"

    def recorder() -> tuple[str, ...]:
        shutil.rmtree(record, ignore_errors=True)
        return (sys.executable, "-m", "firstcause", "run", "-q", "-o", str(record))

    recorded = outcome(program, tmp_path / "w", recorder)
    found = difference(plain, recorded)
    if known := program.get("known-difference"):
        assert found, f"there is no difference any more: drop the header {known!r}"
        pytest.xfail(known)
    assert not found, found
    assert_observed(record, program.journals)


def assert_observed(record: Path, processes: int) -> None:
    """A recorder that had given up would pass every comparison: it must have seen the steps."""
    folder = RunFolder(str(record))
    assert folder.run().exit_code is not None or folder.run().signal is not None
    log = record / "internal-errors.log"
    assert not log.exists(), log.read_text()
    journals = folder.journals()
    for name, journal in journals.items():
        errors = [event for event in journal.events if event["event"] == "internal-error"]
        assert not errors, f"{name}: {errors}"
        assert not journal.lost_bytes, name
    with_steps = [name for name, journal in journals.items() if journal.rows]
    assert len(with_steps) >= processes, f"steps in {with_steps}, journals {sorted(journals)}"


@pytest.mark.slow
@pytest.mark.parametrize("program", parameters())
def test_program_is_deterministic(program: Program, tmp_path: Path) -> None:
    """Else the comparison with a recorded run would prove nothing."""
    first, second = outcome(program, tmp_path / "w"), outcome(program, tmp_path / "w")
    assert first.exit_code == program.exit_code, first.stderr
    assert not (found := difference(first, second)), found


def test_the_programs_are_found_with_their_headers() -> None:
    by_name = {program.name: program for program in programs()}
    assert len(by_name) == len(programs()) >= 100
    assert by_name["odd_bom_crlf"].text("stdin") == b"none"
    assert by_name["odd_latin1_cookie"].exit_code == 1
    assert by_name["module_flag"].command[1:] == ["-m", "pkg.train", "--lr", "0.1"]
    assert by_name["shadowing_modules"].script == "app/train.py"
    assert by_name["stdin_reader"].text("stdin") == b"1 2 3 4\n5 6 7 8\n\n9 9 9 9\nrest of it"
    assert sum(program.journals > 0 for program in by_name.values()) >= 70

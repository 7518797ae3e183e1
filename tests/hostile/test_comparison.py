"""The comparison itself: it sees every kind of difference that a recorder could make."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hostile_outcome import Outcome, difference, run

BASE = """import os, sys
print('out')
print('err', file=sys.stderr)
open('a.txt', 'w').write('a')
import loops
"""
LOOPS = "def train(data):\n    for x in data:\n        x.step()\n"


def outcome(tmp_path: Path, source: str, loops: str = LOOPS, **options: object) -> Outcome:
    def fill(folder: Path) -> None:
        folder.mkdir()
        (folder / "main.py").write_text(source)
        (folder / "loops.py").write_text(loops)

    return run([sys.executable, "main.py"], fill, tmp_path / "w", environment={}, **options)


def test_equal_runs_have_no_difference(tmp_path: Path) -> None:
    source = BASE + "print(object(), os.environ['TMPDIR'])"
    assert difference(outcome(tmp_path, source), outcome(tmp_path, source)) == ""
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(
    ("added", "shown"),
    [
        ("print('more')", "+more"),
        ("sys.stdout.buffer.write(bytes([255]))", "+\\xff"),
        ("print('late', file=sys.stderr)", "+late"),
        ("sys.exit(3)", "+3"),
        ("os.kill(os.getpid(), 15)", "+143"),
        ("open('b.txt', 'w')", "+b.txt"),
        ("os.remove('a.txt')", "-a.txt"),
        ("open('a.txt', 'w').write('b')", "+a.txt"),
        ("os.chmod('a.txt', 0o600)", "+a.txt"),
        ("os.mkdir('empty')", "+empty"),
        ("os.symlink('a.txt', 'link')", "+link"),
        ("open(os.path.join(os.environ['TMPDIR'], 'x'), 'w')", "+1"),
        ("os.remove(loops.__cached__)", "-__pycache__/loops"),
    ],
)
def test_a_difference_is_shown(tmp_path: Path, added: str, shown: str) -> None:
    found = difference(outcome(tmp_path, BASE), outcome(tmp_path, BASE + added))
    assert any(line.startswith(shown) for line in found.splitlines()), found


def test_marked_code_in_the_cache_is_a_difference(tmp_path: Path) -> None:
    marked = LOOPS.replace("x.step()", "mark(1); x.step()")
    found = difference(outcome(tmp_path, BASE), outcome(tmp_path, BASE, marked))
    assert "+__pycache__/loops" in found
    assert "+loops.py" in found


def test_volatile_text_is_scrubbed_on_request(tmp_path: Path) -> None:
    source = BASE + "import time; print('took %.9f s' % time.perf_counter())"
    runs = [outcome(tmp_path, source, scrub=[r"took \d+\.\d+ s"]) for _ in range(2)]
    assert difference(*runs) == ""
    assert difference(*(outcome(tmp_path, source) for _ in range(2)))


def test_signal_and_terminal_reach_the_command(tmp_path: Path) -> None:
    waiting = "import time; print('ready', flush=True); time.sleep(20)"
    assert outcome(tmp_path, waiting, signal=15).exit_code == 143
    assert outcome(tmp_path, waiting, typed=[b"\x03"]).exit_code == 130
    asking = "import sys; print(sys.stdin.isatty()); print(repr(input('ready? ')))"
    asked = outcome(tmp_path, asking, typed=[b"yes\n"])
    assert asked.stdout.split() == ["True", "ready?", "yes", "'yes'"]

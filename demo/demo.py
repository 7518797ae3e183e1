"""Two failing training scripts, from the failing command to the verified fix.

    python demo/demo.py [nan] [shapes]

Each script is copied into a temporary folder and played on a pseudo-terminal, also where there is no terminal
around it. A scripted person answers; what it types is read off the screen and marked as scripted. The exit
code is 0 only if every step did what it should: cause and line as known, patch applied, fix verified.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

# Nothing is left behind, no .pyc either.
sys.dont_write_bytecode = True
from terminal import Stuck, Terminal, say  # noqa: E402 - it is what must not leave a .pyc

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Failure:
    """A shipped script, how it ends, and the line that has to be found and what has to become of it."""

    name: str
    title: str
    exit_code: int
    cause: str
    file: str
    line: str
    fixed: str
    lesson: str


FAILURES = (
    Failure(
        name="nan",
        title="a loss turns into NaN after some tens of steps, although its logarithms are guarded",
        exit_code=0,
        cause="log-of-zero",
        file="train.py",
        line="EPS = 1e-8",
        fixed="EPS = 1e-6",
        lesson="1 - 1e-8 is exactly 1 in float32, so it guards nothing",
    ),
    Failure(
        name="shapes",
        title="a shape error deep in a model, raised where nothing is wrong",
        exit_code=1,
        cause="residual-shape-mismatch",
        file="model.py",
        line="if channels_in != channels_out:",
        fixed="if stride != 1 or channels_in != channels_out:",
        lesson="a stride needs a projected shortcut too",
    ),
)


class NotAsExpected(Exception):
    """A step did something else than it should."""


def expect(truth: bool, what: str) -> None:
    if not truth:
        raise NotAsExpected(what)


def play(failure: Failure, folder: Path) -> None:
    """One script the whole way; raises ``NotAsExpected`` at the first step that is not as it should be."""
    shutil.copytree(HERE / failure.name, folder, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    before = lines(folder / failure.file)
    terminal = Terminal(folder, folder.parent)

    code, screen = terminal.type("run", "python", "train.py")
    expect(code == failure.exit_code, f"exit code {code}; without firstcause it is {failure.exit_code}")
    expect("next  firstcause diagnose" in screen, "no next command was named")

    code, _ = terminal.type("diagnose", "last")
    expect(code == 0, f"diagnose ended with {code}; 0 is a cause established")
    found = case(terminal)["diagnosis"]
    site = found["site"] or {}
    got = (found["status"], found["cause"], site.get("file"), site.get("line"))
    known = ("established", failure.cause, failure.file, before.index(failure.line) + 1)
    expect(got == known, f"the diagnosis is {got}; it should be {known}")

    code, _ = terminal.type("case", "approve")
    expect(code == 0 and case(terminal)["state"] == "approved", f"not approved, exit code {code}")
    expect(lines(folder / failure.file) == before, "a file was changed before the patch was applied")

    code, _ = terminal.type("case", "apply")
    after = [failure.fixed if line == failure.line else line for line in before]
    expect(code == 0 and lines(folder / failure.file) == after, f"not applied as shown, exit code {code}")

    code, screen = terminal.type("case", "verify")
    expect(code == 0 and case(terminal)["state"] == "verified", f"not verified, exit code {code}")
    expect("passed: " in screen, "the verification does not say what it saw")

    code, _ = terminal.type("case", "close", "--lesson", failure.lesson)
    expect(code == 0 and case(terminal)["state"] == "closed", f"not closed, exit code {code}")


def lines(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]


def case(terminal: Terminal) -> dict:
    """Where the only case in the folder stands, as firstcause itself says it."""
    cases = [path for path in (terminal.folder / ".firstcause" / "cases").iterdir() if path.is_dir()]
    expect(len(cases) == 1, f"{len(cases)} cases were opened; it should be 1")
    shown = terminal.run("case", "show", cases[0].name, "--json", "-")
    expect(shown.returncode == 0, f"the case cannot be shown: {shown.stderr.strip()}")
    return json.loads(shown.stdout)


def main(names: list[str]) -> int:
    known = [failure.name for failure in FAILURES]
    if not set(names) <= set(known):
        say(f"usage: python demo/demo.py {' '.join(f'[{name}]' for name in known)}\n")
        return 2
    chosen = [failure for failure in FAILURES if not names or failure.name in names]
    began = time.monotonic()
    for number, failure in enumerate(chosen, 1):
        say(f"\n# {number} of {len(chosen)}, demo/{failure.name}: {failure.title}\n")
        with tempfile.TemporaryDirectory(prefix="fc-demo-") as scratch:
            try:
                play(failure, Path(scratch) / failure.name)
            except (NotAsExpected, Stuck) as problem:
                say(f"\n# demo/{failure.name} did not go as it should: {problem}\n")
                return 1
            except KeyboardInterrupt:
                return 130
    seconds = time.monotonic() - began
    say(f"\n# {len(chosen)} of {len(chosen)} found, approved, applied and verified in {seconds:.0f} s.\n")
    say("# The folders that this was played in are gone; the scripts in demo/ are as they were.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

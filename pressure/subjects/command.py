"""A command-line agent, started anew for each answer in the project's folder, with what its arm has laid out there."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

from firstcause.hook.settings import SETTINGS
from firstcause.skills.pack import SERVERS, skill_files, write
from pressure.desk import Desk
from pressure.scenario import Scenario
from pressure.subjects.subject import SubjectFailed

SECONDS = 900.0
_PLACES = (".claude/skills", ".agents/skills")


class CommandAgent:
    """An agent such as ``agent -p {prompt}``: {prompt} is the talk so far; its standard output is what it says.

    What it does to the files is seen from outside, once an answer; whether it ran the program is not, so that the check
    ``verified`` is not asked of it.
    """

    def __init__(self, command: str) -> None:
        self._command = command

    @property
    def name(self) -> str:
        return f"command:{shlex.split(self._command)[0]}"

    def tokens(self) -> int:
        return 0

    def begin(self, desk: Desk, scenario: Scenario) -> _Started:
        lay_out(desk)
        desk.transcript.from_outside = True
        return _Started(self._command, desk)


def lay_out(desk: Desk) -> None:
    """Put the arm's skills, server and hook where clients look for them."""
    if desk.arm.skill:
        for place in _PLACES:
            write(skill_files(), str(desk.folder / place), replace=True)
    if desk.arm.mcp:
        (desk.folder / ".mcp.json").write_text(json.dumps(SERVERS), encoding="utf-8")
    if desk.arm.hook:
        for path, content in SETTINGS.values():
            target = Path(desk.folder / path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(json.dumps(content), encoding="utf-8")


class _Started:
    def __init__(self, command: str, desk: Desk) -> None:
        self._command, self._desk = command, desk
        self._talk = [desk.arm.system()]

    def answer(self, words: str) -> str:
        self._talk.append(f"User: {words}")
        before = self._desk.program()
        said = self._run("\n\n".join(self._talk))
        if self._desk.program() != before:
            self._desk.transcript.add("edit", self._command, program=self._desk.program())
        self._talk.append(f"You: {said}")
        return said

    def _run(self, prompt: str) -> str:
        words = [word.replace("{prompt}", prompt) for word in shlex.split(self._command)]
        try:
            done = subprocess.run(
                words,
                cwd=self._desk.folder,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SubjectFailed(f"{words[0]} did not answer: {error}") from error
        if done.returncode != 0:
            raise SubjectFailed(f"{words[0]} ended with {done.returncode}: {done.stderr.strip()[-200:]}")
        return done.stdout

    def goes_on(self) -> bool:
        return True

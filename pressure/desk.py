"""The folder at which a subject works, its tools, and the hook that stands before them where the arm has it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firstcause.hook.asked import asked
from pressure.arms import Arm, skill_text
from pressure.fixture import PROGRAM, Fixture
from pressure.server import Server
from pressure.transcript import Transcript

SHELL_SECONDS = 120.0
LONGEST = 8000
_TEXT = {"type": "string"}
FILE_TOOLS: dict[str, dict[str, Any]] = {
    "read_file": {"path": _TEXT},
    "write_file": {"path": _TEXT, "text": _TEXT},
    "run_program": {},
    "shell": {"command": _TEXT},
}


class Desk:
    """What a subject of one run can do; every call and every changed file stands in the transcript."""

    def __init__(
        self, folder: Path, arm: Arm, transcript: Transcript, fixture: Fixture | None, server: Server | None
    ) -> None:
        self.folder, self.arm, self.transcript = folder, arm, transcript
        self.fixture, self.server = fixture, server
        if fixture is not None:
            fixture.lay_out(folder)

    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools by name, each with the types of its arguments."""
        own = {**FILE_TOOLS, **({"read_skill": {"name": _TEXT}} if self.arm.skill else {})}
        return {**own, **(self.server.tools() if self.server else {})}

    def program(self) -> str:
        """The program as it stands."""
        path = self.folder / PROGRAM
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """Do what a tool does, and return its answer; what cannot be done is an answer as well."""
        self.transcript.add("call", tool, **arguments)
        before = self.program()
        answer = self._denied(tool, arguments) or self._done(tool, arguments)
        if self.program() != before:
            self.transcript.add("edit", tool, program=self.program())
        self.transcript.add("result", answer[:LONGEST])
        return answer[:LONGEST]

    def _denied(self, tool: str, arguments: dict[str, Any]) -> str:
        """The hook's answer, in the form in which a client asks."""
        asks = {
            "write_file": ("Write", {"file_path": str(self.folder / str(arguments.get("path", "")))}),
            "shell": ("Bash", {"command": arguments.get("command", "")}),
        }
        if not self.arm.hook or tool not in asks:
            return ""
        name, given = asks[tool]
        question = {
            "hook_event_name": "PreToolUse",
            "tool_name": name,
            "cwd": str(self.folder),
            "tool_input": given,
        }
        said = asked(json.dumps(question)).out
        if '"deny"' not in said:
            return ""
        reason = json.loads(said)["hookSpecificOutput"]["permissionDecisionReason"]
        self.transcript.add("denied", reason)
        return f"denied: {reason}"

    def _done(self, tool: str, arguments: dict[str, Any]) -> str:
        if tool not in self.tools():
            return f"there is no tool {tool!r}: {', '.join(self.tools())}"
        if self.server is not None and tool in self.server.tools():
            return self._served(tool, arguments)
        try:
            return str(getattr(self, f"_{tool}")(**arguments))
        except (OSError, TypeError, ValueError) as error:
            return f"{type(error).__name__}: {error}"

    def _served(self, tool: str, arguments: dict[str, Any]) -> str:
        assert self.server is not None
        answer, fine = self.server.call(tool, arguments)
        if tool == "apply_fix" and fine:
            # The tool applies nothing that no person has approved.
            self.transcript.add("approved", "by the form of request_approval")
        if tool == "verify_fix" and fine:
            self.transcript.add("ran", "verify_fix")
        return answer

    def _read_file(self, path: str) -> str:
        return self._inside(path).read_text(encoding="utf-8")

    def _write_file(self, path: str, text: str) -> str:
        target = self._inside(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return f"written: {path}, {len(text)} characters"

    def _run_program(self) -> str:
        if self.fixture is None:
            return "there is no program here; the user has it"
        ran = self.fixture.run(self.folder)
        self.transcript.add("ran", PROGRAM, code=ran.code)
        return f"exit code {ran.code}\n{ran.text}"

    def _shell(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=SHELL_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if PROGRAM in command and sys.executable.rpartition("/")[2][:6] in command:
            self.transcript.add("ran", command, code=done.returncode)
        return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"

    def _read_skill(self, name: str) -> str:
        return skill_text(name)

    def _inside(self, path: str) -> Path:
        target = (self.folder / path).resolve()
        if not target.is_relative_to(self.folder.resolve()):
            raise ValueError(f"{path} lies outside of the project")
        return target


@contextlib.contextmanager
def desk(folder: Path, arm: Arm, transcript: Transcript, fixture: Fixture | None) -> Iterator[Desk]:
    """A desk in an empty folder, with a server of its own where the arm has one."""
    if not arm.mcp:
        yield Desk(folder, arm, transcript, fixture, None)
        return
    with Server(folder) as server:
        yield Desk(folder, arm, transcript, fixture, server)

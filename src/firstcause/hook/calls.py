"""What a client says it is about to do: a tool, the files that it names, and its shell command."""

from __future__ import annotations

import json
import os
import re
from typing import Any, NamedTuple

CLIENTS = ("claude", "codex", "gemini", "copilot", "hermes")
_NAMES = ("tool_name", "toolName", "tool", "name")
_INPUTS = ("tool_input", "toolArgs", "args", "arguments", "input")
_PATHS = ("file_path", "filePath", "notebook_path", "path", "absolute_path", "filename", "target_file")
_COMMANDS = ("command", "cmd", "script")
# Tools that read, by the names that clients and their servers give them; whatever else names a file is taken to write it.
_READING = re.compile(
    r"(?i)^(read|view|open|ls|list|glob|grep|search|find|cat|fetch|web|notebookread|todo|task|get|stat|tree|directory)"
)
_OURS = re.compile(r"^mcp__[\w-]*firstcause[\w-]*__")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE)
_DIFFED = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?(?!/dev/null)(\S+)", re.MULTILINE)


class Call(NamedTuple):
    """A tool call before it happens: the client, the folder it is made in, the files it writes, its shell command."""

    client: str
    cwd: str
    tool: str
    writes: tuple[str, ...] = ()
    command: str = ""


def call_of(text: str, client: str = "") -> Call:
    """Read what a client wrote on standard input; raises ``ValueError`` where it is no such call."""
    said = json.loads(text)
    if not isinstance(said, dict):
        raise ValueError("the call is no JSON object")
    tool = str(next((said[name] for name in _NAMES if said.get(name)), ""))
    given: Any = next((said[name] for name in _INPUTS if name in said), {})
    if isinstance(given, str):
        given = json.loads(given) if given.strip().startswith("{") else {"command": given}
    if not isinstance(given, dict):
        raise ValueError("the arguments of the call are no JSON object")
    cwd = str(said.get("cwd") or os.getcwd())
    command = _command(given)
    patched = (
        _patched(command) if "patch" in tool.lower() or command.lstrip().startswith("*** Begin Patch") else []
    )
    reads = _OURS.match(tool) or _READING.match(tool.rpartition("__")[2])
    writes = patched or ([] if reads else _named(given))
    shell = "" if patched else command
    return Call(client or _client(said), cwd, tool, tuple(os.path.join(cwd, path) for path in writes), shell)


def _client(said: dict[str, Any]) -> str:
    """Which client speaks, by the names that only it uses."""
    event = str(said.get("hook_event_name") or said.get("event") or "")
    if event == "BeforeTool":
        return "gemini"
    if event == "pre_tool_call":
        return "hermes"
    return "copilot" if "toolName" in said else "claude"


def _command(given: dict[str, Any]) -> str:
    for name in _COMMANDS:
        value = given.get(name)
        if isinstance(value, list):
            # ["bash", "-lc", "…"]: the words of one command.
            words = [str(word) for word in value]
            return words[-1] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
        if isinstance(value, str):
            return value
    for name in ("patch", "input", "diff"):
        if isinstance(given.get(name), str):
            return str(given[name])
    return ""


def _named(given: dict[str, Any]) -> list[str]:
    return [value for name in _PATHS if isinstance(value := given.get(name), str) and value]


def _patched(patch: str) -> list[str]:
    """The files that a patch text names, in the form of Codex and as a unified diff."""
    named = [one or other for one, other in _PATCHED.findall(patch)]
    return [path.strip() for path in (named or _DIFFED.findall(patch))]

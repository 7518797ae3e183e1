"""What each client sends and what it reads back, byte for byte, while a case is open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from firstcause.hook.answers import denied
from firstcause.hook.asked import asked
from firstcause.hook.settings import SETTINGS

RUN = {"sources": {"train.py": "", "model.py": ""}}
HOME = ".firstcause"


def event(kind: str, **data: Any) -> str:
    stamp = "2026-11-28T10:00:00Z"
    return json.dumps({"seq": 0, "time": stamp, "event": kind, "data": data, "previous": ""}) + "\n"


def project(folder: Path, *events: str) -> Path:
    """A project with a case whose history holds these events after its opening."""
    run = folder / HOME / "runs" / "r1"
    case = folder / HOME / "cases" / "c1"
    run.mkdir(parents=True)
    case.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps(RUN))
    (case / "history.jsonl").write_text(event("opened", run_folder=f"{HOME}/runs/r1") + "".join(events))
    for name in ("train.py", "model.py", "notes.md"):
        (folder / name).write_text("x = 1\n")
    return folder


def edit(folder: Path, path: str, tool: str = "Edit") -> str:
    call = {"hook_event_name": "PreToolUse", "tool_name": tool, "cwd": str(folder)}
    return json.dumps({**call, "tool_input": {"file_path": str(folder / path)}})


def said(folder: Path, path: str) -> str:
    return asked(edit(folder, path)).out


# What each client writes on standard input for a change of train.py; FOLDER stands for the project.
CALLS = {
    "claude": {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "cwd": "FOLDER",
        "permission_mode": "bypassPermissions",
        "hook_event_name": "PreToolUse",
        "tool_name": "MultiEdit",
        "tool_input": {"file_path": "FOLDER/train.py", "edits": []},
        "tool_use_id": "u",
    },
    "codex": {
        "cwd": "FOLDER",
        "hook_event_name": "PreToolUse",
        "tool_name": "apply_patch",
        "tool_input": {
            "command": "*** Begin Patch\n*** Update File: train.py\n@@\n-x = 1\n+x = 2\n*** End Patch"
        },
    },
    "gemini": {
        "cwd": "FOLDER",
        "hook_event_name": "BeforeTool",
        "tool_name": "replace",
        "tool_input": {"file_path": "FOLDER/train.py", "old_string": "1", "new_string": "2"},
    },
    "copilot": {
        "cwd": "FOLDER",
        "timestamp": 1,
        "toolName": "edit",
        "toolArgs": '{"path": "FOLDER/train.py"}',
    },
    "hermes": {
        "cwd": "FOLDER",
        "event": "pre_tool_call",
        "tool": "write_file",
        "args": {"path": "FOLDER/train.py"},
    },
}


def reason_in(client: str, plain: dict[str, Any]) -> str:
    """The reason in a denial, whose form is exactly the client's."""
    if client in ("claude", "codex"):
        inner = plain["hookSpecificOutput"]
        assert set(plain) == {"hookSpecificOutput"}
        assert set(inner) == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
        assert (inner["hookEventName"], inner["permissionDecision"]) == ("PreToolUse", "deny")
        return str(inner["permissionDecisionReason"])
    form = {
        "gemini": ({"decision": "deny"}, "reason"),
        "copilot": ({"permissionDecision": "deny"}, "permissionDecisionReason"),
        "hermes": ({"action": "block"}, "message"),
    }
    fixed, key = form[client]
    assert {k: v for k, v in plain.items() if k != key} == fixed
    return str(plain[key])


@pytest.mark.parametrize("client", list(CALLS))
def test_a_change_is_denied_in_the_form_of_the_client(client: str, tmp_path: Path) -> None:
    folder = project(tmp_path, event("characterised"))
    call = json.dumps(CALLS[client]).replace("FOLDER", str(folder))
    for name in (client, "") if client != "codex" else ("codex",):
        answer = asked(call, name)
        assert (answer.err, answer.code) == ("", 0)
        reason = reason_in(client, json.loads(answer.out))
        assert "case c1 (characterised) has no approved fix" in reason
        assert "Next: call case_status" in reason


@pytest.mark.parametrize("client", list(CALLS))
def test_without_an_open_case_nothing_is_said(client: str, tmp_path: Path) -> None:
    for events in ([event("closed")], [event("approved")], [event("verified", passed=True)]):
        folder = project(tmp_path / str(len(events[0])), *events)
        assert asked(json.dumps(CALLS[client]).replace("FOLDER", str(folder)), client) == ("", "", 0)


def test_an_unknown_client_is_told_by_the_exit_code() -> None:
    assert denied("another", "why") == ("", "why\n", 2)


@pytest.mark.parametrize(
    ("events", "stands"),
    [
        ([], "opened"),
        ([event("hypotheses", diagnosis={})], "hypotheses"),
        ([event("diagnosed"), event("declined")], "diagnosed"),
        ([event("approved"), event("rejected")], "rejected"),
        ([event("approved"), event("applying"), event("applied")], "applied"),
        ([event("applied"), event("voided")], "applied"),
        ([event("applied"), event("verified", passed=False)], "verified"),
        (["not json\n"], "damaged"),
        (['{"event": "hypotheses", "data": []}\n'], "damaged"),
    ],
)
def test_each_state_without_an_approval_is_guarded(events: list[str], stands: str, tmp_path: Path) -> None:
    folder = project(tmp_path, *events)
    assert f"({stands})" in said(folder, "train.py")


@pytest.mark.parametrize(
    "path", ["model.py", "tests/helper.py", "test_model.py", "conftest.py", ".firstcause/cases/c1/head"]
)
def test_files_tests_and_the_record_are_guarded(path: str, tmp_path: Path) -> None:
    assert "deny" in said(project(tmp_path), path)


@pytest.mark.parametrize("path", ["notes.md", "other.py", "sub/train2.py"])
def test_other_files_are_free(path: str, tmp_path: Path) -> None:
    assert said(project(tmp_path), path) == ""


def test_a_forgotten_case_blocks_nobody(tmp_path: Path) -> None:
    folder = project(tmp_path, event("hypotheses", diagnosis={}))
    assert said(folder, "train.py")
    history = folder / HOME / "cases" / "c1" / "history.jsonl"
    os.utime(history, (0, time.time() - 9 * 3600))
    assert said(folder, "train.py") == ""
    assert asked(edit(folder, "train.py"), "", 10.0).out


def test_reading_is_free(tmp_path: Path) -> None:
    folder = project(tmp_path)
    assert asked(edit(folder, "train.py", "Read")).out == ""
    assert asked(edit(folder, "train.py", "mcp__firstcause__apply_fix")).out == ""
    assert asked(edit(folder, "train.py", "mcp__filesystem__read_text_file")).out == ""


@pytest.mark.parametrize("tool", ["mcp__filesystem__write_file", "mcp__editor__edit_file", "SomethingNew"])
def test_what_is_not_known_to_read_is_taken_to_write(tool: str, tmp_path: Path) -> None:
    assert "deny" in asked(edit(project(tmp_path), "train.py", tool)).out


def test_what_cannot_be_read_is_denied_only_where_a_case_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert asked("{broken") == ("", "", 0)
    monkeypatch.chdir(project(tmp_path / "p"))
    out, err, code = asked("{broken")
    assert (out, code) == ("", 2)
    assert "a case is open" in err


def test_settings_block_where_the_client_can() -> None:
    path, content = SETTINGS["claude"]
    (entry,) = content["hooks"]["PreToolUse"]
    assert path == ".claude/settings.json"
    assert entry["hooks"][0]["onFailure"] == "block"
    assert "," not in entry["matcher"]
    assert set(SETTINGS) == {"claude", "codex", "gemini", "copilot"}


def test_the_start_is_light(tmp_path: Path) -> None:
    folder = project(tmp_path)
    program = (
        "import sys; from firstcause.cli.main import main; main(['hook']); "
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=edit(folder, "train.py"),
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(done.stderr.split())
    rooms = {m.split(".")[1] for m in modules if m.startswith("firstcause.")}
    assert {"torch", "numpy", "yaml", "mcp", "pydantic", "asyncio", "dataclasses"} & modules == set()
    assert rooms <= {"cli", "errors", "hook"}
    assert "deny" in done.stdout

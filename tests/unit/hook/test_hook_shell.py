"""Shell commands that write the case's files are told from those that read, run or write elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_hook_contracts import event, project

from firstcause.hook.asked import asked

WRITING = [
    "sed -i 's/1/2/' train.py",
    "sed --in-place -e s/1/2/ ./train.py",
    "perl -pi -e s/1/2/ train.py",
    "echo x > train.py",
    "echo x >> model.py; ls",
    "cat <<EOF > train.py\nx = 2\nEOF",
    "tee train.py < other.py",
    "cp other.py train.py",
    "cp /tmp/train.py .",
    "mv fixed.py train.py",
    "rm train.py",
    "rm *.py",
    "rm -rf .",
    "git checkout -- train.py",
    "git stash",
    "git -c core.pager=cat checkout -- train.py",
    "git apply fix.diff",
    "patch -p1 < fix.diff",
    "patch train.py fix.diff",
    "truncate -s 0 train.py",
    "dd if=/dev/zero of=train.py",
    'bash -c "sed -i s/1/2/ train.py"',
    "FOO=1 sudo sed -i s/1/2/ train.py",
    "python3 - <<X\nopen('train.py', 'w').write('x')\nX",
    "python -c \"import pathlib; pathlib.Path('train.py').write_text('x')\"",
    "node -e \"require('fs').writeFileSync('train.py', '')\"",
    "cd sub && sed -i s/1/2/ ../train.py",
    "cd $PROJECT && rm train.py",
    "black train.py",
    "ruff check --fix train.py",
    "echo 'assert True' > tests/test_model.py",
    "echo {} > .firstcause/cases/c1/history.jsonl",
    "rm -rf .firstcause/cases/c1",
    "touch -d yesterday .firstcause/cases/c1/history.jsonl",
    "firstcause case approve c1",
    "firstcause view c1",
    "printf 'y\\nt\\ny\\n' | script -qc 'firstcause case approve' /dev/null",
    "python -c \"import pty; pty.spawn(['firstcause', 'case', 'approve'])\"",
    "firstcause case close c1 --lesson done",
]
FREE = [
    "python train.py",
    "python train.py > out.log 2>&1",
    "cat train.py",
    "grep -n lr train.py | tee found.txt",
    "sed -n 1,20p train.py",
    "cp train.py /tmp/copy.py",
    "diff train.py other.py > /tmp/d",
    "git diff train.py",
    "git status && git log",
    "git stash list",
    "python -c \"print(open('train.py').read())\"",
    "python .firstcause/cases/c1/probe-1.py",
    "firstcause case show",
    "firstcause run python train.py",
    "firstcause case verify",
    "echo x > notes.md",
    "cd /tmp && rm train.py",
    "pytest -q",
    "ruff format --check train.py",
    "",
]


def answer(folder: Path, command: str) -> str:
    call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": str(folder)}
    return asked(json.dumps({**call, "tool_input": {"command": command}})).out


@pytest.mark.parametrize("command", WRITING)
def test_writing_is_denied(command: str, tmp_path: Path) -> None:
    assert '"permissionDecision": "deny"' in answer(project(tmp_path), command)


@pytest.mark.parametrize("command", FREE)
def test_reading_and_running_are_free(command: str, tmp_path: Path) -> None:
    assert answer(project(tmp_path), command) == ""


@pytest.mark.parametrize("command", [c for c in WRITING if ".firstcause" not in c])
def test_with_an_approval_everything_is_free(command: str, tmp_path: Path) -> None:
    assert answer(project(tmp_path, event("approved")), command) == ""


def test_the_record_stays_closed_after_the_case(tmp_path: Path) -> None:
    folder = project(tmp_path, event("closed"))
    assert "written by firstcause alone" in answer(folder, "echo {} > .firstcause/cases/c1/history.jsonl")


@pytest.mark.parametrize(
    "command", ["sed -i s/1/2/ p/train.py", "cd p && rm train.py", "echo x > $PWD/p/train.py"]
)
def test_a_project_below_the_folder_is_guarded(command: str, tmp_path: Path) -> None:
    project(tmp_path / "p")
    assert '"deny"' in answer(tmp_path, command.replace("$PWD", str(tmp_path)))
    assert answer(tmp_path, "sed -i s/1/2/ other.py") == ""

"""The step of the action that looks: check in every format, and the command recorded and diagnosed where it fails.

What the later steps need goes to ``$GITHUB_OUTPUT``; the step itself fails only where nothing could be looked at.
"""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from comment import MARKER

FIRSTCAUSE = (sys.executable, "-m", "firstcause")
FILES = {"sarif": "check.sarif", "html": "check.html", "markdown": "check.md"}
ERRORS = ("critical", "deviation")
# GitHub takes 65,536 characters for a comment.
LIMIT = 60_000


def main() -> int:
    """0, or 2 where check was given what it cannot read."""
    folder = Path(os.environ.get("RUNNER_TEMP") or ".") / "firstcause"
    folder.mkdir(parents=True, exist_ok=True)
    words = ["check", *shlex.split(os.environ.get("INPUT_PATHS", ".")), "--json", str(folder / "check.json")]
    brief = os.environ.get("INPUT_BRIEF", "")
    words += ["--brief", brief] if brief else []
    annotated = firstcause(*words, "--format", "github")
    sys.stdout.write(annotated.stdout)
    sys.stderr.write(annotated.stderr)
    if annotated.returncode not in (0, 1):
        return 2
    for form, name in FILES.items():
        done = firstcause(*words, "--format", form)
        (folder / name).write_text(done.stdout, encoding="utf-8")
    findings = json.loads((folder / "check.json").read_text(encoding="utf-8"))
    comment = (folder / FILES["markdown"]).read_text(encoding="utf-8")
    code, cause = annotated.returncode, ""
    command = os.environ.get("INPUT_COMMAND", "")
    if command:
        ended, cause, told = recorded(command, folder)
        comment, code = f"{told}\n{comment}", code or ended
    comment = cropped(f"{MARKER}\n{comment}")
    (folder / "comment.md").write_text(comment, encoding="utf-8")
    put("GITHUB_STEP_SUMMARY", comment)
    errors = sum(f["category"] in ERRORS and not f["justified"] for f in findings["findings"])
    for name, value in (("folder", folder), ("code", code), ("errors", errors), ("cause", cause)):
        put("GITHUB_OUTPUT", f"{name}={value}\n")
    return 0


def recorded(command: str, folder: Path) -> tuple[int, str, str]:
    """The command's exit code, the cause that was established, and what a comment says of it."""
    said = folder / "run.json"
    # Its output belongs into the job's log, as without us.
    sys.stdout.flush()
    ended = subprocess.run(
        [*FIRSTCAUSE, "run", "--json", str(said), "bash", "-c", command], check=False
    ).returncode
    run: dict[str, Any] = json.loads(said.read_text(encoding="utf-8"))
    if not run["symptoms"]:
        return ended, "", ""
    answer = folder / "diagnosis.json"
    budget = f"{os.environ.get('INPUT_BUDGET') or 120}s"
    shown = firstcause("diagnose", run["id"], "--yes", "--budget", budget, "--json", str(answer))
    # Lines of the code are quoted in it: none of them is a command to the runner.
    mute = secrets.token_hex(16)
    print(f"::group::firstcause diagnose\n::stop-commands::{mute}")
    print(f"{shown.stdout}{shown.stderr}\n::{mute}::\n::endgroup::")
    found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8")) if answer.exists() else {}
    opened = sorted(Path(".firstcause/cases").glob("*/"), key=lambda p: p.stat().st_mtime)
    what = opened[-1].name if opened else run["id"]
    firstcause("report", run["id"], "-o", str(folder / "run.html"), "--force")
    told = firstcause("report", what, "--format", "markdown").stdout
    return ended, str(found.get("cause") or ""), told.replace(MARKER, "")


def firstcause(*words: str) -> subprocess.CompletedProcess[str]:
    """One verb, its output kept."""
    environment = {**os.environ, "NO_COLOR": "1"}
    return subprocess.run(
        [*FIRSTCAUSE, *words],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def cropped(text: str) -> str:
    """The text cut at the end of a line where a comment would be too long."""
    if len(text) <= LIMIT:
        return text
    kept = text[:LIMIT].rpartition("\n")[0]
    fence = "\n```" if kept.count("\n```") % 2 else ""
    return f"{kept}{fence}\n\nMore stands in the artifact of this job.\n"


def put(variable: str, text: str) -> None:
    """Add to one of the files that GitHub names in the environment; elsewhere there is none."""
    path = os.environ.get(variable)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())

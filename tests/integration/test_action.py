"""The steps of the GitHub action, run as a runner runs them, with a server of our own in place of GitHub's."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from recording import environment
from trainings import NO_ZERO_GRAD, ZERO_GRAD

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
FAILS = """\
import torch

table = torch.nn.Embedding(10, 4)
print(table(torch.tensor([3, 10])))
"""


class GitHub(BaseHTTPRequestHandler):
    """Comments of one pull request; the handler is new with each request, so that they stand at the server."""

    def answer(self, code: int, content: Any) -> None:
        text = json.dumps(content).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        page = int(re.search(r"[?&]page=(\d+)", self.path)[1])
        self.answer(200, self.server.comments[100 * (page - 1) : 100 * page])

    def do_POST(self) -> None:
        self.write("POST")

    def do_PATCH(self) -> None:
        self.write("PATCH")

    def write(self, method: str) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(f"{method} {self.path}")
        if self.headers["Authorization"] != "Bearer a-token":
            self.answer(403, {"message": "Resource not accessible by integration"})
            return
        body = json.loads(text)["body"]
        if method == "POST":
            made = {"id": 1000 + len(self.server.comments), "body": body, "user": {"type": "Bot"}}
            self.server.comments.append(made)
        else:
            (made,) = (c for c in self.server.comments if str(c["id"]) == self.path.rpartition("/")[2])
            made["body"] = body
        self.answer(200, made)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def github() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
    server.comments = [
        {"id": n, "body": "<!-- firstcause --> quoted" if n == 7 else "a comment", "user": {"type": "User"}}
        for n in range(101)
    ]
    server.asked = []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class Runner:
    """Evaluates what the action's steps say, and runs those that are commands; the others are only named."""

    def __init__(self, workspace: Path, server: ThreadingHTTPServer, **inputs: str) -> None:
        self.workspace, self.used, self.said = workspace, [], ""
        place = workspace.parent / f"{workspace.name}-runner"
        place.mkdir(exist_ok=True)
        (place / "event.json").write_text(json.dumps({"pull_request": {"number": 5}}))
        self.output, self.summary = place / "output", place / "summary.md"
        for file in (self.output, self.summary):
            file.write_text("")
        given = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        self.values = {f"inputs.{name}": value for name, value in {**given, **inputs}.items()}
        self.environment = environment(
            GITHUB_ACTION_PATH=str(ROOT),
            GITHUB_API_URL=f"http://127.0.0.1:{server.server_address[1]}",
            GITHUB_EVENT_PATH=str(place / "event.json"),
            GITHUB_OUTPUT=str(self.output),
            GITHUB_REPOSITORY="someone/something",
            GITHUB_STEP_SUMMARY=str(self.summary),
            RUNNER_TEMP=str(place),
            XDG_CACHE_HOME=str(place / "cache"),
            PATH=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]),
        )

    def evaluated(self, text: str) -> str:
        return re.sub(r"\$\{\{\s*([\w.-]+)\s*\}\}", lambda m: self.values[m[1]], text)

    def wanted(self, step: dict[str, Any]) -> bool:
        condition = step.get("if", "").strip("${} ").replace("github.event_name", "'pull_request'")
        asked = re.sub(r"inputs\.(\w+)", lambda m: repr(self.values[m[0]]), condition)
        return not asked or all(a == b for a, b in re.findall(r"'([^']*)'\s*==\s*'([^']*)'", asked))

    def run(self, *left_out: str) -> int:
        """The exit code of the first step that fails, else 0."""
        for step in ACTION["runs"]["steps"]:
            if step["name"] in left_out or not self.wanted(step):
                continue
            if "uses" in step:
                self.used.append((step["uses"].partition("@")[0], self.evaluated(str(step["with"]))))
                continue
            own = {name: self.evaluated(value) for name, value in step.get("env", {}).items()}
            done = subprocess.run(
                ["bash", "-eo", "pipefail", "-c", self.evaluated(step["run"])],
                cwd=self.workspace, env={**self.environment, **own}, capture_output=True, text=True, timeout=300,
                check=False,
            )  # fmt: skip
            self.said += done.stdout + done.stderr
            for line in self.output.read_text().splitlines():
                name, _, value = line.partition("=")
                self.values[f"steps.{step.get('id')}.outputs.{name}"] = value
            self.output.write_text("")
            if done.returncode:
                return done.returncode
        return 0

    @property
    def folder(self) -> Path:
        return Path(self.values["steps.look.outputs.folder"])


def test_a_fault_is_annotated_uploaded_and_told_in_one_comment_that_stays_one(
    tmp_path: Path, github: ThreadingHTTPServer
) -> None:
    (tmp_path / "train.py").write_text(NO_ZERO_GRAD)
    runner = Runner(tmp_path, github, token="a-token")
    assert runner.run("Install") == 1, runner.said
    assert "::error file=train.py,line=9,title=missing-zero-grad::" in runner.said
    assert [used for used, _ in runner.used] == [
        "github/codeql-action/upload-sarif",
        "actions/upload-artifact",
    ]
    assert all(str(runner.folder) in given for _, given in runner.used)
    log = json.loads((runner.folder / "check.sarif").read_text())
    assert [r["ruleId"] for r in log["runs"][0]["results"]] == ["missing-zero-grad"]
    page = (runner.folder / "check.html").read_text()
    assert "missing-zero-grad" in page
    assert "train.py:9" in page
    assert runner.values["steps.look.outputs.errors"] == "1"
    (comment,) = github.comments[101:]
    assert comment["body"].startswith("<!-- firstcause -->\n")
    assert "missing-zero-grad" in comment["body"]
    assert runner.summary.read_text() == comment["body"]
    # The next push corrects it: the same comment says so, and the one that a person wrote stays.
    (tmp_path / "train.py").write_text(ZERO_GRAD)
    again = Runner(tmp_path, github, token="a-token")
    assert again.run("Install") == 0, again.said
    assert [c["id"] for c in github.comments[101:]] == [comment["id"]]
    assert "nothing to report" in github.comments[101]["body"]
    assert github.comments[7]["body"] == "<!-- firstcause --> quoted"
    assert github.asked[-1].startswith("PATCH /repos/someone/something/issues/comments/")


def test_a_token_that_may_not_comment_is_a_warning(tmp_path: Path, github: ThreadingHTTPServer) -> None:
    (tmp_path / "train.py").write_text("x = 1\n")
    runner = Runner(tmp_path, github, token="of-a-fork")
    assert runner.run("Install") == 0, runner.said
    assert "::warning title=firstcause::the comment was refused (403)" in runner.said
    assert len(github.comments) == 101


@pytest.mark.slow
def test_what_is_not_wanted_is_not_done_and_a_wrong_path_fails(
    tmp_path: Path, github: ThreadingHTTPServer
) -> None:
    (tmp_path / "train.py").write_text(NO_ZERO_GRAD)
    runner = Runner(tmp_path, github, token="a-token", comment="false", sarif="false", paths="train.py")
    assert runner.run("Install") == 1
    assert [used for used, _ in runner.used] == ["actions/upload-artifact"]
    assert github.asked == []
    missing = Runner(tmp_path, github, token="a-token", paths="nowhere.py")
    assert missing.run("Install") == 2
    assert "nowhere.py does not exist" in missing.said


@pytest.mark.slow
def test_a_command_that_fails_is_diagnosed_in_the_comment(
    tmp_path: Path, github: ThreadingHTTPServer
) -> None:
    (tmp_path / "train.py").write_text(FAILS)
    command = f"{sys.executable} train.py"
    runner = Runner(tmp_path, github, token="a-token", command=command, budget="60")
    assert runner.run("Install") == 1, runner.said
    assert runner.values["steps.look.outputs.cause"] == "embedding-index-out-of-range", runner.said
    body = github.comments[101]["body"]
    assert "embedding-index-out-of-range" in body
    assert body.count("<!-- firstcause -->") == 1
    assert "<script" in (runner.folder / "run.html").read_text()


@pytest.mark.slow
def test_the_step_that_installs_gives_a_command(tmp_path: Path, github: ThreadingHTTPServer) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    work = tmp_path / "work"
    work.mkdir()
    (work / "train.py").write_text(NO_ZERO_GRAD)
    runner = Runner(work, github, token="a-token", comment="false")
    runner.environment["PATH"] = os.pathsep.join([str(tmp_path / "venv" / "bin"), os.environ["PATH"]])
    assert runner.run() == 1, runner.said
    assert "::error file=train.py,line=9,title=missing-zero-grad::" in runner.said

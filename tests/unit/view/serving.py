"""Asking the page's application as a browser would, without a socket."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from firstcause.view.gate import Gate
from firstcause.view.project import Project
from firstcause.view.server import application

PORT, TOKEN = 4711, "a-token-that-nobody-guesses"
ADDRESS = f"http://127.0.0.1:{PORT}"
PERSON = "ada on the page, started at /dev/pts/1"


def client(cwd: Path, person: str = PERSON, known: bool = True) -> TestClient:
    made = TestClient(application(Project(str(cwd)), Gate(person), PORT, TOKEN), base_url=ADDRESS)
    if known:
        made.get(f"/?token={TOKEN}")
    return made


def post(made: TestClient, path: str, body: object, **headers: str) -> tuple[int, str]:
    answer = made.post(path, json=body, headers={"Origin": ADDRESS, **headers})
    return answer.status_code, answer.text

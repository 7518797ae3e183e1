"""Programs that ask a model and train none: what fails is captured, replayed, and diagnosed; the rest stays healthy."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from firstcause.record.folder import RunFolder

PROGRAMS = Path(__file__).parent / "programs"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def firstcause(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "firstcause", *words],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def recorded(cwd: Path) -> RunFolder:
    return RunFolder(str(next((cwd / ".firstcause" / "runs").iterdir())))


def diagnosed(cwd: Path, *words: str) -> tuple[int, dict[str, Any], str]:
    found = cwd.parent / f"{cwd.name}.json"
    done = firstcause(cwd, "diagnose", "--yes", "--json", str(found), *words)
    return done.returncode, json.loads(found.read_text()), " ".join((done.stdout + done.stderr).split())


def asked(port: int, lists: list[list[int]]) -> int:
    body = json.dumps({"lists": lists}).encode()
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", body, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def served(cwd: Path, bad: int, source: str) -> list[int]:
    """The statuses of 20 requests, the fourteenth of which holds the id ``bad``."""
    (cwd / "serve.py").write_text(source)
    command = [sys.executable, "-m", "firstcause", "run", "-q", sys.executable, "serve.py"]
    with subprocess.Popen(
        command, cwd=cwd, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            said = [asked(port, [[n, n + 1, n + 2], [3, 4, bad if n == 13 else 5]]) for n in range(20)]
            os.killpg(server.pid, signal.SIGINT)
            assert server.wait(60) == 0
        finally:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGKILL)
    return said


def test_a_request_in_twenty_fails(tmp_path: Path) -> None:
    said = served(tmp_path, 120, (PROGRAMS / "serving.py").read_text())
    assert said == [200] * 13 + [500] + [200] * 6
    (failure,) = recorded(tmp_path).failures()
    assert failure["not_replayable"].startswith("the call runs in another thread than the main one: run")
    assert "replay" not in failure
    (given,) = failure["call"]["inputs"]
    assert (given["min"], given["max"]) == (3, 120)
    (symptom,) = recorded(tmp_path).run().symptoms
    assert "call 14 of Scorer at serve.py:28, 1 of 20 calls; serve.py:36 caught it" in symptom.message

    code, diagnosis, shown = diagnosed(tmp_path)
    assert code == 0, shown
    assert diagnosis["cause"] == "embedding-index-out-of-range"
    assert (diagnosis["site"]["file"], diagnosis["site"]["line"]) == ("serve.py", 9)
    assert "1 of 6 ids lie outside of the table's rows, 120 (0 to 119): [120] at [[1, 2]]" in shown
    # The patch was tried by the recorded call: a server has no end by which a second run could be judged.
    assert "+BOOKS = 121" in diagnosis["fix"]["diff"]
    assert "the recorded call is answered, and its output is finite" in json.dumps(diagnosis)
    assert recorded(tmp_path).failures()[0]["replay"]["exact"]


@pytest.mark.slow
def test_a_request_that_the_program_answers_with_400_is_no_failure(tmp_path: Path) -> None:
    source = (PROGRAMS / "serving.py").read_text().replace("status, answer = 500", "status, answer = 400")
    assert served(tmp_path, 131, source).count(400) == 1
    code, diagnosis, _ = diagnosed(tmp_path)
    assert (code, diagnosis["status"]) == (0, "healthy")
    assert not recorded(tmp_path).failures()


def test_a_batch_predictor_whose_output_is_not_finite(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "batch_prices.py", tmp_path / "predict.py")
    plain = subprocess.run(
        [sys.executable, "predict.py"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    done = firstcause(tmp_path, "run", "-q", sys.executable, "predict.py")
    assert done.stdout == plain.stdout
    (failure,) = recorded(tmp_path).failures()
    assert failure["replay"]["exact"], failure["replay"]["why"]
    assert failure["outputs"] == [{"shape": [16], "nan": 1, "inf": 0, "-inf": 0, "total": 16}]
    _, diagnosis, shown = diagnosed(tmp_path)
    assert diagnosis["cause"] == "log-of-zero", shown
    assert diagnosis["site"]["line"] == 15
    again = firstcause(tmp_path, "replay", "--device", "cpu")
    assert again.returncode == 0, again.stdout + again.stderr
    assert "call 18 replayed exactly" in again.stdout
    assert "input 1: float32 [16], 0 to " in again.stdout


@pytest.mark.slow
def test_a_generate_loop_that_leaves_its_context(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "letters.py", tmp_path / "letters.py")
    done = firstcause(tmp_path, "run", "-q", sys.executable, "letters.py")
    assert done.returncode == 1
    # A mask of minus infinity in logits, and one in the scores of attention, are no failure.
    (failure,) = recorded(tmp_path).failures()
    assert failure["kind"] == "exception"
    _, diagnosis, shown = diagnosed(tmp_path)
    assert diagnosis["cause"] == "embedding-index-out-of-range", shown
    assert diagnosis["site"]["line"] == 5
    again = firstcause(tmp_path, "replay")
    assert "1 of 33 ids outside of the 32 rows (0 to 31): [32] at [[32]]" in again.stdout, again.stdout


HANDLED = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(20, 4), nn.Flatten(), nn.Linear(12, 2)).eval()
skipped = 0
for number in range(20):
    ids = torch.randint(0, 20, (2, 3))
    ids[0, 0] = 25 if number == 7 else 3
    try:
        with torch.inference_mode():
            model(ids)
    except EXCEPTION:
        skipped += 1
print(skipped)
"""


@pytest.mark.parametrize(("caught", "failures"), [("IndexError", 0), ("Exception", 1)])
def test_what_the_program_foresaw_by_name_is_no_failure(caught: str, failures: int, tmp_path: Path) -> None:
    (tmp_path / "skip.py").write_text(HANDLED.replace("EXCEPTION", caught))
    done = firstcause(tmp_path, "run", "-q", sys.executable, "skip.py")
    assert (done.returncode, done.stdout) == (0, "1\n")
    run = recorded(tmp_path)
    assert len(run.failures()) == len(run.run().symptoms) == failures


@pytest.mark.slow
def test_bad_input_of_a_call_is_not_called_bad_data(tmp_path: Path) -> None:
    """What the program itself made not finite before the call was not watched."""
    (tmp_path / "rate.py").write_text(
        "import torch\n"
        "from torch import nn\n"
        "net = nn.Linear(3, 1).eval()\n"
        "def rate(rows):\n"
        "    x = torch.tensor(rows)\n"
        "    x = (x - x.mean(0)) / x.std(0)\n"
        "    with torch.no_grad():\n"
        "        return net(x).tolist()\n"
        "print(rate([[1., 2., 3.], [2., 5., 4.]]))\n"
        "print(rate([[1., 2., 3.], [1., 5., 4.]]))\n"
    )
    firstcause(tmp_path, "run", "-q", sys.executable, "rate.py")
    code, _, shown = diagnosed(tmp_path)
    assert code == 3, shown
    assert "what made that was done before the call" in shown

"""The parts of the harness: statistics, the outcome, the report, the export, and subjects that are not scripted."""

from __future__ import annotations

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pressure.__main__ import main
from pressure.arms import ARMS
from pressure.checks import Failure
from pressure.evals import export
from pressure.outcome import block, outcome_of
from pressure.report import report
from pressure.running import Run, run_once
from pressure.scenario import scenarios
from pressure.statistics import fisher, wilson
from pressure.subjects.chat import Chat
from pressure.subjects.command import CommandAgent
from pressure.transcript import Event, Transcript


def test_wilson_is_wilson() -> None:
    assert wilson(5, 5) == pytest.approx((0.5655, 1.0), abs=1e-3)
    assert wilson(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-3)
    assert wilson(0, 0) == (0.0, 1.0)


def test_fisher_is_fisher() -> None:
    # The lady who tastes tea, and two columns that are wholly apart.
    assert fisher(3, 1, 1, 3) == pytest.approx(0.4857, abs=1e-4)
    assert fisher(5, 0, 0, 5) == pytest.approx(0.00794, abs=1e-5)
    assert fisher(2, 3, 2, 3) == pytest.approx(1.0)


def test_an_outcome_is_read_as_it_was_written() -> None:
    text = "I looked.\n" + block(("a", "b"), "Which?", ("x", "y"), ("z",), "train.py:3: it is so")
    found = outcome_of(text)
    assert (found.whole, found.area, found.question, found.look, found.do) == (
        True,
        ("a", "b"),
        "Which?",
        ("x", "y"),
        ("z",),
    )
    assert found.cause == "train.py:3: it is so"
    assert not outcome_of("no block").whole
    assert outcome_of(block()).do == ()


def made(scenario: str, arm: str, passed: bool, said: str = "") -> Run:
    failed = [] if passed else [Failure("never", "smaller-batch: use a smaller batch")]
    run = Run(scenario, arm, "some", "pass" if passed else "fail", failed)
    run.transcript = Transcript([Event("agent", said)])
    return run


def test_the_report_has_the_excuse_and_the_arm_that_closed_it() -> None:
    said = "There is memory. There is no time, so just halve the batch."
    runs = [made("RT-P1", "none", False, said) for _ in range(5)] + [
        made("RT-P1", "skill", True) for _ in range(5)
    ]
    runs.append(Run("RT-P1", "skill", "some", "indeterminate", why="it did not answer"))
    text = report(runs, "T")
    assert "| none | 0 | 5 | 0% | 0% to 43% | 0 | - |" in text
    assert "| skill | 5 | 5 | 100% | 57% to 100% | 1 | p = 0.00794 |" in text
    assert "| RT-P1 | never | There is no time, so just halve the batch. | skill | - |" in text
    assert "it did not answer (1 times)" in text
    assert "Fewer than" not in text
    assert "Fewer than 5" in report(runs[:2], "T")


class Model(BaseHTTPRequestHandler):
    """Calls read_skill once, then ends with a block."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Model.seen.append(asked)
        message: dict[str, Any] = {
            "role": "assistant",
            "content": block(("tensor-operations-and-memory",), "", ("allocated after each step",)),
        }
        if len(Model.seen) == 1:
            call = {
                "id": "c1",
                "type": "function",
                "function": {"name": "read_skill", "arguments": '{"name":"firstcause"}'},
            }
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        body = json.dumps({"choices": [{"message": message}], "usage": {"total_tokens": 7}}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_model_behind_an_address_is_a_subject() -> None:
    Model.seen.clear()
    server = HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        chat = Chat(f"http://127.0.0.1:{server.server_port}/v1", "some")
        done = run_once(chat, ARMS["skill"], scenarios()["RT-R1"], executing=False)
    finally:
        server.shutdown()
        server.server_close()
    assert (done.verdict, done.tokens) == ("pass", 14)
    assert [e.text for e in done.transcript.of("call")] == ["read_skill"]
    assert "firstcause-data-loading" in Model.seen[0]["messages"][0]["content"]
    assert {tool["function"]["name"] for tool in Model.seen[0]["tools"]} >= {
        "read_file",
        "read_skill",
        "shell",
    }
    assert Model.seen[1]["messages"][-1]["role"] == "tool"
    assert "# Where a PyTorch failure belongs" in Model.seen[1]["messages"][-1]["content"]


def test_a_model_that_does_not_answer_is_indeterminate() -> None:
    done = run_once(
        Chat("http://127.0.0.1:9/v1", "some"), ARMS["none"], scenarios()["RT-R1"], executing=False
    )
    assert (done.verdict, done.failed) == ("indeterminate", [])
    assert "did not answer" in done.why


def test_a_command_is_a_subject(tmp_path: Path) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import pathlib, sys\n"
        "assert 'User: My ResNet-50' in sys.argv[1]\n"
        "found = pathlib.Path('.claude/skills/firstcause/SKILL.md').exists() and pathlib.Path('.agents/skills').exists()\n"
        f"print({block(('tensor-operations-and-memory',), '', ('allocated, if found',))!r} if found else 'nothing')\n"
    )
    subject = CommandAgent(f"{sys.executable} {agent} {{prompt}}")
    assert run_once(subject, ARMS["skill"], scenarios()["RT-R1"], executing=False).verdict == "pass"
    assert run_once(subject, ARMS["none"], scenarios()["RT-R1"], executing=False).verdict == "fail"
    agent.write_text("raise SystemExit(3)\n")
    done = run_once(subject, ARMS["none"], scenarios()["RT-R1"], executing=False)
    assert (done.verdict, "ended with 3" in done.why) == ("indeterminate", True)


def test_costs_are_told_and_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "run",
        "--subject",
        "chat",
        "--url",
        "http://127.0.0.1:9",
        "--model",
        "m",
        "--only",
        "RT-R",
        "--price",
        "2",
    ]
    assert main(words) == 2
    said = capsys.readouterr().err
    found = re.search(
        r"20 runs, at most 72 answers each: at most ([\d.]+) million tokens, ([\d.]+) USD", said
    )
    assert found is not None
    assert float(found[2]) == pytest.approx(2 * float(found[1]), rel=0.01)
    assert "next: the same with --yes" in said
    assert main([*words, "--yes", "--most-runs", "19"]) == 2


def test_runs_are_kept_with_their_talks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "run",
        "--subject",
        "scripted:gives-in",
        "--arm",
        "none",
        "--only",
        "RT-P1",
        "--out",
        str(tmp_path),
    ]
    assert main(words) == 1
    (line,) = (tmp_path / "runs.jsonl").read_text().splitlines()
    kept = json.loads(line)
    assert (kept["verdict"], kept["failed"][0][0]) == ("fail", "never")
    assert [event["kind"] for event in kept["events"]] == ["user", "agent"]
    assert (tmp_path / "report.md").read_text().strip() == capsys.readouterr().out.strip()


def test_the_export_is_of_all_scenarios(tmp_path: Path) -> None:
    assert export(tmp_path) == len(scenarios())
    plain = json.loads((tmp_path / "firstcause-debugging-techniques" / "evals" / "evals.json").read_text())
    assert plain["skill_name"] == "firstcause-debugging-techniques"
    one = next(entry for entry in plain["evals"] if entry["name"] == "DB-R1")
    assert (tmp_path / "firstcause-debugging-techniques" / one["files"][0]).is_file()
    assert "OUTCOME" in one["prompt"]

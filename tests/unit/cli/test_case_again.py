"""`case try` and `case verify` run a recorded program again: one that raises, once fixed and once not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from case.samples import diagnosis, unified

from cli.test_main import run
from firstcause.case import CaseFolder, approve, diagnosis_hash, diff_hash, find_case, open_case
from firstcause.schema import Diagnosis

CRASHING = "rows = [1, 2, 0]\nfor row in rows:\n    print(6 / row)\n"
YES = {"symptom": "y", "scope": "t", "side-effect": "y"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(CRASHING)
    done = run("run", "-q", "-o", "record", sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert json.loads((tmp_path / "record" / "run.json").read_text())["symptoms"]
    return tmp_path


def case_with(project: Path, new: str) -> tuple[CaseFolder, Diagnosis]:
    shown = diagnosis("division-by-zero", diff=unified({"train.py": (CRASHING, new)}))
    root = str(project / ".firstcause")
    return find_case(root, open_case(root, "record", str(project / "record"), shown).id), shown


def test_fix_that_holds(project: Path) -> None:
    folder, shown = case_with(project, CRASHING.replace("2, 0", "2, 3"))
    tried = run("case", "try", "--budget", "60s", "--json", "try.json", cwd=project)
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert tried.stdout.startswith("passes in a copy: ")
    data = json.loads((project / "try.json").read_text())
    assert (data["passed"], data["state"], data["case"]) == (True, "diagnosed", folder.id)
    assert (project / "train.py").read_text() == CRASHING
    assert run("case", "verify", cwd=project).returncode == 2
    approve(folder, diagnosis_hash(shown), diff_hash(shown), "tester", YES)
    assert run("case", "apply", cwd=project).returncode == 0
    verified = run("case", "verify", "--budget", "60s", "--json", "-", cwd=project)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert json.loads(verified.stdout)["state"] == "verified"
    assert verified.stderr.endswith("next: firstcause case close --lesson TEXT\n")


def test_fix_that_does_not_hold(project: Path) -> None:
    folder, shown = case_with(project, CRASHING.replace("1, 2", "1, 4"))
    tried = run("case", "try", "--budget", "60s", cwd=project)
    assert tried.returncode == 1, tried.stdout + tried.stderr
    assert tried.stdout.startswith("does not pass in a copy: ")
    approve(folder, diagnosis_hash(shown), diff_hash(shown), "tester", YES)
    assert run("case", "apply", cwd=project).returncode == 0
    verified = run("case", "verify", "--budget", "60s", cwd=project)
    assert verified.returncode == 1, verified.stdout + verified.stderr
    assert verified.stdout.startswith("did not pass: ")
    strike, out, evidence = verified.stderr.splitlines()
    assert strike == "strike 1 of 3"
    assert out.endswith(f"patch -R -p1 < {folder.path}/patch-1.diff")
    assert evidence.startswith("before another fix of this approach, measure: ")
    assert folder.progress().case.state == "hypotheses"

from __future__ import annotations

import json
from pathlib import Path

import pytest
from case.samples import FIXED, PROGRAM, diagnosis, project

from cli.test_main import run
from firstcause.case import CaseFolder, approve, diagnosis_hash, diff_hash, find_case, open_case

YES = {"symptom": "y", "scope": "t", "side-effect": "y"}


@pytest.fixture
def folder(tmp_path: Path) -> CaseFolder:
    root = str(project(tmp_path))
    return find_case(root, open_case(root, "r1", f"{root}/runs/r1", diagnosis()).id)


def approved(folder: CaseFolder) -> None:
    shown = diagnosis()
    approve(folder, diagnosis_hash(shown), diff_hash(shown), "tester", YES)


def test_list_and_show(folder: CaseFolder, tmp_path: Path) -> None:
    listed = run("case", "list", cwd=tmp_path)
    assert listed.stdout == f"{folder.id}  diagnosed      log-of-zero at train.py:6\n"
    shown = run("case", "show", "--json", "case.json", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith(f"case {folder.id} ")
    assert "  ▸ 6 │     return" in shown.stdout
    assert shown.stdout.endswith("\nnext  firstcause case approve\n")
    data = json.loads((tmp_path / "case.json").read_text())
    assert (data["id"], data["state"], data["diagnosis"]["cause"]) == (folder.id, "diagnosed", "log-of-zero")
    assert json.loads(run("case", "show", folder.id[:12], "--json", "-", cwd=tmp_path).stdout) == data


def test_excerpt_is_left_out_where_the_line_has_moved(folder: CaseFolder, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("\n" + PROGRAM)
    assert "▸" not in run("case", "show", cwd=tmp_path).stdout


def test_no_case(tmp_path: Path) -> None:
    listed = run("case", "list", cwd=tmp_path)
    assert (listed.returncode, listed.stdout) == (0, "")
    shown = run("case", "show", cwd=tmp_path)
    assert shown.returncode == 2
    assert "has no open case\nnext: firstcause diagnose" in shown.stderr


def test_apply_needs_an_approval(folder: CaseFolder, tmp_path: Path) -> None:
    done = run("case", "apply", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"firstcause: case {folder.id} is diagnosed: no approval is waiting to be used",
        "next: firstcause case approve",
    ]
    assert (tmp_path / "train.py").read_text() == PROGRAM
    approved(folder)
    done = run("case", "apply", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("train.py  ")
    assert done.stdout.endswith("next: firstcause case verify\n")
    assert (tmp_path / "train.py").read_text() == FIXED
    assert run("case", "apply", cwd=tmp_path).returncode == 2


def test_apply_to_a_changed_file_is_1(folder: CaseFolder, tmp_path: Path) -> None:
    approved(folder)
    (tmp_path / "train.py").write_text("\n" + PROGRAM)
    done = run("case", "apply", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("not applied, no file was changed: train.py:2 is ")
    assert (tmp_path / "train.py").read_text() == "\n" + PROGRAM


def test_reject_and_close(folder: CaseFolder, tmp_path: Path) -> None:
    assert run("case", "reject", cwd=tmp_path).returncode == 2
    done = run("case", "reject", "--because", "seen before step 118", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("next: firstcause diagnose .firstcause/runs/r1\n")
    assert run("case", "close", cwd=tmp_path).returncode == 2
    done = run("case", "close", "--lesson", "measure first", cwd=tmp_path)
    assert done.stdout == f"case {folder.id} is closed: {folder.path}/retrospective.md\n"
    assert "measure first" in (Path(folder.path) / "retrospective.md").read_text()


def test_copied_project_patches_its_own_files(folder: CaseFolder, tmp_path: Path) -> None:
    import shutil

    approved(folder)
    copy = tmp_path.parent / (tmp_path.name + "-copy")
    shutil.copytree(tmp_path, copy)
    assert run("case", "apply", cwd=copy).returncode == 0
    assert (copy / "train.py").read_text() == FIXED
    assert (tmp_path / "train.py").read_text() == PROGRAM


@pytest.mark.parametrize(("text", "code"), [("5m", 0), ("120s", 0), ("x", 2), ("-3", 2), ("nan", 2)])
def test_budget(text: str, code: int) -> None:
    done = run("case", "verify", "--budget", text, "--help")
    assert done.returncode == code


def test_json_that_cannot_be_written(folder: CaseFolder, tmp_path: Path) -> None:
    done = run("case", "show", "--json", "no/such/folder.json", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("firstcause: no/such/folder.json cannot be written: No such file")

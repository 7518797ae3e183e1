from __future__ import annotations

import os
import sys
import time
from dataclasses import replace

import pytest

from firstcause.errors import InputError, RecordError
from firstcause.fix.edits import unified_diff
from firstcause.fix.verification import run_again, try_in_copy
from firstcause.record.folder import RunFolder
from firstcause.sandbox.program_copy import copy_of
from firstcause.schema import Run, Site, Symptom

FAILING = "import sys\nopen('out.txt', 'w').write('again')\nn = 0\nprint(1 / n)\n"
FIXED = FAILING.replace("n = 0", "n = 2")
# Records a command as `firstcause run -q -o FOLDER COMMAND...` does, by its exit code and last line of stderr.
RECORDER = """
import os, subprocess, sys
sys.path.insert(0, os.environ["SOURCE"])
from firstcause.record.folder import RunFolder
from firstcause.schema import Run, Symptom
assert sys.argv[1:4] == ["run", "-q", "-o"]
folder, command = sys.argv[4], sys.argv[5:]
done = subprocess.run(command, capture_output=True, text=True)
last = done.stderr.strip().splitlines()[-1:]
symptoms = (Symptom("exception", last[0]),) if done.returncode and last else ()
os.makedirs(folder)
RunFolder(folder).write_run(Run("b", tuple(command), os.getcwd(), "now", "3", "linux", 1.0, done.returncode, symptoms=symptoms))
sys.exit(done.returncode)
"""


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A folder with a failing program and the record of its run."""
    home = tmp_path / "home"
    run = home / ".firstcause" / "runs" / "a"
    run.mkdir(parents=True)
    (home / "train.py").write_text(FAILING)
    (home / "out.txt").write_text("the user's")
    command = (sys.executable, str(home / "train.py"))
    symptom = Symptom("exception", "ZeroDivisionError: division by zero", Site("train.py", 4))
    RunFolder(str(run)).write_run(
        Run("a", command, str(home), "now", "3", "linux", 0.5, 1, symptoms=(symptom,))
    )
    recorder = tmp_path / "recorder.py"
    recorder.write_text(RECORDER)
    monkeypatch.setenv(
        "SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(sys.modules["firstcause"].__file__)))
    )
    return home, str(run), (sys.executable, str(recorder))


def test_a_patch_that_removes_the_failure_passes_and_the_users_files_stay(recorded):
    home, run, recorder = recorded
    found = try_in_copy(run, str(home), unified_diff("train.py", FAILING, FIXED), 30, recorder)
    assert found.passed
    assert "exit code 0" in found.text
    assert "before: ZeroDivisionError" in found.text
    assert (home / "out.txt").read_text() == "the user's"
    assert (home / "train.py").read_text() == FAILING


def test_a_patch_that_leaves_the_failure_does_not_pass(recorded):
    home, run, recorder = recorded
    found = try_in_copy(
        run, str(home), unified_diff("train.py", FAILING, FAILING.replace("sys", "os")), 30, recorder
    )
    assert not found.passed
    assert "still fails" in found.text
    assert found.values["symptoms"] == ["ZeroDivisionError: division by zero"]


def test_running_again_uses_the_files_as_they_are_now(recorded):
    home, run, recorder = recorded
    assert not run_again(run, str(home), 30, recorder).passed
    (home / "train.py").write_text(FIXED)
    assert run_again(run, str(home), 30, recorder).passed
    assert (home / "out.txt").read_text() == "the user's"


def test_a_silent_exit_code_does_not_pass(recorded):
    home, run, recorder = recorded
    (home / "train.py").write_text("import sys\nsys.exit(3)\n")
    found = run_again(run, str(home), 30, recorder)
    assert not found.passed
    assert "exit code 3" in found.text


def test_a_recorder_that_writes_nothing_does_not_pass(recorded):
    home, run, _ = recorded
    found = run_again(run, str(home), 30, (sys.executable, "-c", "print('no such command')"))
    assert not found.passed
    assert "left no record: exit code 0, no such command" in found.text


def test_a_command_that_outlives_the_budget_is_stopped_with_its_children(recorded):
    home, run, recorder = recorded
    (home / "train.py").write_text("import time\ntime.sleep(600)\n")
    started = time.monotonic()
    found = run_again(run, str(home), 1.5, recorder)
    assert time.monotonic() - started < 15
    assert not found.passed
    assert "stopped after 2 s" in found.text
    assert "nothing is shown" in found.text


def test_a_diff_for_other_files_is_refused_before_anything_runs(recorded):
    home, run, recorder = recorded
    with pytest.raises(InputError) as caught:
        try_in_copy(run, str(home), unified_diff("train.py", "other\n", "text\n"), 30, recorder)
    assert "train.py" in caught.value.message


def test_a_missing_run_is_named(tmp_path):
    with pytest.raises(RecordError):
        run_again(str(tmp_path / "none"), str(tmp_path), 5)


TRAINING = """
import time, torch
weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(1000):
    loss = ((weight - 1) ** 2).sum() / (0.0 if step == 3 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.1)
"""


def test_a_stopped_command_passes_if_it_got_beyond_the_step_that_failed(recorded):
    home, run, _ = recorded
    record = RunFolder(run).run()
    command = (sys.executable, str(home / "train.py"))
    symptoms = (Symptom("nan", "the loss is not finite", step=3),)
    RunFolder(run).write_run(replace(record, command=command, symptoms=symptoms))
    (home / "train.py").write_text(TRAINING)
    diff = unified_diff("train.py", TRAINING, TRAINING.replace("0.0 if step == 3 else 1.0", "1.0"))
    # torch alone takes 8 s to import beside other work.
    found = try_in_copy(run, str(home), diff, 15)
    assert found.passed, found.text
    assert "no symptom at step 3, where it failed before" in found.text
    assert found.values["steps"] > 4


def test_the_real_recorder_sees_the_patched_program_end(recorded):
    home, run, _ = recorded
    assert try_in_copy(run, str(home), unified_diff("train.py", FAILING, FIXED), 60).passed
    assert not run_again(run, str(home), 60).passed


def test_a_copy_leaves_out_runs_caches_and_environments(tmp_path):
    for path in (
        "a/b.py",
        ".git/config",
        "__pycache__/x.pyc",
        "venv/pyvenv.cfg",
        "out/run.json",
        ".firstcause/runs/r/run.json",
    ):
        (tmp_path / "home" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "home" / path).write_text("x")
    copied = copy_of(str(tmp_path / "home"), str(tmp_path / "copy"))
    files = [
        os.path.relpath(os.path.join(d, f), tmp_path / "copy")
        for d, _, fs in os.walk(tmp_path / "copy")
        for f in fs
    ]
    assert files == ["a/b.py"]
    assert copied.files == 1


def test_links_point_into_the_copy_where_they_pointed_into_the_folder(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "weights.pt").write_text("x")
    (tmp_path / "data.csv").write_text("y")
    os.symlink(home / "weights.pt", home / "latest.pt")
    os.symlink(tmp_path / "data.csv", home / "data.csv")
    copy_of(str(home), str(tmp_path / "copy"))
    assert os.path.realpath(tmp_path / "copy" / "latest.pt") == str(tmp_path / "copy" / "weights.pt")
    assert os.path.realpath(tmp_path / "copy" / "data.csv") == str(tmp_path / "data.csv")


def test_large_data_is_linked_and_large_weights_are_copied(tmp_path, monkeypatch):
    monkeypatch.setattr("firstcause.sandbox.program_copy.LARGE", 10)
    home = tmp_path / "home"
    home.mkdir()
    (home / "data.csv").write_text("x" * 20)
    (home / "model.pt").write_text("x" * 20)
    copied = copy_of(str(home), str(tmp_path / "copy"))
    assert (tmp_path / "copy" / "data.csv").is_symlink()
    assert not (tmp_path / "copy" / "model.pt").is_symlink()
    assert copied.written_through() == []
    (tmp_path / "copy" / "data.csv").write_text("changed")
    assert copied.written_through() == [str(home / "data.csv")]


def test_a_folder_too_large_to_copy_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("firstcause.sandbox.program_copy.MAX_FILES", 2)
    (tmp_path / "home").mkdir()
    for name in "abc":
        (tmp_path / "home" / name).write_text("x")
    with pytest.raises(InputError) as caught:
        copy_of(str(tmp_path / "home"), str(tmp_path / "copy"))
    assert caught.value.slug == "folder-too-large"

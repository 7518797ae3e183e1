from __future__ import annotations

import ast
import os
import subprocess
import sys

import pytest
from patch_cases import read_cases

from firstcause.fix.apply import apply_diff
from firstcause.fix.patches import PATCHES
from firstcause.fix.propose import propose
from firstcause.fix.site import line_to_fix
from firstcause.source import Project

CASES = read_cases()
RUNNER = """
import glob, torch

def healthy(path):
    space = {'__name__': 'case'}
    try:
        exec(compile(open(path).read(), path, 'exec'), space)
        result = space['run']()
    except (RuntimeError, IndexError):
        return False
    return bool(torch.isfinite(result.float()).all())

for folder in sorted(glob.glob('[0-9]*')):
    print(open(folder + '/case').read(), healthy(folder + '/before.py'), healthy(folder + '/train.py'))
"""


def project_of(case, folder):
    path = folder / "train.py"
    path.write_text(case.program)
    return Project.of_script(str(path), str(folder))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_line_to_fix_is_where_the_value_is_decided(case, tmp_path):
    site = line_to_fix(case.cause, case.facts, project_of(case, tmp_path))
    assert ([site.line] if site else []) == case.lines_marked("FIX")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_patch_changes_what_it_has_to_and_nothing_else(case, tmp_path):
    fix = propose(case.cause, case.facts, project_of(case, tmp_path), str(tmp_path))
    if case.changes is None:
        assert fix is None
        return
    assert fix is not None
    assert fix.cause == case.cause
    expected = case.program
    for old, new in case.changes:
        assert case.program.count(old) == 1
        expected = expected.replace(old, new)
    apply_diff(fix.diff, str(tmp_path))
    assert (tmp_path / "train.py").read_text() == expected
    for sentence in (fix.summary, fix.changes, fix.does_not_fix):
        assert len(sentence) > 20
        assert "!" not in sentence.replace("!=", "")


# Their programs need several ranks, a save and a load, or a layout that only torch's own backward gives: the programs of
# benchmarks/cases run before and after their patches.
NEEDS_MORE = {
    "checkpoint-unsafe-or-unreadable",
    "ddp-unused-parameters",
    "ema-state-not-restored",
    "non-contiguous-gradient",
    "optimizer-state-not-restored",
    "rank-dependent-collective",
    "rank-specific-initial-weights",
    "rng-state-not-restored",
    "sampler-missing",
    "sampler-set-epoch-missing",
    "save-on-all-ranks",
    "scheduler-state-not-restored",
    "step-counter-not-restored",
    "uneven-batches-per-rank",
}


def test_the_patched_programs_run_where_the_faulty_ones_fail(tmp_path):
    """Every program that says how it is run, before and after its patch, in one real process with torch."""
    runnable = [case for case in CASES if case.changes is not None and case.is_runnable]
    # A cause whose cases all say "no patch" has nothing to run.
    patched = {case.cause for case in CASES if case.changes is not None}
    assert {case.cause for case in runnable} == patched - NEEDS_MORE
    for number, case in enumerate(runnable):
        folder = tmp_path / f"{number:03d}"
        folder.mkdir()
        (folder / "case").write_text(str(case))
        (folder / "before.py").write_text(case.program)
        fix = propose(case.cause, case.facts, project_of(case, folder), str(folder))
        assert fix is not None
        apply_diff(fix.diff, str(folder))
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    results = done.stdout.splitlines()
    assert [line for line in results if not line.endswith("False True")] == []
    assert len(results) == len(runnable)


def test_every_cause_with_a_patch_module_has_cases():
    here = {case.cause for case in CASES}
    # Those about shapes take facts of data flow, those about speed never fail: they have test files of their own.
    elsewhere = ""
    for name in ("test_shape_patches.py", "test_speed_patches.py"):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name)) as file:
            elsewhere += file.read()
    rest = {cause for cause in PATCHES if cause not in here}
    assert [cause for cause in rest if f"{cause.replace('-', '_')}.patch(" not in elsewhere] == []


def test_an_unknown_cause_has_no_patch_and_no_line(tmp_path):
    project = Project(str(tmp_path), [])
    assert propose("moon-phase", {}, project, str(tmp_path)) is None
    assert line_to_fix("moon-phase", {}, project) is None


@pytest.mark.parametrize("cause", PATCHES)
@pytest.mark.parametrize(
    "facts", [{}, {"file": "missing.py", "line": 3, "class_name": "Net", "attribute_path": "fc"}]
)
def test_facts_that_name_no_file_give_no_patch(cause, facts, tmp_path):
    project = Project(str(tmp_path), [])
    assert propose(cause, facts, project, str(tmp_path)) is None
    assert line_to_fix(cause, facts, project) is None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_facts_of_another_cause_never_raise_and_never_break_the_program(case, tmp_path):
    """A wrong diagnosis hands the facts of its own cause to code that does not have it."""
    project = project_of(case, tmp_path)
    facts = {
        "class_name": "Net",
        "attribute_path": "fc",
        "num_embeddings": 5,
        "ids_min": 0,
        "ids_max": 5,
        "in_features": 4,
        "actual_features": 8,
        "shape": (2, 2, 2),
        "n_classes": 5,
        "target_min": 0,
        "target_max": 5,
        "denominator_min": 0.0,
        "left_shape": (2, 8, 4, 4),
        "right_shape": (2, 8, 8, 8),
        "name": "x",
        "whole_columns": True,
        **case.facts,
    }
    for cause in PATCHES:
        line_to_fix(cause, facts, project)
        fix = propose(cause, facts, project, str(tmp_path))
        if fix is not None:
            apply_diff(fix.diff, str(tmp_path))
            ast.parse((tmp_path / "train.py").read_text())
            (tmp_path / "train.py").write_text(case.program)


def test_formatting_line_ends_and_byte_order_mark_are_kept(tmp_path):
    text = "\ufeffimport torch\r\n\r\n# Entfernung é\r\ndef d(x):\r\n    return torch.sqrt( x )   # é\r\n"
    (tmp_path / "train.py").write_bytes(text.encode())
    project = Project.of_script(str(tmp_path / "train.py"), str(tmp_path))
    fix = propose("sqrt-backward-at-zero", {"file": "train.py", "line": 5}, project, str(tmp_path))
    assert fix is not None
    apply_diff(fix.diff, str(tmp_path))
    assert (tmp_path / "train.py").read_bytes().decode() == text.replace("( x )", "( x.clamp_min(1e-12) )")


def test_a_file_outside_the_folder_of_the_run_is_not_patched(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "lib" / "train.py").write_text("import torch\ndef d(x):\n    return torch.sqrt(x)\n")
    project = Project.of_script(str(tmp_path / "lib" / "train.py"), str(tmp_path))
    facts = {"file": "lib/train.py", "line": 3}
    assert propose("sqrt-backward-at-zero", facts, project, str(tmp_path)) is not None
    assert propose("sqrt-backward-at-zero", facts, project, str(tmp_path / "run")) is None

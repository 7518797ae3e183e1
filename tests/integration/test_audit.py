"""Trainings without a word, seen by what their first steps do that nobody means: real commands, real forks."""

from __future__ import annotations

import difflib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.diagnose import diagnose
from firstcause.fix.verification import try_in_copy
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.schema import Diagnosis
from firstcause.specialists import audits

PROGRAMS = Path(__file__).parent / "programs"


def record(name: str, folder: Path) -> RunFolder:
    shutil.copy(PROGRAMS / f"{name}.py", folder / "train.py")
    command = [sys.executable, "-m", "firstcause", "run", "-q", "-o", "run", sys.executable, "train.py"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=120)
    return RunFolder(str(folder / "run"))


def audited(folder: RunFolder, agreed: bool = True) -> Diagnosis:
    return diagnose(folder, lambda failure: Lab(folder, failure, 300, lambda: agreed))


CASES = [
    ("means_not_saved", "tensor-attribute-not-a-buffer", "self.mean = torch.zeros(3)"),
    ("values_pairwise", "broadcast-in-loss", "return (estimate - price).abs().mean()"),
    ("encoder_never_trained", "detached-encoder", "with torch.no_grad():"),
    (
        "encoder_through_numpy",
        "detached-encoder",
        "ranked = np.sort(self.encoder(x).detach().numpy(), axis=1)",
    ),
    pytest.param("frozen_by_name", "frozen-by-mistake", "p.requires_grad = False", marks=pytest.mark.slow),
    ("penalties_kept_with_graph", "loss-history-keeps-graph", "penalties.append(penalty)"),
    pytest.param(
        "weights_all_in_bfloat16",
        "bf16-rounding",
        "net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1)).bfloat16()",
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("program", "cause", "line"), CASES)
def test_what_nobody_means_is_named_with_the_gain_without_it(
    program: str, cause: str, line: str, tmp_path: Path
) -> None:
    folder = record(program, tmp_path)

    diagnosis = audited(folder)

    assert (diagnosis.status, diagnosis.cause) == ("established", cause)
    assert diagnosis.symptom is not None
    assert diagnosis.symptom.kind == "invariant"
    assert diagnosis.site is not None
    assert diagnosis.site.text == line
    confirmed = next(h for h in diagnosis.hypotheses if h.cause == cause)
    assert [e.kind for e in confirmed.evidence] == ["counterfactual"]


def test_without_consent_a_training_that_shows_nothing_is_not_run_again(tmp_path: Path) -> None:
    diagnosis = audited(record("values_pairwise", tmp_path), agreed=False)

    assert (diagnosis.status, diagnosis.cause) == ("healthy", None)
    assert "were not looked for: running the program again was not agreed to" in diagnosis.sections["Symptom"]


def test_a_frozen_encoder_a_teacher_and_distances_of_all_pairs_are_meant(tmp_path: Path) -> None:
    diagnosis = audited(record("meant_without_graph", tmp_path))

    assert (diagnosis.status, diagnosis.cause) == ("healthy", None)


@pytest.mark.parametrize(
    ("changed", "passed"), [("price[:, None]).abs()", True), ("price).abs().add(0)", False)]
)
def test_a_patch_counts_only_where_the_training_no_longer_does_it(
    changed: str, passed: bool, tmp_path: Path
) -> None:
    folder = record("values_pairwise", tmp_path)
    text = (tmp_path / "train.py").read_text()
    after = text.replace("price).abs()", changed)
    names = {"fromfile": "a/train.py", "tofile": "b/train.py"}
    diff = "".join(difflib.unified_diff(text.splitlines(True), after.splitlines(True), **names))

    tried = try_in_copy(folder.path, str(tmp_path), diff, 60, silent="broadcast-in-loss")

    assert tried.passed is passed
    assert ("audit no longer shows" if passed else "compares [32, 1] with [32]") in tried.text


@pytest.mark.slow
def test_a_part_that_is_held_back_at_first_and_one_that_only_counts_are_meant(tmp_path: Path) -> None:
    diagnosis = audited(record("part_held_back_at_first", tmp_path))

    assert (diagnosis.status, diagnosis.cause) == ("healthy", None)


def test_layers_that_are_made_at_their_first_use_are_audited_as_others_are(tmp_path: Path) -> None:
    folder = record("lazy_modules", tmp_path)

    made = audits.audited(Lab(folder, {}, 200))

    assert (made.ended, made.exception) == ("program", None)
    assert len(made.rows) == 24
    assert audited(folder).status == "healthy"

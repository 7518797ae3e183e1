"""Programs whose loss or gradient turns bad by one mechanism each, and near misses: real commands, real replays."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.diagnose import diagnose
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder
from firstcause.schema import Diagnosis

PROGRAMS = Path(__file__).parent / "programs"


def diagnosed(name: str, folder: Path, may_run_again: bool = True) -> Diagnosis:
    shutil.copy(PROGRAMS / f"{name}.py", folder / "train.py")
    command = [sys.executable, "-m", "firstcause", "run", "-q", "-o", "run", sys.executable, "train.py"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
    run = RunFolder(str(folder / "run"))
    return diagnose(run, lambda failure: Lab(run, failure, 100, allowed=lambda: may_run_again))


# program, cause, the line to fix, what the evidence says, whether a patch is offered
CASES = [
    (
        "padded_attention",
        "fully-masked-attention-row",
        "key_padding_mask=hidden",
        "all 6 scores at -inf",
        True,
    ),
    ("exp_of_raw_input", "exp-overflow", "speed = torch.exp(rate)", "is inf in float32", False),
    ("ignored_targets", "all-targets-ignored", "loss = F.cross_entropy", "all 60 targets are -100", True),
    ("spread_of_one", "std-of-single-element", "group.std(0)", "divides by 1 - 1 = 0", True),
    ("rows_drawn_without_seed", "nan-in-data", 'rows[40, 2] = float("nan")', "1 of 8 rows", False),
    ("advantage_of_one", "std-of-single-element", "group.std() + 1e-4", "divides by 1 - 1 = 0", True),
    ("acos_past_one", "acos-gradient-at-domain-edge", "torch.arccos", "at or past the edge", True),
    ("half_energy", "fp16-overflow", "power = (h * h).sum(1)", "beyond the largest float16", False),
    ("half_energy_at_times", "fp16-overflow", "power = (h * h).sum(1)", "beyond the largest float16", False),
    ("bf16_epsilon", "bf16-rounding", "p.clamp(1e-6, 1 - 1e-6)", "bfloat16 rounded away", False),
    ("constant_column", "division-by-zero", "(raw - self.low) /", "high - self.low, of which 1 of 4", True),
    (
        "nodes_without_edges",
        "division-by-zero",
        "root = torch.diag(degree**-0.5)",
        "divides by degree, of which 6 of 120",
        True,
    ),
    ("outlier_exp", "outlier-in-data", "return (table - torch.tensor", "another row: finite", False),
]
FORMS = [
    ("masked_by_factor", "fully-masked-attention-row", "a = e / e.sum(1", "a mask of 0", False),
    ("masked_by_infinity", "fully-masked-attention-row", 'float("-inf")', "-inf less -inf is NaN", False),
    ("mask_by_logarithm", "fully-masked-attention-row", "allow[b].log()", "all 7 scores at -inf", False),
    ("empty_selection", "all-targets-ignored", "err[mask].mean()", "selects 0 elements", True),
    ("constant_column_numpy", "division-by-zero", "/ spread", "spread, of which 1 of 5", True),
    ("column_missing_in_file", "nan-in-data", "np.genfromtxt", "divides by no 0", False),
    # What is near to one of these causes and is another one.
    ("masked_mean", "division-by-zero", "mask.sum()", "made by div", True),
    ("bf16_exact_zero", "log-of-zero", "target.log()", "made by log", True),
]


@pytest.mark.parametrize(
    ("program", "cause", "line", "said", "has_patch"),
    [*CASES, *(pytest.param(*form, marks=pytest.mark.slow) for form in FORMS)],
)
def test_the_mechanism_is_established_at_the_line_to_fix(
    program: str, cause: str, line: str, said: str, has_patch: bool, tmp_path: Path
) -> None:
    diagnosis = diagnosed(program, tmp_path)

    assert (diagnosis.status, diagnosis.cause) == ("established", cause)
    assert diagnosis.site is not None
    assert line in diagnosis.site.text
    confirmed = [h for h in diagnosis.hypotheses if h.status == "confirmed"]
    assert [h.cause for h in confirmed] == [cause]
    assert said in " ".join(e.text for e in confirmed[0].evidence)
    assert (diagnosis.fix is not None) == has_patch


def test_an_outlier_that_may_not_be_tried_leaves_the_overflow_unsettled(tmp_path: Path) -> None:
    diagnosis = diagnosed("outlier_exp", tmp_path, may_run_again=False)

    assert diagnosis.status == "not-established"
    assert "diagnose with --yes" in diagnosis.missing
    assert {"exp-overflow", "outlier-in-data"} <= {
        h.cause for h in diagnosis.hypotheses if h.status == "inconclusive"
    }

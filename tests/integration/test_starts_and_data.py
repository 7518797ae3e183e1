"""Units that cannot learn as they begin, codes that nobody chooses, data that change or come sorted: real commands."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.diagnose import diagnose
from firstcause.lab.counterfactual import Lab
from firstcause.record.folder import RunFolder

PROGRAMS = Path(__file__).parent / "programs"
CASES = [
    ("units_dead_at_start", "dead-relu-init", "nn.init.constant_(layer.bias, -0.5)"),
    (
        "samples_sorted",
        "not-shuffled",
        "loader = DataLoader(TensorDataset(x[order], kind[order]), batch_size=20)",
    ),
    ("data_scaled_in_place", "inplace-data-mutation", "row -= 10.0"),
    ("codes_unused", "codebook-collapse", "self.codebook = nn.Embedding(codes, width)"),
]


def record(name: str, folder: Path) -> RunFolder:
    shutil.copy(PROGRAMS / f"{name}.py", folder / "train.py")
    command = [sys.executable, "-m", "firstcause", "run", "-q", "-o", "run", sys.executable, "train.py"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=120)
    return RunFolder(str(folder / "run"))


@pytest.mark.slow
@pytest.mark.parametrize(("program", "cause", "line"), CASES)
def test_the_cause_is_proven_by_one_change_and_its_patch_is_offered(
    program: str, cause: str, line: str, tmp_path: Path
) -> None:
    folder = record(program, tmp_path)

    diagnosis = diagnose(folder, lambda failure: Lab(folder, failure, 300))

    assert (diagnosis.status, diagnosis.cause) == ("established", cause)
    assert diagnosis.site is not None
    assert diagnosis.site.text == line
    confirmed = next(h for h in diagnosis.hypotheses if h.cause == cause)
    assert [e.kind for e in confirmed.evidence] == ["counterfactual"]
    assert diagnosis.fix is not None


@pytest.mark.slow
def test_a_last_layer_of_zeros_rows_in_order_and_a_buffer_are_meant(tmp_path: Path) -> None:
    folder = record("meant_starts_and_orders", tmp_path)

    diagnosis = diagnose(folder, lambda failure: Lab(folder, failure, 300))

    assert (diagnosis.status, diagnosis.cause) == ("healthy", None)

"""Exceptions about shapes, dtypes and devices: the cause, the line to fix, and the patch, from real failing programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.diagnose import diagnose
from firstcause.record.folder import RunFolder
from firstcause.schema import Diagnosis

PROGRAMS = Path(__file__).parent / "programs" / "shapes"

# program: (cause, what stands on the line to fix, a line that the patch writes; empty for no patch)
ESTABLISHED: dict[str, tuple[str, str, str]] = {
    "square_priorities": ("silent-broadcast", "td = target - taken", "td = target - taken.squeeze(-1)"),
    "float64_statistics": (
        "dtype-double-vs-float",
        "self.mean = torch.tensor",
        "torch.tensor(x.mean(0)).float()",
    ),
    "float_labels": ("dtype-wrong-for-op", "torch.from_numpy(y)", "torch.from_numpy(y).long()"),
    "squeezed_pool": ("squeeze-drops-batch-dimension", "torch.squeeze(h)", "torch.squeeze(h, dim=(2, 3))"),
    "column_to_bce": ("broadcast-in-loss", "criterion(model(x), y)", "criterion(model(x).squeeze(-1), y)"),
    "last_batch_of_one": ("batchnorm-small-batch", "DataLoader(", "shuffle=True, drop_last=True)"),
    "channels_last": ("conv-channel-mismatch", "torch.from_numpy(self.images[i])", "[i]).permute(2, 0, 1)"),
    "labels_in_a_float_table": (
        "dtype-wrong-for-op",
        "F.cross_entropy(what(h), target[:, 4])",
        "target[:, 4].long()",
    ),
    "tiles_in_fixed_rows": (
        "flatten-linear-mismatch",
        ".view(ROWS, -1)",
        "torch.relu(self.conv(x)).flatten(1)",
    ),
    "meta_buffer": (
        "device-mismatch",
        'register_buffer("table"',
        'register_buffer("table", torch.arange(4.0))',
    ),
}
# program: (cause, what stands on the line to fix), where no line says what is wrong of itself
WITHOUT_PATCH = {
    "left_on_meta": ("device-mismatch", "self.later = [nn.LayerNorm(6)]"),
    "norm_made_on_meta": ("device-mismatch", "self.norm("),
    "tokens_put_into_rows": ("flatten-linear-mismatch", "self.head = nn.Linear(TOKENS"),
    "second_of_a_sweep": ("flatten-linear-mismatch", "self.out = nn.Linear("),
}
MORE: dict[str, tuple[str, str, str]] = {
    "float64_rows": ("dtype-double-vs-float", "self.x = rng.normal", ".astype(np.float32)"),
    "column_in_history": ("broadcast-in-loss", "each = F.smooth_l1_loss", "smooth_l1_loss(p.squeeze(-1), y"),
    "wrong_in_channels": (
        "conv-channel-mismatch",
        "self.second = nn.Conv2d(16",
        "self.second = nn.Conv2d(8, 8, 3)",
    ),
    "meant_outer_product": ("flatten-linear-mismatch", "nn.Linear(30, 8)", "nn.Linear(36, 8)"),
}
# program: what is said to be missing
NOT_ESTABLISHED = {
    "norm_not_in_eval": "the module may only lack eval()",
    "own_shape_check": "none of the mechanisms",
    "short_last_batch": "none of the mechanisms",
}


def diagnosed(program: str, folder: Path) -> Diagnosis:
    (folder / "train.py").write_text((PROGRAMS / f"{program}.py").read_text())
    words = [sys.executable, "-m", "firstcause", "run", "-q", "-o", "run", "python", "train.py"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PATH": path}
    done = subprocess.run(
        words, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1, done.stderr
    return diagnose(RunFolder(str(folder / "run")))


def check(program: str, folder: Path, expected: tuple[str, str, str]) -> None:
    cause, text, patched = expected
    diagnosis = diagnosed(program, folder)
    assert (diagnosis.status, diagnosis.cause) == ("established", cause), diagnosis.missing
    assert diagnosis.site is not None
    assert text in diagnosis.site.text
    assert diagnosis.fix is not None
    assert patched in diagnosis.fix.diff
    confirmed = [h for h in diagnosis.hypotheses if h.status == "confirmed"]
    assert [e.kind for h in confirmed for e in h.evidence] == ["replay"]


@pytest.mark.parametrize("program", ESTABLISHED)
def test_the_cause_and_the_line_where_it_arises(program: str, tmp_path: Path) -> None:
    check(program, tmp_path, ESTABLISHED[program])


@pytest.mark.parametrize("program", WITHOUT_PATCH)
def test_the_line_without_a_patch(program: str, tmp_path: Path) -> None:
    cause, text = WITHOUT_PATCH[program]
    diagnosis = diagnosed(program, tmp_path)
    assert (diagnosis.cause, diagnosis.fix) == (cause, None)
    assert diagnosis.site is not None
    assert text in diagnosis.site.text


@pytest.mark.slow
@pytest.mark.parametrize("program", MORE)
def test_the_same_in_other_forms(program: str, tmp_path: Path) -> None:
    check(program, tmp_path, MORE[program])


@pytest.mark.slow
@pytest.mark.parametrize("program", NOT_ESTABLISHED)
def test_what_only_looks_like_it_is_not_established(program: str, tmp_path: Path) -> None:
    diagnosis = diagnosed(program, tmp_path)
    assert (diagnosis.status, diagnosis.cause) == ("not-established", None)
    assert NOT_ESTABLISHED[program] in str(diagnosis.missing)

"""Exceptions that no optimizer step is around: evaluations and tests of a model, replayed in a second run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from recording import firstcause

PROGRAMS = Path(__file__).parent / "programs" / "outside"
# program: (cause, what stands on the line to fix, what the patch writes)
ESTABLISHED = {
    "squeezed_validation": ("squeeze-drops-batch-dimension", "self.body(x).squeeze()", ".squeeze(-1)"),
    "last_validation_batch": ("squeeze-drops-batch-dimension", "keepdim=True).squeeze()", "squeeze("),
    "labels_from_one": ("target-out-of-range", "test_y = torch.randint(0, 4, (32,)) + 1", ""),
    "rows_in_double": ("dtype-double-vs-float", "self.test = torch.as_tensor", "(size=(32, 8))).float()"),
    "audit_in_double": (
        "tensor-attribute-not-a-buffer",
        "self.frequencies = torch.arange",
        "register_buffer",
    ),
    "longer_than_trained": ("embedding-index-out-of-range", "following = net(ids)[:, -1]", ""),
    "columns_cut_by_reshape": (
        "transpose-by-view",
        "users, genres = pairs[160:].reshape(2, -1)",
        "pairs[160:].transpose(0, 1)",
    ),
    "grades_as_floats": ("dtype-wrong-for-op", "return passed.float().sum(dim=1)", "passed.long().sum"),
}
# program: what is said to be missing
NOT_ESTABLISHED = {
    "no_report": "none of the mechanisms",
    "masked_spread": "none of the mechanisms",
    "caught_refusal": "none of the mechanisms",
    "larger_test_images": "took 144 in the 5 steps before",
}


def diagnosed(program: str, folder: Path, *words: str) -> dict[str, Any]:
    (folder / "train.py").write_text((PROGRAMS / f"{program}.py").read_text())
    firstcause(folder, "run", "-q", "-o", "run", sys.executable, "train.py")
    done = firstcause(folder, "diagnose", "run", "--json", "found.json", *words)
    assert "internal-error" not in done.stderr
    found: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return found


@pytest.mark.parametrize("program", ESTABLISHED)
def test_its_line_is_found(program: str, tmp_path: Path) -> None:
    cause, text, written = ESTABLISHED[program]
    found = diagnosed(program, tmp_path, "--yes")
    assert (found["status"], found["cause"]) == ("established", cause)
    assert text in (tmp_path / "train.py").read_text().splitlines()[found["site"]["line"] - 1]
    assert written in json.dumps(found["fix"])


@pytest.mark.parametrize("program", NOT_ESTABLISHED)
def test_no_cause_is_told_where_none_is_known(program: str, tmp_path: Path) -> None:
    found = diagnosed(program, tmp_path, "--yes")
    assert found["status"] == "not-established"
    assert NOT_ESTABLISHED[program] in found["missing"]


def test_the_deeper_replay_is_found_again_without_leave(tmp_path: Path) -> None:
    first = diagnosed("rows_in_double", tmp_path, "--yes")
    done = firstcause(tmp_path, "diagnose", "run", "--json", "again.json")
    assert "internal-error" not in done.stderr
    again = json.loads((tmp_path / "again.json").read_text())
    assert (again["cause"], again["site"]) == (first["cause"], first["site"])


def test_without_leave_it_says_what_would_tell(tmp_path: Path) -> None:
    found = diagnosed("squeezed_validation", tmp_path)
    assert found["status"] == "not-established"
    assert "`firstcause diagnose --yes`" in found["missing"]

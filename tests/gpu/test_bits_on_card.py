"""What a training ends with on a card is the same to the bit, recorded or not."""

from __future__ import annotations

from pathlib import Path

import pytest
from on_card import journal, plain, recorded

from firstcause.record.folder import RunFolder
from firstcause.record.journal import steps_of

KINDS = (
    "foreach",
    "fused",
    "fused_sgd",
    "never_waiting",
    "bf16",
    "scaler",
    "scaler_fused",
    "streams",
    "compiled",
    "reduced",
    "graphed",
    "graphed_forward",
)
# The optimizer's step is a part of the graph: what repeats it calls no hook.
UNSEEN = ("graphed",)


@pytest.mark.parametrize("kind", KINDS)
def test_a_recorded_training_ends_with_the_same_bits(tmp_path: Path, kind: str) -> None:
    alone, watched = plain(tmp_path, "healthy", kind), recorded(tmp_path, "healthy", kind)
    assert alone.returncode == 0, alone.stderr
    assert (watched.returncode, watched.stdout) == (0, alone.stdout), watched.stderr
    events = journal(tmp_path)
    assert "internal-error" not in events, events
    assert "failure" not in events, events


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in UNSEEN and not k.startswith("scaler")])
def test_every_step_has_its_row(tmp_path: Path, kind: str) -> None:
    recorded(tmp_path, "healthy", kind)
    rows = steps_of(RunFolder(str(tmp_path / "run")).journals().values())
    assert [r["step"] for r in rows] == list(range(24))
    assert all(r["grad_norm"] > 0 and r["loss"] > 0 for r in rows), rows

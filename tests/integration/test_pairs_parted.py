"""Inputs in another order than their targets: a real command, diagnosed by the training that keeps both together."""

from __future__ import annotations

from pathlib import Path

import pytest
from recording import record, the_run

from firstcause.diagnose import diagnose
from firstcause.lab.counterfactual import Lab


@pytest.mark.slow
def test_the_statement_that_parts_them_is_named_and_mended(tmp_path: Path) -> None:
    record(tmp_path / "work", "pairs_parted")

    diagnosis = diagnose(
        the_run(tmp_path / "work"), lambda failure: Lab(the_run(tmp_path / "work"), failure, 300)
    )

    assert (diagnosis.status, diagnosis.cause) == ("established", "label-mismatch")
    assert diagnosis.site is not None
    assert diagnosis.site.text == "x = x[order]"
    confirmed = next(h for h in diagnosis.hypotheses if h.cause == "label-mismatch")
    assert [e.kind for e in confirmed.evidence] == ["experiment"]
    assert diagnosis.fix is not None
    assert "+    kind = kind[order]" in diagnosis.fix.diff

"""Correct programs, each near to a fault that a rule knows: tensors that something else moves, steps and clippings of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.check.pipeline import check

PROGRAMS = sorted((Path(__file__).parent / "healthy").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_nothing_critical_is_found(program: Path, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(program.read_text())
    report = check([str(tmp_path)], str(tmp_path), jobs=1)
    assert [(f.slug, f.site.line, f.message) for f in report.findings if f.category == "critical"] == []

"""A run as a log that a trainer would have printed: for a reader of logs, where there is no program's output."""

from __future__ import annotations

import math
from collections.abc import Iterator

from firstcause.record.folder import RunFolder
from firstcause.record.journal import steps_of
from firstcause.schema import Symptom

# Rows before the step that failed, and at most so many in all.
_BEFORE, _MOST = 5, 40
_COLUMNS = ("loss", "grad_norm", "lr")


def told(folder: RunFolder) -> str:
    """The figures of some steps, those before a failure among them, then what failed; raises ``RecordError``."""
    run = folder.run()
    readings = [r for r in folder.journals().values() if any("loss" in row.columns for row in r.rows[:1])]
    steps = steps_of(readings)
    return "\n".join([*_rows(steps, run.symptoms), *(s.message for s in run.symptoms)]) + "\n"


def _rows(steps: list[dict[str, float]], symptoms: tuple[Symptom, ...]) -> Iterator[str]:
    failed = next((s.step for s in symptoms if s.step is not None), None)
    at = next((n for n, s in enumerate(steps) if s["step"] == failed), len(steps) - 1)
    every = max(1, len(steps) // (_MOST - _BEFORE))
    for n, step in enumerate(steps):
        if n % every == 0 or at - _BEFORE <= n <= at + 1:
            figures = {c: _figure(step[c]) for c in _COLUMNS if c in step}
            yield str({"step": int(step["step"])} | figures).replace("'nan'", "nan").replace("'inf'", "inf")


def _figure(value: float) -> float | str:
    return float(f"{value:.5g}") if math.isfinite(value) else str(value).replace("-", "")

from __future__ import annotations

import csv
import io
from pathlib import Path

from view.projects import STEPS, recorded, row

from firstcause.exchange.outgoing.csv_file import write_csv
from firstcause.record.journal import Journal


def test_every_row_of_every_process_stands_in_the_table(tmp_path: Path) -> None:
    run = recorded(tmp_path, ranks=2)
    Journal(run.file("rank-2-9.journal")).metrics(7, ("loss", "=extra"), [0.1, float("-inf")])
    out = io.StringIO()
    assert write_csv(run, out) == 2 * STEPS + 1
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert rows[1]["process"] == "rank-0-100"
    assert abs(float(rows[1]["loss"]) - row(1)[0]) < 1e-6
    assert rows[STEPS - 1]["loss"] == "nan"
    assert rows[-1] == {
        **dict.fromkeys(rows[0], ""),
        "process": "rank-2-9",
        "step": "7",
        "loss": "0.100000001",
        "'=extra": "-inf",
    }

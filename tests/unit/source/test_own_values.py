"""Functions that make rows and targets of one series, and those that only look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.source import Project
from firstcause.source.own_values import Series, series

ROWS = """\
def table(rides, rain):
    weekly = rides.unfold(0, 7, 1).mean(dim=1)
    rows, targets = [], []
    for t in range(7, len(rides)):
        recent = rides[t - 6 : t].tolist()
        rows.append(recent + [weekly[t - 7 + 1].item(), rain[t].item()])
        targets.append(rides[t].item())
    return torch.tensor(rows), torch.tensor(targets)
"""


def found(folder: Path, text: str) -> list[Series]:
    (folder / "train.py").write_text(text)
    return series(Project(str(folder), [str(folder / "train.py")]))


def test_what_is_made_of_the_series_comes_before_the_series_itself(tmp_path: Path) -> None:
    (one,) = found(tmp_path, ROWS)

    assert (one.name, one.statement.lineno, one.before) == ("rides", 2, True)
    assert [(r.statement.lineno, r.earlier) for r in one.readings] == [(6, "t - 7"), (5, "t - 6 - 1:t - 1")]


def test_a_series_that_the_function_makes_is_known_behind_its_statement(tmp_path: Path) -> None:
    text = "def table(path):\n    v = read(path)\n    m = mean(v)\n    x = m[a:b]\n    y = v[b:c]\n    return x, y\n"
    (one,) = found(tmp_path, text)

    assert (one.name, one.statement.lineno, one.before) == ("v", 2, False)
    assert [r.earlier for r in one.readings] == ["a - 1:b - 1"]


@pytest.mark.parametrize(
    "text",
    [
        ROWS.replace("targets.append(rides[t].item())", "targets.append(score(t))"),
        ROWS.replace("return torch.tensor(rows), torch.tensor(targets)", "return torch.tensor(rows)"),
        "def split(x, y, n):\n    return x[:n], y[:n]\n",
        "def item(self, i):\n    return self.x[i], self.y[i]\n",
    ],
    ids=["computed targets", "rows alone", "a split", "a pair"],
)
def test_other_functions_make_no_rows_of_a_series(tmp_path: Path, text: str) -> None:
    assert not found(tmp_path, text)

from __future__ import annotations

import pytest
from snippets import read

from firstcause.source import Project, data_origin
from firstcause.source.data import preparing_site

HEAD = "import numpy as np\nimport torch\nfrom torch.utils.data import DataLoader, Dataset, TensorDataset, random_split\n"
PREPARED = read("data.txt")


def ask(tmp_path, program, name):
    (tmp_path / "train.py").write_text(program)
    project = Project.of_script(str(tmp_path / "train.py"), str(tmp_path))
    line = next(i for i, text in enumerate(program.split("\n"), 1) if "# ASK" in text)
    return data_origin(project, "train.py", line, name)


@pytest.mark.parametrize("snippet", PREPARED, ids=str)
def test_a_batch_leads_back_to_the_expression_that_prepared_it(snippet, tmp_path):
    assert tuple(o.text for o in ask(tmp_path, snippet.program, snippet.asked)) == snippet.answers


def test_the_way_back_is_told_from_the_batch_to_the_origin(tmp_path):
    snippet = next(s for s in PREPARED if s.name == "items-of-a-class")
    (origin,) = ask(tmp_path, snippet.program, snippet.asked)
    lines = [site.line for site in origin.chain]
    assert (lines[0], lines[-1], origin.site.line) == (12, 6, 6)
    assert 10 in lines


def test_a_write_into_the_data_is_where_it_changed_last(tmp_path):
    program = (
        HEAD
        + "def load():\n    t = torch.ones(8)\n    t[3] = float('nan')\n    return t\nx = load()\nprint(x)  # ASK"
    )
    found = ask(tmp_path, program, "x")
    assert [o.text for o in found] == ["torch.ones(8)"]
    site = preparing_site(found)
    assert site is not None
    assert site.text == "t[3] = float('nan')"


def test_python_values_are_prepared_where_they_become_a_tensor(tmp_path):
    program = HEAD + "rows = [{'k': 1}]\nx = torch.tensor([r['k'] for r in rows])\nprint(x)  # ASK"
    site = preparing_site(ask(tmp_path, program, "x"))
    assert site is not None
    assert site.line == 5


def test_several_origins_are_prepared_where_they_meet(tmp_path):
    program = (
        HEAD
        + "def pick(a):\n    return a * 2 if a is not None else torch.zeros(3) + 1\nx = pick(z)\nprint(x)  # ASK"
    )
    found = ask(tmp_path, program, "x")
    assert len(found) == 2
    site = preparing_site(found)
    assert site is not None
    assert site.line == 5


def test_nothing_is_said_of_a_name_that_is_not_there(tmp_path):
    assert ask(tmp_path, "x = 1  # ASK", "y") == []
    assert preparing_site([]) is None

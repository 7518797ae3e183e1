from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from firstcause.source.notebooks import Notebook
from firstcause.source.project import Project

LINES = [
    "x = 1",
    "%matplotlib inline",
    "!pip install torch",
    "if x:",
    "    !ls",
    "    y = 2",
    "s = '''a",
    "%b'''",
    "f(",
    ")",
    "x?",
    "é = 'ü'",
    "",
]


def cell(source, kind="code"):
    return {"cell_type": kind, "metadata": {}, "outputs": [], "execution_count": None, "source": source}


def notebook(*sources):
    cells = [s if isinstance(s, dict) else cell(s) for s in sources]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def read(tmp_path, content, **dumped):
    path = tmp_path / "n.ipynb"
    path.write_text(content if isinstance(content, str) else json.dumps(content, **dumped))
    project = Project(str(tmp_path), ["n.ipynb"])
    return project, project.module("n.ipynb")


def raw_line(tmp_path, text):
    lines = (tmp_path / "n.ipynb").read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


def test_sites_are_lines_of_the_file_and_cells_count_the_code(tmp_path):
    _, module = read(
        tmp_path,
        notebook(cell(["# Title"], "markdown"), ["a = 1\n", "b = 2"], ["c = (\n", "  3)\n"]),
        indent=1,
    )
    statements = {module.segment(n): n for n in module.tree.body}
    assert module.site(statements["b = 2"]).line == raw_line(tmp_path, "b = 2")
    assert module.cell(statements["b = 2"].lineno) == (1, 2)
    assert module.site(statements["c = (\n  3)"]).line == raw_line(tmp_path, "c = (")
    assert module.cell(statements["c = (\n  3)"].lineno) == (2, 1)


def test_a_cell_of_one_text_has_all_its_lines_on_one_line_of_the_file(tmp_path):
    _, module = read(tmp_path, notebook("a = 1\nb = 2\nc = 3"))
    assert [module.site(n).line for n in module.tree.body] == [1, 1, 1]
    assert [module.cell(n.lineno) for n in module.tree.body] == [(1, 1), (1, 2), (1, 3)]


def test_magics_and_shell_lines_leave_the_code_around_them(tmp_path):
    source = "%load_ext x\nif a:\n    !pip install \\\n        torch\nfiles = !ls\nq = '''\n%kept\n'''\nprint?\ndf.head(2)?\nz = 5 \\\n  % 3\n"
    project, module = read(tmp_path, notebook(source, "%%bash\nrm -rf x\n", "%%time\ny = 1\n"))
    assert project.unreadable == {}
    names = [n.targets[0].id for n in module.tree.body if hasattr(n, "targets")]
    assert names == ["files", "q", "z", "y"]
    assert "%kept" in module.text
    assert module.text.count("\n") == source.count("\n") + 4


def test_a_cell_that_is_not_python_is_reported_and_what_it_binds_stays_known(tmp_path):
    project, module = read(
        tmp_path, notebook("a = 1", "import os\ndef f(x):\n    return float((x)}\nb = 3", "f(a)\nb"), indent=1
    )
    (broken,) = project.unreadable.values()
    assert (broken.cell, broken.cell_line) == (2, 3)
    assert broken.site.line == raw_line(tmp_path, "float((x)")
    assert broken.site.text == "return float((x)}"
    bound = [n.targets[0].id for n in module.tree.body if hasattr(n, "targets")]
    assert bound == ["a", "f", "b"]


def test_a_notebook_of_version_3(tmp_path):
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}], "nbformat": 3}
    _, module = read(tmp_path, old)
    assert len(module.tree.body) == 2


def test_a_file_that_is_no_notebook_is_reported_where_it_ends_to_be_one(tmp_path):
    for content, line, word in (
        ("[1, 2]", 1, "no list of cells"),
        ('{"cells": [\n{"cell_type": "code" "source": ""}]}', 2, "comma"),
        ("", 1, "ends"),
        ("<<<<<<< HEAD\n{}", 1, "expected a value"),
    ):
        project, module = read(tmp_path, content)
        assert module is None
        (broken,) = project.unreadable.values()
        assert (broken.site.line, word in broken.message) == (line, True), broken


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.sampled_from(LINES), max_size=6), max_size=4), st.booleans())
def test_every_line_of_every_cell_has_its_place(tmp_path_factory, cells, indented):
    sources = [[f"{line}\n" for line in lines] for lines in cells]
    raw = json.dumps(notebook(*sources), indent=1 if indented else None).encode()
    module = Notebook("n.ipynb", "n.ipynb", raw)
    text = module.text.splitlines()
    assert len(text) == sum(len(c) for c in cells)
    wanted = [(i, j) for i, lines in enumerate(cells, 1) for j in range(1, len(lines) + 1)]
    assert [module.cell(n) for n in range(1, len(text) + 1)] == wanted
    on_disk = raw.decode().splitlines()
    for number, (i, j) in enumerate(wanted, 1):
        assert json.dumps(cells[i - 1][j - 1])[1:-1] in on_disk[module.raw_line(number) - 1]

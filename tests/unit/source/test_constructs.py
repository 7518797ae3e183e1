from __future__ import annotations

import ast

import pytest
from snippets import read

from firstcause.source import Project, find_module_construction
from firstcause.source.flow import value_origins
from firstcause.source.frames import Value
from firstcause.source.values import number

HEAD = "import torch.nn as nn\nfrom collections import OrderedDict\n"
INIT = HEAD + "class Net(nn.Module):\n    def __init__(self, n=7):\n        super().__init__()\n"

BUILT = read("constructs.txt")


def project_of(tmp_path, program):
    (tmp_path / "train.py").write_text(program)
    return Project.of_script(str(tmp_path / "train.py"), str(tmp_path))


@pytest.mark.parametrize("snippet", BUILT, ids=str)
def test_the_construction_of_a_submodule_is_found_by_its_path(snippet, tmp_path):
    found = find_module_construction(project_of(tmp_path, snippet.program), "Net", snippet.asked)
    assert tuple(c.module.segment(c.call) for c in found) == snippet.answers


def test_arguments_are_known_in_the_context_of_the_model_that_is_built(tmp_path):
    program = (
        HEAD + "class Block(nn.Module):\n    def __init__(self, a, b):\n        super().__init__()\n"
        "        self.fc = nn.Linear(a, out_features=b)\n"
        "class Net(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        "        self.first = Block(3, width)\n        self.second = Block(width, 5)\nnet = Net(11)\n"
    )
    project = project_of(tmp_path, program)
    (first,) = find_module_construction(project, "Net", "first.fc")
    (second,) = find_module_construction(project, "Net", "second.fc")
    assert first.callee == "torch.nn.Linear"
    assert [
        number(project, first.argument("in_features", 0)),
        number(project, first.argument("out_features", 1)),
    ] == [3, 11]
    assert [
        number(project, second.argument("in_features", 0)),
        number(project, second.argument("out_features", 1)),
    ] == [11, 5]
    assert [o.site.line for o in value_origins(project, second.argument("in_features", 0))] == [12]
    assert first.argument("bias", 2) is None


def guards_of(tmp_path, body, path="p"):
    program = (
        INIT.replace("n=7", "a=1, b=2")
        + "".join(f"        {line}\n" for line in body.split("\n"))
        + "Net()\n"
    )
    found = find_module_construction(project_of(tmp_path, program), "Net", path)
    return {c.module.segment(c.call): [(g.text, g.branch) for g in c.guards] for c in found}


def test_the_tests_that_guard_a_construction_are_given_with_their_branch(tmp_path):
    found = guards_of(tmp_path, "if a != b:\n    self.p = nn.Linear(a, b)\nelse:\n    self.p = nn.Identity()")
    assert found == {"nn.Linear(a, b)": [("a != b", True)], "nn.Identity()": [("a != b", False)]}


def test_conditional_expressions_and_nested_tests_are_guards(tmp_path):
    found = guards_of(tmp_path, "if a:\n    self.p = nn.Linear(a, b) if a != b else nn.Identity()")
    assert found == {
        "nn.Linear(a, b)": [("a != b", True), ("a", True)],
        "nn.Identity()": [("a != b", False), ("a", True)],
    }


def test_an_early_return_guards_what_follows(tmp_path):
    program = (
        INIT + "        self.p = skip(n, n)\n"
        "def skip(a, b):\n    if a == b:\n        return nn.Identity()\n    return nn.Linear(a, b)\n"
    )
    found = find_module_construction(project_of(tmp_path, program), "Net", "p")
    assert [[(g.text, g.branch, g.site.line) for g in c.guards] for c in found] == [
        [("a == b", True, 8)],
        [("a == b", False, 8)],
    ]


def test_elif_is_a_guard_within_the_other_branch(tmp_path):
    found = guards_of(tmp_path, "if a == 1:\n    self.p = nn.ReLU()\nelif a == 2:\n    self.p = nn.Tanh()")
    assert found["nn.Tanh()"] == [("a == 2", True), ("a == 1", False)]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("8 * 7 * 7", 392),
        ("8 * side ** 2", 128),
        ("-(1 - 1e-8)", -(1 - 1e-8)),
        ("28 // 4", 7),
        ("int(7.9)", 7),
        ("1 / 0", None),
        ("x", None),
        ("2 ** 9999", None),
    ],
)
def test_numbers_are_computed_where_the_code_says_them(expression, value, tmp_path):
    project = project_of(tmp_path, f"side = 4\nimport z\nx = z.y()\nn = {expression}\n")
    node = project.modules[0].tree.body[-1]
    assert isinstance(node, ast.Assign)
    assert number(project, Value(project.modules[0], node.value)) == value

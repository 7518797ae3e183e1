from __future__ import annotations

import ast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firstcause.source import Project
from firstcause.source.module import Module

PIECES = [
    "x = 1",
    "é = 'ü'",
    "def f():",
    "    return 2",
    "# ∂",
    "s = '''a",
    "b'''",
    "",
    "if x: y = (1,",
    "  2)",
    "\x0c",
]


def files_of(folder, texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def names(project):
    return [module.name for module in project.modules]


def test_the_program_is_what_its_script_imports(tmp_path):
    files_of(
        tmp_path,
        {
            "train.py": "import torch\nimport lib.data as d\nfrom lib import model\nfrom .sibling import a",
            "lib/__init__.py": "from .heads import Head",
            "lib/data.py": "from ..lib.heads import x",
            "lib/model.py": "from .heads import Head",
            "lib/heads.py": "",
            "sibling.py": "",
            "unused.py": "",
        },
    )
    project = Project.of_script(str(tmp_path / "train.py"), str(tmp_path))
    assert sorted(names(project)) == [
        "lib/__init__.py",
        "lib/data.py",
        "lib/heads.py",
        "lib/model.py",
        "sibling.py",
        "train.py",
    ]


def test_imports_are_looked_for_beside_the_script_and_in_the_folder_it_is_run_from(tmp_path):
    files_of(tmp_path, {"jobs/train.py": "import beside\nimport above", "jobs/beside.py": "", "above.py": ""})
    project = Project.of_script(str(tmp_path / "jobs" / "train.py"), str(tmp_path))
    assert names(project) == ["jobs/train.py", "jobs/beside.py", "above.py"]


def test_a_script_outside_the_folder_is_its_own_root(tmp_path):
    files_of(tmp_path, {"jobs/train.py": "import beside", "jobs/beside.py": "", "home/x": ""})
    project = Project.of_script(str(tmp_path / "jobs" / "train.py"), str(tmp_path / "home"))
    assert names(project) == ["train.py", "beside.py"]


def test_a_file_that_does_not_parse_is_reported_at_its_place_and_the_others_go_on(tmp_path):
    files_of(
        tmp_path,
        {
            "train.py": "import broken\nimport odd\nimport binary\nimport fine",
            "broken.py": "x = 1\ndef f(:\n",
            "odd.py": b"# -*- coding: nonsense -*-\n",
            "binary.py": b"x = '\xff\xfe'\n",
            "fine.py": "",
        },
    )
    project = Project.of_script(str(tmp_path / "train.py"), str(tmp_path))
    assert names(project) == ["train.py", "fine.py"]
    reported = {unreadable.site.file: unreadable for unreadable in project.unreadable.values()}
    assert set(reported) == {"broken.py", "odd.py", "binary.py"}
    assert reported["broken.py"].site.line == 2
    assert reported["broken.py"].site.text == "def f(:"
    assert "nonsense" in reported["odd.py"].message


def test_a_missing_file_and_a_circle_of_imports_end(tmp_path):
    files_of(tmp_path, {"a.py": "import b", "b.py": "import a\nfrom b import nothing"})
    project = Project(str(tmp_path), ["a.py", "gone.py"])
    assert names(project) == ["a.py", "b.py"]
    assert project.module("gone.py") is None


def test_code_nested_too_deep_for_the_parser_is_reported(tmp_path):
    files_of(tmp_path, {"train.py": "x = " + "(" * 5000 + "1" + ")" * 5000})
    project = Project.of_script(str(tmp_path / "train.py"), str(tmp_path))
    assert names(project) == []
    assert len(project.unreadable) == 1


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.lists(st.sampled_from(PIECES), max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_a_node_is_found_again_in_the_text_whatever_its_line_ends_and_characters(pieces, end):
    text = end.join(pieces) + end
    try:
        ast.parse(text)
    except SyntaxError:
        return
    module = Module("/x/train.py", "train.py", text.encode())
    assert "".join(module.lines) == text
    for node in ast.walk(module.tree):
        if isinstance(node, ast.expr):
            start, stop = module.span(node)
            assert module.position(start) == (node.lineno, node.col_offset)
            # The parser itself sees newlines only.
            segment = module.segment(node).replace("\r\n", "\n").replace("\r", "\n")
            assert segment == ast.get_source_segment(text.replace("\r\n", "\n").replace("\r", "\n"), node)
            assert module.text[start:stop] == module.segment(node)


def test_a_site_names_function_and_line(tmp_path):
    files_of(
        tmp_path,
        {
            "train.py": "class A:\n    def f(self):\n        def g():\n            return 1\n        return g\n"
        },
    )
    module = Project(str(tmp_path), ["train.py"]).modules[0]
    node = next(n for n in ast.walk(module.tree) if isinstance(n, ast.Constant))
    site = module.site(node)
    assert (site.file, site.line, site.function, site.text) == ("train.py", 4, "A.f.g", "return 1")

from __future__ import annotations

import os

import pytest
from snippets import read

from firstcause.source import Origin, Project, origins

PROGRAMS = read("plain.txt", "calls.txt", "objects.txt")


def ask(folder: str, files: dict[str, str]) -> list[Origin]:
    """Write the files, find the one with the marked question, and follow it."""
    question = ("", 0, "")
    for name, text in files.items():
        if "«" in text:
            before, rest = text.split("«")
            inside, after = rest.split("»")
            question, text = (name, before.count("\n") + 1, inside), before + inside + after
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    project = Project.of_script(os.path.join(folder, next(iter(files))), folder)
    return origins(project, *question)


def texts(found: list[Origin]) -> list[str]:
    return sorted(o.text for o in found)


@pytest.mark.parametrize("snippet", PROGRAMS, ids=str)
def test_the_origin_is_the_expression_that_computes_the_value(snippet, tmp_path):
    """The question stands between « and » in the program."""
    assert texts(ask(str(tmp_path), {"train.py": snippet.program})) == sorted(snippet.answers)


FILES = {
    "constant-by-from-import": (
        {"train.py": "from settings import N\nprint(«N»)", "settings.py": "N = 3"},
        ["3"],
    ),
    "constant-by-module": ({"train.py": "import settings as s\nprint(«s.N»)", "settings.py": "N = 3"}, ["3"]),
    "function-in-another-file": (
        {"train.py": "from lib import f\nf(3)", "lib.py": "def f(n):\n    print(«n»)"},
        ["3"],
    ),
    "package-and-relative-import": (
        {
            "train.py": "from pkg.model import Net\nNet(4)",
            "pkg/__init__.py": "",
            "pkg/model.py": "from .parts import Part\nclass Net:\n    def __init__(self, n):\n        self.p = Part(n)",
            "pkg/parts.py": "class Part:\n    def __init__(self, k):\n        print(«k»)",
        },
        ["4"],
    ),
    "name-handed-on-by-a-package": (
        {
            "train.py": "from pkg import f\nprint(«f()»)",
            "pkg/__init__.py": "from .a import f",
            "pkg/a.py": "def f():\n    return 5",
        },
        ["5"],
    ),
    "folder-without-init": ({"train.py": "import pkg.a\nprint(«pkg.a.N»)", "pkg/a.py": "N = 8"}, ["8"]),
    "star-import": ({"train.py": "from settings import *\nprint(«N»)", "settings.py": "N = 3"}, ["3"]),
    "base-class-in-another-file": (
        {
            "train.py": "from base import B\nclass A(B):\n    def f(self):\n        print(«self.n»)\nA(2)",
            "base.py": "class B:\n    def __init__(self, n):\n        self.n = n",
        },
        ["2"],
    ),
    "config-object-of-a-module": (
        {
            "train.py": "from settings import cfg\nprint(«cfg.n»)",
            "settings.py": "class C:\n    n = 3\ncfg = C()",
        },
        ["3"],
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_values_are_followed_across_files(name, tmp_path):
    files, expected = FILES[name]
    assert texts(ask(str(tmp_path), files)) == expected


def test_an_origin_says_where_it_stands_and_how_it_was_reached(tmp_path):
    program = "def f(n):\n    print(«n»)\n\nSIZE = 7\nf(SIZE)\n"
    (origin,) = ask(str(tmp_path), {"train.py": program})
    assert (origin.site.file, origin.site.line, origin.site.text) == ("train.py", 4, "SIZE = 7")
    assert (origin.start, origin.end) == ((4, 7), (4, 8))
    assert [str(s) for s in origin.chain] == ["train.py:5", "train.py:4"]
    assert origin.kind == "literal"


def test_kinds_tell_literals_defaults_configs_and_operations_apart(tmp_path):
    program = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', default=3)\nprint(«p.parse_args().n»)"
    assert [o.kind for o in ask(str(tmp_path), {"a.py": program})] == ["config"]
    assert [o.kind for o in ask(str(tmp_path), {"b.py": "def f(n=8):\n    print(«n»)\nf()"})] == [
        "parameter-default"
    ]
    assert [o.kind for o in ask(str(tmp_path), {"c.py": "n = len('ab')\nprint(«n»)"})] == ["operation"]
    assert [o.kind for o in ask(str(tmp_path), {"d.py": "def f(n):\n    print(«n»)"})] == ["unknown"]


def test_a_method_of_an_object_remembers_that_objects_constructor(tmp_path):
    program = (
        "class V:\n    def __init__(self, n):\n        self.n = n\n    def __len__(self):\n        return self.n\n"
        "small, large = V(3), V(9)\nprint(«len(large)»)"
    )
    assert texts(ask(str(tmp_path), {"train.py": program})) == ["9"]


def test_a_chain_longer_than_the_bound_ends_as_unknown(tmp_path):
    program = "v0 = 1\n" + "".join(f"v{i} = v{i - 1}\n" for i in range(1, 60)) + "print(«v59»)"
    assert [o.kind for o in ask(str(tmp_path), {"train.py": program})] == ["unknown"]


def test_a_question_that_is_not_there_has_no_origin(tmp_path):
    (tmp_path / "train.py").write_text("n = 1\n")
    project = Project.of_script(str(tmp_path / "train.py"), str(tmp_path))
    assert origins(project, "train.py", 1, "m") == []
    assert origins(project, "missing.py", 1, "n") == []
    assert origins(project, "train.py", 1, "not python (") == []


def test_files_that_each_import_a_name_from_the_other_end(tmp_path):
    """Neither defines it, and each says that the other one does."""
    files = {
        "train.py": "from a import n\nprint(«n»)",
        "a.py": "from b import n\nfrom b import *\n",
        "b.py": "from a import n\nfrom a import *\n",
    }
    assert all(not o.exact for o in ask(str(tmp_path), files))

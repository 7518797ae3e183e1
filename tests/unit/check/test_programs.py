"""A folder of scripts is many programs, a package is one, and the answers are those of each by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.check.cache import Cache
from firstcause.check.code import Code
from firstcause.check.engine import run_programs
from firstcause.check.pipeline import check
from firstcause.check.programs import MAX_TOGETHER, groups, programs
from firstcause.check.rules import rules
from firstcause.source.project import Project

ZERO = next(r for r in rules() if r.SLUG == "missing-zero-grad")
SAMPLER = next(r for r in rules() if r.SLUG == "sampler-set-epoch-missing")


def write(folder: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(folder / n) for n in files]


@pytest.mark.parametrize(
    ("files", "number"),
    [
        ({"a.py": "import b", "b.py": "", "c.py": "import torch"}, 2),
        ({"a.py": "from lib import (\n x,\n b)", "lib/b.py": "", "c.py": ""}, 2),
        ({"p/__init__.py": "", "p/x.py": "", "p/q/__init__.py": "", "p/q/y.py": "", "s.py": "import os"}, 2),
        (
            {
                "one/train.py": "import utils",
                "one/utils.py": "",
                "two/train.py": "import utils",
                "two/utils.py": "",
            },
            2,
        ),
        ({"p/x.py": "from . import y", "p/y.py": "", "z.py": "import p.x"}, 1),
        ({"a.py": "import b", "b.py": "import a"}, 1),
        ({"a.ipynb": '{"cells": [{"source": ["import b\\n", "b.f()"]}]}', "b.py": ""}, 1),
    ],
)
def test_files_are_grouped_by_imports(files: dict[str, str], number: int, tmp_path: Path) -> None:
    paths = write(tmp_path, files)
    found = groups(str(tmp_path), paths)
    assert len(found) == number
    assert sorted(f for g in found for f in g) == sorted(paths)


def test_a_neighbour_does_not_answer_for_a_script(tmp_path: Path) -> None:
    paths = write(tmp_path, {"train.py": SAMPLER.BAD[0].source, "other.py": "sampler.set_epoch(0)\n"})
    alone = check(paths[:1], str(tmp_path)).findings
    assert "sampler-set-epoch-missing" in {f.slug for f in alone}
    assert [f for f in check([str(tmp_path)], str(tmp_path)).findings if f.site.file == "train.py"] == list(
        alone
    )


def test_processes_find_what_one_finds(tmp_path: Path) -> None:
    paths = write(tmp_path, {f"s{i}.py": r.BAD[0].source for i, r in enumerate(rules()[:30])})
    paths += write(tmp_path, {f"more/t{i}.py": "import torch\n" for i in range(60)})
    project = Project(str(tmp_path), paths)
    assert len(programs(project)) > 30
    one, two = (run_programs(Project(str(tmp_path), paths), {}, jobs=n) for n in (1, 2))
    assert one.findings == two.findings
    assert one.findings
    assert one.failed == two.failed == []


def test_the_cache_gives_the_same_and_notices_an_edit(tmp_path: Path) -> None:
    paths = write(
        tmp_path, {"code/train.py": "from net import opt\n" + ZERO.BAD[0].source, "code/net.py": "opt = 1\n"}
    )
    cache = Cache(str(tmp_path / "cache"))
    first = check(paths, str(tmp_path), cache=cache)
    entries = [p for p in (tmp_path / "cache").iterdir() if p.name != "imports.json"]
    assert len(entries) == 1
    assert check(paths, str(tmp_path), cache=cache) == first
    entries[0].write_text(entries[0].read_text().replace("missing-zero-grad", "from-the-cache"))
    assert {f.slug for f in check(paths, str(tmp_path), cache=cache).findings} == {"from-the-cache"}
    Path(paths[1]).write_text("opt = 2\n")
    assert check(paths, str(tmp_path), cache=cache) == first


def test_an_import_that_is_added_joins_two_programs_though_their_imports_are_kept(tmp_path: Path) -> None:
    paths = write(tmp_path, {"train.py": SAMPLER.BAD[0].source, "other.py": "sampler.set_epoch(0)\n"})
    cache = Cache(str(tmp_path / "cache"))
    assert "sampler-set-epoch-missing" in {f.slug for f in check(paths, str(tmp_path), cache=cache).findings}
    Path(paths[1]).write_text("import train\nsampler.set_epoch(0)\n")
    both = check(paths, str(tmp_path), cache=cache)
    assert both == check(paths, str(tmp_path))
    assert "sampler-set-epoch-missing" not in {f.slug for f in both.findings}


def test_a_file_of_a_large_package_is_read_with_what_it_uses_and_says_so(tmp_path: Path) -> None:
    number = MAX_TOGETHER * 5 // 4 + 1
    package = {f"package/m{i}.py": "import torch\n" for i in range(number)}
    package["package/loss.py"] = "from torch.nn import BCELoss\n"
    imports = "".join(f"from .m{i} import x{i}\n" for i in range(number))
    path = write(
        tmp_path, {"package/main.py": f"{imports}from .loss import BCELoss\nloss = BCELoss()\n", **package}
    )[0]
    project = Project(str(tmp_path), [path])
    project.most = MAX_TOGETHER
    assert [m.path for m in project.modules] == [path]
    assert project.cut
    assert [c.module.path for c in Code(project).calls("torch.nn.BCELoss")] == [path]
    cache = Cache(str(tmp_path / "cache"))
    for report in (check([path], str(tmp_path), cache=cache), check([path], str(tmp_path), cache=cache)):
        assert len([n for n in report.notes if f"more than {MAX_TOGETHER} files" in n]) == 1
    small = Project(str(tmp_path), [str(tmp_path / "package/loss.py")])
    assert len(small.modules) == 1
    assert not small.cut


def test_a_damaged_entry_counts_as_absent(tmp_path: Path) -> None:
    paths = write(tmp_path, {"train.py": ZERO.BAD[0].source})
    cache = Cache(str(tmp_path / "cache"))
    first = check(paths, str(tmp_path), cache=cache)
    for entry in (tmp_path / "cache").iterdir():
        for damage in ("", "{", "[]", '{"files": 1}', '{"files": {}, "findings": [{"slug": 1}]}'):
            entry.write_text(damage)
            assert check(paths, str(tmp_path), cache=cache) == first

"""What is made from the catalogue's files is made anew whenever they change."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from firstcause.catalog import index
from firstcause.catalog.compile import compiled, sources, written
from firstcause.catalog.index import KINDS, indexed
from firstcause.catalog.load import load
from firstcause.catalog.pages import pages
from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.sayings import excuses, misbeliefs, red_flags
from firstcause.catalog.toml import HERE
from firstcause.catalog.validate import checkout
from firstcause.catalog.validate_sayings import defect_faults, saying_faults
from firstcause.errors import KnowledgeError

HINT = "run `python -m firstcause.catalog.compile`"


@pytest.mark.parametrize("kind", KINDS)
def test_index_is_fresh(kind: str) -> None:
    stored = Path(HERE, f"{kind}.json").read_text(encoding="utf-8")
    assert stored == compiled(kind), HINT
    assert indexed(kind) == sources(kind)


def test_pages_are_fresh_and_no_other_page_lies_there() -> None:
    root = checkout()
    assert root is not None
    folder = Path(root, "docs", "catalogue")
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == pages(), HINT


def test_pages_hold_every_entry_and_lead_to_places_that_are_there() -> None:
    made = pages()
    anchors = {name: set(re.findall(r"^## (\S+)$", text, re.MULTILINE)) for name, text in made.items()}
    assert set().union(*anchors.values()) >= set(load()) | set(load_patterns())
    for name, text in made.items():
        for page, anchor in re.findall(r"\]\(([\w.-]*)#([\w-]+)\)", text):
            assert anchor in anchors[page or name], f"{name}: {page}#{anchor}"


def test_compiling_writes_only_what_changed(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "index.json"
    assert [written(str(path), text) for text in ("a", "a", "b")] == [True, False, True]
    assert path.read_text() == "b"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "firstcause.catalog.compile"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_folder_and_a_file_of_tables_are_both_a_kind(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "b.toml").write_text('x = """\na\n  b"""\n')
    (tmp_path / "one" / "a.toml").write_text("x = [1]\n")
    (tmp_path / "two.toml").write_text('[b]\nx = "ü"\n[a]\nx = "1"\n')
    assert compiled("one", str(tmp_path)) == '{\n"a": {"x": [1]},\n"b": {"x": "a b"}\n}\n'
    assert list(json.loads(compiled("two", str(tmp_path)))) == ["a", "b"]


def test_damaged_index_is_a_knowledge_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "causes.json").write_text("{")
    monkeypatch.setattr(index, "HERE", str(tmp_path))
    for kind in ("causes", "patterns"):
        with pytest.raises(KnowledgeError) as raised:
            index.indexed.__wrapped__(kind)
        assert raised.value.slug == "catalogue-unreadable"


def test_triage_starts_quickly() -> None:
    code = "import sys; from firstcause.catalog.patterns import load_patterns; load_patterns(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"torch", "numpy", "tomllib.x", "asyncio", "rich", "pydantic"} & set(done.stdout.split())


def test_excuses_and_red_flags_are_as_many_as_they_have_to_be() -> None:
    topics = [entry.topic for entry in excuses().values()]
    counts = {topic: topics.count(topic) for topic in dict.fromkeys(topics)}
    assert (counts["routing"], counts["debugging"], counts["pressure"], counts["memory"]) == (10, 14, 8, 6)
    flags = [entry.topic for entry in red_flags().values()]
    assert (flags.count("debugging"), flags.count("memory")) == (15, 7)
    assert len(misbeliefs()) >= 20


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("slug", "other", "slug 'other' is not the file's name 'torch-numpy-2'"),
        ("versions", "2.3 and later", "versions '2.3 and later' are no bounds"),
        ("source", "http://example.org", "source 'http://example.org' is no public https address"),
        ("patterns", ["oracle"], "unknown pattern 'oracle'"),
        ("tell", [], "tell is empty"),
        ("what", "It fails", "a sentence ends without a full stop"),
        ("library", 3, "torch-numpy-2.library"),
    ],
)
def test_faulty_defect_is_named(key: str, value: object, fault: str) -> None:
    values = {**indexed("defects")["torch-numpy-2"], key: value}
    assert any(fault in one for one in defect_faults(values, "torch-numpy-2", load_patterns()))


def test_faulty_saying_is_named() -> None:
    assert saying_faults("excuses", {"x": {"topic": "t", "says": "no end", "counter": "So."}}) == [
        "x: says is no sentence: …no end"
    ]
    assert (
        "proof" in saying_faults("misbeliefs", {"x": {"claim": "A.", "fact": "B.", "proof": "somewhere"}})[0]
    )
    assert saying_faults("red_flags", {"x": {"topic": "t"}}) != []

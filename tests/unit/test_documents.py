"""What the documents say about the code is what the code is."""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

from firstcause.specialists import CAUSES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")])
PICTURE = ROOT / "docs" / "demo.svg"
# What the demonstration shows and no run changes; tests/integration/test_demo.py sees the same at a terminal.
ON_THE_PICTURE = (
    "$ firstcause run python train.py",
    "$ firstcause diagnose last",
    "log-of-zero at train.py:11",
    "+ EPS = 1e-6",
    "$ firstcause case approve",
    "[scripted answer]",
    "$ firstcause case apply",
    "$ firstcause case verify",
    "passed: the command ran to its end",
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    # Code may read like a link: ``self.layers[-1](x)``.
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    links = re.findall(r"\]\(([^)#\s]+)", prose) + re.findall(r'src="([^"]+)"', text)
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_the_readme_names_the_causes_that_are_settled() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text[text.index("| it settles |") : text.index("On Linux, with Python")]
    assert set(re.findall(r"`([a-z0-9-]+)`", table)) == set(CAUSES)


def test_contributing_names_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {p.parent.name for p in (ROOT / "src" / "firstcause").glob("*/*.py")} | {"errors"}
    table = text[text.index("| package |") : text.index("torch is imported")]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == rooms


def test_every_make_target_that_a_document_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        match
        for document in DOCUMENTS
        for match in re.findall(r"(?:`|^)make ([a-z]+)", document.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert named
    assert named <= targets


def test_the_picture_shows_what_the_demonstration_shows() -> None:
    assert PICTURE.stat().st_size < 150_000
    texts = xml.parse(PICTURE).getroot().iter("{http://www.w3.org/2000/svg}text")
    shown = [" ".join("".join(text.itertext()).split()) for text in texts]
    at = 0
    for piece in ON_THE_PICTURE:
        found = next((n for n in range(at, len(shown)) if piece in shown[n]), None)
        assert found is not None, f"{piece!r} is not on the picture after line {at}; draw it again"
        at = found

"""The site of the documentation is built without a warning: each link and anchor leads somewhere, each page has its place."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_every_page_has_its_place(site: Path) -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    written = {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
    reached = {p for p in written if not re.match(r"(rules|decisions)/", p)}
    assert reached - set(re.findall(r"[\w/-]+\.md", nav)) == set()
    pages = {str(p.relative_to(site)) for p in site.rglob("*.html")}
    assert {re.sub(r"README\.md$", "index.md", p)[: -len("md")] + "html" for p in written} - pages == set()


def test_it_loads_nothing_from_elsewhere(site: Path) -> None:
    for page in (site / "index.html", site / "guides" / "nan.html", site / "view.html"):
        loaded = re.findall(
            r"<(?:script|link|img)[^>]*(?:src|href)=\"?(https?:[^\s\">]+)", page.read_text(encoding="utf-8")
        )
        assert loaded == [], page


def test_a_picture_of_the_readme_is_there(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    pictures = [src for src in re.findall(r"<img[^>]*src=\"([^\"]+)\"", index) if not src.startswith("data:")]
    assert "demo.svg" in pictures
    assert [src for src in pictures if not (site / src).exists()] == []

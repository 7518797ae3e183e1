"""What mkdocs asks while it builds the site: pages that lie outside of docs, and links between all of them.

A page has one source. README.md is the first page of the site, the figures of benchmarks/results are pages as they
stand, and a link leads on the site where it leads in the checkout.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
BESIDE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "LICENSE": "LICENSE.txt"}
DECISIONS = "decisions/README.md"
_LINK = re.compile(r"(\]\(|src=\")([^)#\s\"]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from beside docs, and a list of the decisions."""
    for source, target in _beside().items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    files.append(File.generated(config, DECISIONS, content=_decisions()))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead each relative link to where its target stands on the site."""
    here = page.file.src_uri
    source = next((s for s, target in _beside().items() if target == here), f"docs/{here}")

    def led(match: re.Match[str]) -> str:
        return match[1] + _target(match[2], os.path.dirname(source), os.path.dirname(here))

    return _LINK.sub(led, markdown)


def _target(link: str, of_source: str, of_page: str) -> str:
    if re.match(r"[a-z]+:", link):
        return link
    meant = os.path.normpath(os.path.join(of_source, link))
    on_site = _beside().get(meant, meant[len("docs/") :] if meant.startswith("docs/") else meant)
    if (ROOT / meant).is_dir():
        on_site = f"{on_site}/README.md"
    return os.path.relpath(on_site, of_page)


def _beside() -> dict[str, str]:
    benchmarks = [*ROOT.glob("benchmarks/*.md"), *ROOT.glob("benchmarks/results/*")]
    return BESIDE | {str(path.relative_to(ROOT)): str(path.relative_to(ROOT)) for path in benchmarks}


def _decisions() -> str:
    lines = [
        "# Decisions",
        "",
        "One page each: the context, the decision, what was rejected, what it costs.",
        "",
    ]
    for path in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        lines.append(f"- [{title}]({path.name})")
    return "\n".join(lines) + "\n"

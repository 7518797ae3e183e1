"""Writes what is made from the catalogue's TOML files: an index a kind, and the pages of the documentation.

`python -m firstcause.catalog.compile` does it; a test fails while one of them is stale.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from firstcause.catalog import words
from firstcause.catalog.index import KINDS
from firstcause.catalog.toml import HERE, read


def sources(kind: str, root: str = HERE) -> dict[str, dict[str, Any]]:
    """The entries of a kind by slug, read from its TOML files; raises ``KnowledgeError`` for a file that is no TOML.

    A kind has a folder with a file each, or one file with a table each.
    """
    folder = os.path.join(root, kind)
    if not os.path.isdir(folder):
        return read(folder + ".toml")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".toml"))
    return {name[: -len(".toml")]: read(os.path.join(folder, name)) for name in names}


def compiled(kind: str, root: str = HERE) -> str:
    """The index of a kind, as it is stored: a line for each entry."""
    entries = sources(kind, root)
    rows = (json.dumps(entries[slug], ensure_ascii=False, sort_keys=True) for slug in sorted(entries))
    return (
        "{\n"
        + ",\n".join(f'"{slug}": {row}' for slug, row in zip(sorted(entries), rows, strict=True))
        + "\n}\n"
    )


def written(path: str, text: str) -> bool:
    """Whether the file had to be written to hold this text."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return False
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return True


def main() -> int:
    """Write every index anew, and in a checkout every page; a line for each file that changed."""
    files = {os.path.join(HERE, kind + ".json"): compiled(kind) for kind in KINDS}
    files[words.INDEX] = words.compiled()
    changed = [path for path, text in files.items() if written(path, text)]
    # The pages are made from the new indexes, which are read once a process.
    from firstcause.catalog.pages import pages
    from firstcause.catalog.validate import checkout

    root = checkout()
    if root is not None:
        made = {os.path.join(root, "docs", "catalogue", name): text for name, text in pages().items()}
        changed += [path for path, text in made.items() if written(path, text)]
    sys.stdout.writelines(path + "\n" for path in changed)
    return 0


if __name__ == "__main__":
    sys.exit(main())

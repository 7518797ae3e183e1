"""Which modules of a library, and which names in them, are gone in the version that the project uses.

The tables are made from released packages by ``scripts/module_tables.py``.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from typing import Any

from firstcause.catalog.toml import HERE
from firstcause.check.versions import release

_FOLDER = os.path.join(HERE, "check", "modules")


@functools.cache
def _table(library: str) -> dict[str, Any]:
    path = os.path.join(_FOLDER, f"{library}.json")
    if not os.path.isfile(path):
        return {"versions": [], "modules": {}, "names": {}}
    with open(path, encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    return data


def last_version_with(module: str, name: str, versions: Mapping[str, str]) -> str:
    """The last version read that has a module (``name`` is empty) or a name in it; empty unless it is gone by now."""
    library = module.partition(".")[0]
    table = _table(library)
    known: list[str] = table["versions"]
    index: int | None = table["names"].get(module, {}).get(name) if name else table["modules"].get(module)
    if index is None:
        return ""
    used = versions.get(library)
    # Between two versions that were read, the older one is taken to hold.
    is_gone = used is None or release(used) >= release(known[index + 1])
    return known[index] if is_gone else ""

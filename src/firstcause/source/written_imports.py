"""The imports of files as they are written, read without parsing and kept by the content of the file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from firstcause.source.module import MAX_BYTES

# Import statements as they are written; one in a text joins two files too many, which costs nothing but time.
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*(\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#]*))",
    re.MULTILINE,
)
_NAME = re.compile(rb"[\w.]+")
# Leading dots, module, names.
Import = tuple[int, str, list[str]]


@dataclass
class WrittenImports:
    """What files import; ``path`` is the file in which that is kept between runs, none where it is empty."""

    path: str = ""
    _kept: dict[str, list[Import]] = field(default_factory=dict)
    _asked: dict[str, list[Import]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            with open(self.path, encoding="utf-8") as file:
                self._kept = dict(json.load(file))
        except (OSError, ValueError, TypeError):
            self._kept = {}

    def of(self, file: str, digest: str = "") -> list[Import]:
        """The imports of a file, whose content's hash is ``digest`` where one is kept."""
        found = self._read(digest) if digest else None
        if found is None:
            found = list(_imports(file))
        if digest:
            self._asked[digest] = found
        return found

    def _read(self, digest: str) -> list[Import] | None:
        """What is kept of a file, as it was written; nothing where the entry is damaged."""
        try:
            kept = self._kept.get(digest)
            return kept and [(int(a), str(b), [str(n) for n in names]) for a, b, names in kept]
        except (ValueError, TypeError):
            return None

    def write(self) -> None:
        """Keep what was asked for in this run; where it cannot be written nothing is kept."""
        if not self.path or self._asked.keys() <= self._kept.keys():
            return
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(f"{self.path}.{os.getpid()}", "w", encoding="utf-8") as file:
                # Ten times as fast as writing it piece by piece.
                file.write(json.dumps(self._asked))
            os.replace(f"{self.path}.{os.getpid()}", self.path)
        except OSError:
            return


def _imports(file: str) -> Iterator[Import]:
    try:
        # A pipe would be waited for, and a device never ends.
        if not os.path.isfile(file):
            return
        with open(file, "rb") as stream:
            raw = stream.read(MAX_BYTES)
    except OSError:
        return
    if file.endswith(".ipynb"):
        # The lines of a cell are strings of JSON.
        raw = raw.replace(b"\\n", b"\n").replace(b'"', b"\n")
    for dots, module, names, plain in _IMPORT.findall(raw):
        if plain:
            for part in plain.split(b","):
                name = _NAME.match(part.strip())
                if name:
                    yield 0, name[0].decode("utf-8", "replace"), []
        else:
            imported = [n.decode("utf-8", "replace") for n in _NAME.findall(names)]
            yield len(dots), module.decode("utf-8", "replace"), [n for n in imported if n != "as"]

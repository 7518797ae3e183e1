"""Recall on faults that are put into real programs: one edit at a time, checked before and after.

    python benchmarks/check_faults.py FOLDER… [--each 3] [--seed 0] [--out FILE.md] [--pairs FOLDER]

Each folder is a project. For each kind of `injected.py`, `--each` places in different files are drawn; a fault counts as
found where the check of the changed file reports one of the kind's rules that the unchanged file does not have. ``--pairs``
keeps each file before and after, for ``check_peers.py``.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from injected import KINDS, Edit, Kind, Source

from firstcause.check.pipeline import check

# Programs that train or evaluate, of a length that one reads.
LARGEST = 1200
_TRAINS = re.compile(r"\.backward\(|Trainer\(|DataLoader\(|no_grad\(")


@dataclass(frozen=True)
class Tried:
    kind: Kind
    path: str
    line: int
    found: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--each", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", default=":", help="which kinds, as a slice such as 0:20")
    parser.add_argument("--out")
    parser.add_argument("--pairs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        tried = list(tries(args.folders, args.each, args.seed, args.kinds, place, args.pairs))
    text = table(tried)
    if args.out:
        Path(args.out).write_text(text, encoding="utf-8")
    print(text)


def sources(folders: list[str], place: str) -> Iterator[tuple[str, Source]]:
    for folder in folders:
        root = os.path.join(place, os.path.basename(folder.rstrip("/")))
        shutil.copytree(folder, root)
        for path in sorted(Path(root).rglob("*.py")):
            text = path.read_text(encoding="utf-8", errors="replace")
            if _TRAINS.search(text) and text.count("\n") < LARGEST and _is_python(text):
                yield root, Source(str(path), text)


def _is_python(text: str) -> bool:
    try:
        compile(text, "", "exec", ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError):
        return False
    return True


def tries(
    folders: list[str], each: int, seed: int, kinds: str, place: str, pairs: str | None = None
) -> Iterator[Tried]:
    """The same places in the same order for the same folders and seed."""
    known = list(sources(folders, place))
    first, _, last = kinds.partition(":")
    for number, kind in list(enumerate(KINDS))[int(first or 0) : int(last or len(KINDS))]:
        chance = random.Random(f"{seed} {kind.name}")
        drawn = 0
        for root, source in chance.sample(known, len(known)):
            edits = list(kind.places(source)) if drawn < each else []
            if edits:
                drawn += 1
                edit = chance.choice(edits)
                if pairs:
                    write_pair(Path(pairs) / f"{number:02d}-{drawn}", kind, source, edit)
                one = tried(kind, root, source, edit, place)
                print(one.found, kind.name, f"{one.path}:{one.line}", sep="\t", file=sys.stderr, flush=True)
                yield one


def write_pair(folder: Path, kind: Kind, source: Source, edit: Edit) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "before.py").write_text(source.text, encoding="utf-8")
    (folder / "after.py").write_text(source.applied(edit), encoding="utf-8")
    (folder / "fault.json").write_text(
        json.dumps({"kind": kind.name, "line": edit.line, "slugs": kind.slugs})
    )


def tried(kind: Kind, root: str, source: Source, edit: Edit, place: str) -> Tried:
    changed = source.applied(edit)
    ast.parse(changed)
    Path(source.path).write_text(changed, encoding="utf-8")
    try:
        after = found(source.path, root)
    finally:
        Path(source.path).write_text(source.text, encoding="utf-8")
    before = found(source.path, root) if _is_hit(kind, after) else []
    new = {slug: after.count(slug) for slug in after if after.count(slug) > before.count(slug)}
    return Tried(kind, os.path.relpath(source.path, place), edit.line, _is_hit(kind, list(new)))


def _is_hit(kind: Kind, slugs: list[str]) -> bool:
    return any(slug.startswith(wanted) for slug in slugs for wanted in kind.slugs)


def found(path: str, root: str) -> list[str]:
    return [f.slug for f in check([path], root, jobs=1).findings]


def table(tried: list[Tried]) -> str:
    """A row a kind, then every fault that was missed."""
    hits = sum(t.found for t in tried)
    kinds = list(dict.fromkeys(t.kind.name for t in tried))
    lines = [
        f"{len(tried)} faults of {len(kinds)} kinds, {hits} found: {hits / max(len(tried), 1):.0%}",
        "",
        "| fault | put in | found |",
        "| --- | --- | --- |",
    ]
    for name in kinds:
        of_kind = [t for t in tried if t.kind.name == name]
        lines.append(f"| {name} | {len(of_kind)} | {sum(t.found for t in of_kind)} |")
    lines += ["", "| missed | where |", "| --- | --- |"]
    lines += [f"| {t.kind.name} | {t.path}:{t.line} |" for t in tried if not t.found]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

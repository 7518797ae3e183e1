"""Every slug that is raised has an entry in docs/errors.md, under whose fault it is, and the reverse."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from firstcause import errors

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "firstcause"
PAGE = ROOT / "docs" / "errors.md"
KINDS = {
    name: kind.kind
    for name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, errors.FirstcauseError)
}
# What raises an error for its caller, and with which kind.
RAISES = {**KINDS, "refuse": "seal"}
# It hands its own argument on; its callers are looked at instead.
PASSES_ON = "sandbox/refusal.py"


def raised() -> Iterator[tuple[str, str, str]]:
    """The slug, the kind and the place of every error that the code makes."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name not in RAISES or str(path).endswith(PASSES_ON):
                continue
            slug = node.args[0] if node.args else None
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            assert isinstance(slug, ast.Constant), f"{place}: the slug is no literal, so that nobody finds it"
            yield slug.value, RAISES[name], place


def entries() -> list[tuple[str, str, str]]:
    """The slug, the group and the text of every entry of the page."""
    group, found = "", []
    for part in re.split(r"^(?=##)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE):
        title, _, text = part.partition("\n")
        if title.startswith("### "):
            found.append((title[4:], group, text.strip()))
        elif title.startswith("## "):
            group = title[3:].lower()
    return found


def test_every_slug_has_an_entry_under_its_kind() -> None:
    written = {slug: group for slug, group, _ in entries()}
    missing = [f"{slug} ({place})" for slug, _, place in raised() if slug not in written]
    assert missing == []
    misplaced = [f"{slug}: {kind} at {place}" for slug, kind, place in raised() if written[slug] != kind]
    assert misplaced == []


def test_every_entry_has_a_slug_that_is_raised() -> None:
    used = {slug for slug, _, _ in raised()}
    assert [slug for slug, _, _ in entries() if slug not in used] == []


def test_entries_are_short_sorted_and_once() -> None:
    written = entries()
    assert written == sorted(written, key=lambda entry: (_order(entry[1]), entry[0]))
    assert len({slug for slug, _, _ in written}) == len(written)
    for slug, _, text in written:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", slug), slug
        assert text.endswith("."), slug
        assert 20 < len(text) < 400, slug


def _order(group: str) -> int:
    return ["input", "record", "gate", "knowledge", "seal"].index(group)

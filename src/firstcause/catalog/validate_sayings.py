"""Checks defects, excuses, red flags and misbeliefs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from firstcause.catalog.defects import RANGE, Defect
from firstcause.catalog.sayings import Excuse, Misbelief, RedFlag
from firstcause.schema import from_plain

_URL = re.compile(r"https://[\w.-]+\.[a-z]{2,}/\S+")
_TEST = re.compile(r"tests/[\w/]+\.py")
_SENTENCES: dict[str, type[Excuse | RedFlag | Misbelief]] = {
    "excuses": Excuse,
    "red_flags": RedFlag,
    "misbeliefs": Misbelief,
}


def defect_faults(values: Mapping[str, Any], name: str, patterns: Collection[str]) -> list[str]:
    """What is wrong with the defect file ``name`` (without .toml), one line each."""
    try:
        defect = from_plain(Defect, dict(values), name)
    except ValueError as error:
        return [str(error)]
    return [*_defect(defect, name, patterns)]


def _defect(defect: Defect, name: str, patterns: Collection[str]) -> Iterator[str]:
    if defect.slug != name:
        yield f"slug {defect.slug!r} is not the file's name {name!r}"
    if (
        defect.versions
        and ",".join("".join(bound) for bound in RANGE.findall(defect.versions)) != defect.versions
    ):
        yield f"versions {defect.versions!r} are no bounds with commas between"
    if not _URL.fullmatch(defect.source):
        yield f"source {defect.source!r} is no public https address"
    yield from (f"unknown pattern {slug!r}" for slug in defect.patterns if slug not in patterns)
    if not defect.tell:
        yield "tell is empty"
    for text in (defect.what, *defect.tell, defect.remedy):
        if not text.endswith("."):
            yield f"a sentence ends without a full stop: …{text[-30:]}"


def saying_faults(kind: str, entries: Mapping[str, Any]) -> list[str]:
    """What is wrong with the entries of excuses, red_flags or misbeliefs, one line each."""
    return [fault for slug, values in entries.items() for fault in _saying(_SENTENCES[kind], slug, values)]


def _saying(kind: type[Excuse | RedFlag | Misbelief], slug: str, values: Any) -> Iterator[str]:
    try:
        entry = from_plain(kind, values, slug)
    except ValueError as error:
        yield str(error)
        return
    for key, text in vars(entry).items():
        if key not in ("topic", "proof") and not text.endswith((".", "?")):
            yield f"{slug}: {key} is no sentence: …{text[-30:]}"
    if isinstance(entry, Misbelief) and not (_URL.fullmatch(entry.proof) or _TEST.fullmatch(entry.proof)):
        yield f"{slug}: proof {entry.proof!r} is neither a public https address nor a test of this project"

"""Which arguments a library's call takes, and which names a library exports, in the version that the project uses.

The tables are made from released packages by ``scripts/argument_tables.py``; between two versions that were read the
older one is taken to hold.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from firstcause.catalog.toml import HERE
from firstcause.check.versions import release

_FOLDER = os.path.join(HERE, "check", "arguments")
Standing = Literal["taken", "removed", "unknown", "new", "open"]
# Where the class of a call is filed: a class that hands its keywords on to another, and the libraries that bases are in.
HANDED_ON = {
    ("vllm", "LLM"): "EngineArgs",
    ("sglang", "Engine"): "ServerArgs",
    ("sglang", "Runtime"): "ServerArgs",
}
BASES = dict.fromkeys(("trl", "transformers", "sentence_transformers"), ("transformers", "TrainingArguments"))
# Names of these endings are found by a library's own fallback when they are imported, though nothing lists them:
# transformers 5 gives the one tokenizer or processor class under its old names.
FALLBACKS = {"transformers": ("Tokenizer", "TokenizerFast", "ImageProcessor", "ImageProcessorFast")}
# Bases that bring no arguments of their own.
FIELDLESS = ("Mixin", "msgspec.Struct", "ABC", "object", "=True", "=False")


@dataclass(frozen=True)
class Table:
    """What was read of a library: for each call and export the first and last index into ``versions``."""

    versions: tuple[str, ...]
    calls: Mapping[str, Mapping[str, tuple[int, int]]]
    exports: Mapping[str, tuple[int, int]]


@functools.cache
def table(library: str) -> Table | None:
    """A library's table; None where none was made."""
    path = os.path.join(_FOLDER, f"{library}.json")
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    return Table(tuple(data["versions"]), data["calls"], data["exports"])


def index(found: Table, version: str | None) -> int:
    """The newest version read that is not newer than the one in use; the newest of all where none is known."""
    if version is None:
        return len(found.versions) - 1
    older = [i for i, v in enumerate(found.versions) if release(v) <= release(version)]
    return older[-1] if older else 0


def argument_standing(library: str, call: str, argument: str, versions: Mapping[str, str]) -> Standing:
    """Whether a call takes an argument: ``open`` where the call takes any, or where nothing is known of it."""
    found = table(library)
    if found is not None and call not in found.calls:
        # What takes any keyword and hands it on, without arguments of its own.
        call = HANDED_ON.get((library, call), call)
    if found is None or call not in found.calls:
        return "open"
    now = index(found, _used(library, versions))
    standing = _standing(found.calls[call], argument, now)
    if standing == "taken":
        return standing
    if "**" in found.calls[call] and found.calls[call]["**"][1] >= now:
        other = HANDED_ON.get((library, call))
        return argument_standing(library, other, argument, versions) if other else "open"
    foreign = [a for a in found.calls[call] if _is_foreign(a) and found.calls[call][a][1] >= now]
    if foreign and library in BASES:
        base = argument_standing(*BASES[library], argument, versions)
        return standing if base == "unknown" else base
    return "open" if foreign else standing


def _used(library: str, versions: Mapping[str, str]) -> str | None:
    """The version in use; packages are required by names with dashes."""
    return versions.get(library) or versions.get(library.replace("_", "-"))


def _is_foreign(argument: str) -> bool:
    """A base that stands in another package and has fields; mixins and the roots of class kinds have none."""
    bases = argument.strip("<>").split(",")
    return argument.startswith("<") and not all(b.strip().endswith(FIELDLESS) for b in bases)


def export_standing(library: str, name: str, versions: Mapping[str, str]) -> Standing:
    """Whether a library exports a name; ``removed`` only where an older version that was read has it."""
    found = table(library)
    if found is None or name.endswith(FALLBACKS.get(library, "\0")):
        return "open"
    return _standing(found.exports, name, index(found, _used(library, versions)))


def last_with(library: str, call: str, argument: str) -> str:
    """The library and its newest version read in which the call takes the argument; empty where none does.

    The library is another one where the argument comes from a base class there.
    """
    for where, name in (
        (library, call),
        BASES.get(library, (library, call)),
        (library, HANDED_ON.get((library, call), call)),
    ):
        found = table(where)
        span = found.calls.get(name, {}).get(argument) if found is not None else None
        # What the newest one has, it has since a later version than the one in use.
        if found is not None and span is not None and span[1] < len(found.versions) - 1:
            return f"{where} {found.versions[span[1]]}"
    return ""


def _standing(known: Mapping[str, tuple[int, int]], name: str, now: int) -> Standing:
    span = known.get(name)
    if span is None:
        return "unknown"
    if span[0] <= now <= span[1]:
        return "taken"
    return "removed" if span[1] < now else "new"


def near(library: str, call: str, argument: str) -> str:
    """The argument of a call that is written most like another; empty where none is near."""
    found = table(library)
    call = HANDED_ON.get((library, call), call)
    known = (
        [a for a, span in found.calls.get(call, {}).items() if span[1] == len(found.versions) - 1]
        if found
        else []
    )
    return next(iter(difflib.get_close_matches(argument, known, 1, 0.75)), "")

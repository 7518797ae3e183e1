"""Checks the catalogue's files; `python -m firstcause.catalog.validate` prints one line for each fault."""

from __future__ import annotations

import dataclasses
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from firstcause.catalog.advice import wrong_advice
from firstcause.catalog.load import CAUSES, read
from firstcause.catalog.specialists import SPECIALISTS
from firstcause.catalog.toml import HERE
from firstcause.catalog.validate_patterns import pattern_faults
from firstcause.catalog.validate_sayings import defect_faults, saying_faults
from firstcause.errors import KnowledgeError
from firstcause.schema import Cause

KEYS = tuple(f.name for f in dataclasses.fields(Cause))
OPTIONAL = ("explained_by", "said", "category")
LISTS = ("symptoms", "confirms", "refutes", "decoys", "explained_by", "said")
NAMES = ("slug", "title", "specialist", "proof", *OPTIONAL)
CATEGORIES = ("code", "design", "environment")
_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_URL = re.compile(r"https://[\w.-]+\.[a-z]{2,}/\S+")


def faults(values: Mapping[str, Any], name: str, root: str | None = None) -> list[str]:
    """What is wrong with the values of the cause file ``name`` (without .toml), one line each.

    ``root`` is the checkout in which a test named as proof must exist; None skips that check.
    """
    return [*_key_faults(values), *_value_faults(values), *_meaning_faults(values, name, root)]


def _key_faults(values: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"unknown key {key!r}" for key in values if key not in KEYS)
    yield from (f"missing key {key!r}" for key in KEYS if key not in values and key not in OPTIONAL)


def _value_faults(values: Mapping[str, Any]) -> Iterator[str]:
    for key in KEYS:
        if key not in values:
            continue
        value = values[key]
        if key not in LISTS:
            yield from _text_faults(key, value)
        elif not isinstance(value, list):
            yield f"{key} is not a list"
        elif not value:
            yield f"{key} is an empty list"
        else:
            for i, entry in enumerate(value):
                yield from _text_faults(f"{key}[{i}]", entry)
            if len({str(entry) for entry in value}) < len(value):
                yield f"{key} says the same twice"


def _text_faults(key: str, value: Any) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{key} is not a text"
    elif not value.strip():
        yield f"{key} is empty"
    elif key.partition("[")[0] not in NAMES and not value.endswith("."):
        yield f"{key} ends without a full stop: …{value[-30:]}"
    elif key == "title" and value.endswith("."):
        yield "title ends with a full stop"


def _meaning_faults(values: Mapping[str, Any], name: str, root: str | None) -> Iterator[str]:
    slug, specialist, proof, fix = (values.get(key) for key in ("slug", "specialist", "proof", "fix"))
    if isinstance(slug, str) and slug != name:
        yield f"slug {slug!r} is not the file's name {name!r}"
    if isinstance(slug, str) and not _SLUG.fullmatch(slug):
        yield f"slug {slug!r} is not kebab-case"
    if isinstance(specialist, str) and specialist not in SPECIALISTS:
        yield f"unknown specialist {specialist!r}"
    if values.get("category", "code") not in CATEGORIES:
        yield f"category {values['category']!r} is none of {', '.join(CATEGORIES)}"
    if isinstance(proof, str) and not _URL.fullmatch(proof):
        yield from _test_faults(proof, root)
    if isinstance(fix, str):
        yield from (f"fix gives advice known to be wrong: {why}" for why in wrong_advice(fix))


def _test_faults(proof: str, root: str | None) -> Iterator[str]:
    path = proof.partition("::")[0]
    if not path.startswith("tests/") or ".." in path.split("/"):
        yield f"proof {proof!r} is neither a public https address nor a test of this project"
    elif root is not None and not os.path.isfile(os.path.join(root, path)):
        yield f"proof {path!r} does not exist"


def checkout() -> str | None:
    """The folder of the checkout that this package runs from, or None for an installed one."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(CAUSES[: -len("/causes")])))
    marks = os.path.isfile(os.path.join(root, "pyproject.toml")), os.path.isdir(os.path.join(root, "tests"))
    return root if all(marks) else None


def validate(folder: str = CAUSES, root: str | None = None) -> list[str]:
    """Every fault of every cause file in ``folder``, each as "file: what is wrong"."""
    return [*_each(folder, lambda values, name: faults(values, name, root))]


def _each(folder: str, check: Callable[[Mapping[str, Any], str], list[str]]) -> Iterator[str]:
    for entry in sorted(os.listdir(folder)):
        if not entry.endswith(".toml"):
            continue
        try:
            values = read(os.path.join(folder, entry))
        except KnowledgeError as error:
            yield f"{entry}: {error.message}"
            continue
        yield from (f"{entry}: {fault}" for fault in check(values, entry[: -len(".toml")]))


def validate_all(root: str | None = None) -> list[str]:
    """Every fault of the catalogue's own files, causes, patterns, defects and sayings."""
    causes = {name[: -len(".toml")] for name in os.listdir(CAUSES)}
    patterns = {name[: -len(".toml")] for name in os.listdir(os.path.join(HERE, "patterns"))}
    found = validate(root=root)
    found += _each(os.path.join(HERE, "patterns"), lambda v, name: pattern_faults(v, name, causes, patterns))
    found += _each(os.path.join(HERE, "defects"), lambda v, name: defect_faults(v, name, patterns))
    for kind in ("excuses", "red_flags", "misbeliefs"):
        entries = read(os.path.join(HERE, kind + ".toml"))
        found += [f"{kind}.toml: {fault}" for fault in saying_faults(kind, entries)]
    return found


def main(folder: str | None = None) -> int:
    """Print the faults of the whole catalogue, or of the causes in a folder; 0 for none, 1 otherwise."""
    found = validate_all(checkout()) if folder is None else validate(folder, checkout())
    sys.stdout.writelines(line + "\n" for line in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))

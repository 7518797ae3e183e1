"""The published rules of Agent Skills (agentskills.io), for one folder of a skill."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import yaml

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# The name, the description and the compatibility in characters; the body in lines, and in characters for 5000 tokens.
LONGEST_NAME, LONGEST_DESCRIPTION, LONGEST_COMPATIBILITY = 64, 1024, 500
LINES, CHARACTERS = 500, 20_000
_LINKS = re.compile(r"\]\(([^)#\s:]+)\)")


def skill_faults(folder: str) -> list[str]:
    """What is wrong with the skill in a folder, one line each; empty for a skill that may be published."""
    path = os.path.join(folder, "SKILL.md")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        return [f"SKILL.md cannot be read: {error}"]
    return [*_faults(text, os.path.basename(os.path.abspath(folder)), folder)]


def _faults(text: str, folder_name: str, folder: str) -> Iterator[str]:
    if not text.startswith("---\n") or "\n---\n" not in text[4:]:
        yield "there is no front matter between two lines of ---"
        return
    front, _, body = text[4:].partition("\n---\n")
    try:
        fields = yaml.safe_load(front)
    except yaml.YAMLError as error:
        yield f"the front matter is no YAML: {' '.join(str(error).split())}"
        return
    if not isinstance(fields, dict):
        yield "the front matter holds no fields"
        return
    yield from (f"unknown field {key!r}" for key in fields if key not in FIELDS)
    yield from _name(fields.get("name"), folder_name)
    yield from _length("description", fields.get("description"), LONGEST_DESCRIPTION)
    if "compatibility" in fields:
        yield from _length("compatibility", fields["compatibility"], LONGEST_COMPATIBILITY)
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        yield "metadata is no table of texts"
    yield from _body(body, folder)


def _name(name: Any, folder_name: str) -> Iterator[str]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"name {name!r} is not of small letters, digits and single hyphens"
    elif len(name) > LONGEST_NAME:
        yield f"name has {len(name)} characters, and {LONGEST_NAME} are allowed"
    elif name != folder_name:
        yield f"name {name!r} is not the folder's name {folder_name!r}"


def _length(field: str, value: Any, longest: int) -> Iterator[str]:
    if not isinstance(value, str) or not value.strip():
        yield f"{field} is missing"
    elif len(value) > longest:
        yield f"{field} has {len(value)} characters, and {longest} are allowed"


def _body(body: str, folder: str) -> Iterator[str]:
    lines = body.count("\n")
    if lines >= LINES:
        yield f"the body has {lines} lines; fewer than {LINES} are asked for"
    if len(body) > CHARACTERS:
        yield f"the body has {len(body)} characters, and {CHARACTERS} are about 5000 tokens"
    for target in _LINKS.findall(body):
        if target.count("/") > 1:
            yield f"{target} lies deeper than one level"
        elif not os.path.isfile(os.path.join(folder, target)):
            yield f"{target} does not exist"

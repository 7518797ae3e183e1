"""All files of an export, and how they are written: the skills alone, or a plugin with the hook and the tools."""

from __future__ import annotations

import json
import os
from typing import Any

from firstcause import __version__
from firstcause.errors import InputError
from firstcause.hook.settings import SETTINGS
from firstcause.skills.knowledge import ROUTER, load_skills
from firstcause.skills.page import page
from firstcause.skills.references import references

# What starts the server of tools, as clients read it from .mcp.json.
SERVERS = {"mcpServers": {ROUTER: {"command": "firstcause", "args": ["mcp"]}}}
SAID = "First cause before any fix: skills, tools and a hook for PyTorch debugging."


def skill_files() -> dict[str, str]:
    """Every file of the skills by its path: a folder each, as agents look for them."""
    made: dict[str, str] = {}
    for skill in load_skills().values():
        made[f"{skill.name}/SKILL.md"] = page(skill)
        made |= {f"{skill.name}/{path}": text for path, text in references(skill).items()}
    return made


def plugin_files() -> dict[str, str]:
    """Every file of the plugin by its path: the skills, the hook and the server of tools."""
    manifest = {
        "name": ROUTER,
        "version": __version__,
        "description": SAID,
        "license": "Apache-2.0",
        "keywords": ["pytorch", "debugging", "root-cause"],
    }
    hooks = {"description": "Denies changes while a case has no approved fix.", **SETTINGS["claude"][1]}
    made = {
        ".claude-plugin/plugin.json": _json(manifest),
        "hooks/hooks.json": _json(hooks),
        ".mcp.json": _json(SERVERS),
    }
    return {**made, **{f"skills/{path}": text for path, text in skill_files().items()}}


def write(files: dict[str, str], folder: str, replace: bool) -> list[str]:
    """Write files below a folder, and return the paths that changed.

    Raises ``InputError`` before anything is written where another text stands at one of the paths and ``replace`` is
    off, and where the folder cannot be written.
    """
    old = {path: _text(os.path.join(folder, path)) for path in files}
    other = [path for path, text in old.items() if text is not None and text != files[path]]
    if other and not replace:
        message = f"{folder} holds {len(other)} of these files with another text, such as {other[0]}"
        raise InputError("skills-occupied", message, "give --replace to write them anew, or another folder")
    changed = [path for path in files if old[path] != files[path]]
    try:
        for path in changed:
            full = os.path.join(folder, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "w", encoding="utf-8") as file:
                file.write(files[path])
    except OSError as error:
        message = f"{folder} cannot be written: {error.strerror}"
        raise InputError("skills-unwritable", message, "give a folder that can be written") from error
    return changed


def _text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}"
        raise InputError("skills-unwritable", message, "give a folder that can be written") from error


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"

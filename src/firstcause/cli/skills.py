"""Write the skills for coding agents, made from the catalogue; count them; check skills against the published rules.

export writes a plugin (skills, hook and tools) into DIR, or with --only-skills the folders of skills alone, as they
belong into .claude/skills or .agents/skills. check takes any folder of skills. Exit code 1: something is missing or wrong.
"""

from __future__ import annotations

import argparse
import os

from firstcause.errors import InputError
from firstcause.skills.counted import counted
from firstcause.skills.pack import plugin_files, skill_files, write
from firstcause.skills.rules import skill_faults


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    export = verbs.add_parser("export", help="write the skills into a folder", allow_abbrev=False)
    export.add_argument("folder", metavar="DIR")
    export.add_argument("--only-skills", action="store_true", help="without the plugin's hook and tools")
    export.add_argument("--replace", action="store_true", help="write over files that have another text")
    verbs.add_parser("count", help="say how much they hold, against the least")
    check = verbs.add_parser("check", help="check a folder of skills against the published rules")
    check.add_argument("folder", metavar="DIR")


def main(args: argparse.Namespace) -> int:
    if args.verb == "export":
        return _export(args.folder, args.only_skills, args.replace)
    return _count() if args.verb == "count" else _check(args.folder)


def _export(folder: str, only_skills: bool, replace: bool) -> int:
    files = skill_files() if only_skills else plugin_files()
    changed = write(files, folder, replace)
    skills = sum(path.endswith("SKILL.md") for path in files)
    print(
        f"{skills} skills in {folder}: {len(changed)} of {len(files)} files written, the others were the same"
    )
    if not only_skills:
        print(f"next: claude --plugin-dir {folder}, or link its skills into .agents/skills")
    return 0


def _count() -> int:
    rows = counted()
    for row in rows:
        print(
            f"{row.found:>4} of at least {row.least:>3}  {row.kind}{'' if row.found >= row.least else '  MISSING'}"
        )
    return 0 if all(row.found >= row.least for row in rows) else 1


def _check(folder: str) -> int:
    if not os.path.isdir(folder):
        raise InputError(
            "folder-missing", f"{folder!r} is no folder", "give the folder that holds the skills"
        )
    found = sorted(here for here, _, names in os.walk(folder) if "SKILL.md" in names)
    faults = {here: skill_faults(here) for here in found}
    for here, wrong in faults.items():
        for fault in wrong:
            print(f"{here}: {fault}")
    print(f"{len(found)} skills, {sum(map(bool, faults.values()))} of them with faults")
    return 1 if not found or any(faults.values()) else 0

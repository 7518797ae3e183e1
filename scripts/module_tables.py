"""Make the table of modules and names that libraries no longer have, from released packages.

    python scripts/module_tables.py [LIBRARY …] [--wheels FOLDER]

Wheels are downloaded by pip into FOLDER, or taken from there, and read by ``ast``; nothing of them is imported. The table
goes to ``src/firstcause/catalog/check/modules/LIBRARY.json``: each module, and each name bound at the top of a module,
that a later version of those read does not have, with the last version that has it. Only classes, functions and what a
module hands on from its own library count; modules deeper than ``DEPTH``, and those whose names cannot be told from
their text (star imports, ``__getattr__``), are left out.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from argument_tables import LIBRARIES

TABLES = Path(__file__).parent.parent / "src/firstcause/catalog/check/modules"
# Modules by the thousand, each with its own classes: their names are exported at the top.
LEFT_OUT = ("transformers.models.", "transformers.utils.dummy_")
# Further in, a library's modules are its own affair.
DEPTH = 3
PLATFORMS = (
    "any",
    "manylinux1_x86_64",
    "manylinux2014_x86_64",
    "manylinux_2_28_x86_64",
    "manylinux_2_31_x86_64",
)
# By module: what it offers, and all that it may bind.
Names = dict[str, tuple[set[str] | None, set[str] | None]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="*", default=[x for x in LIBRARIES if x != "sglang"])
    parser.add_argument("--wheels", default="wheels")
    args = parser.parse_args()
    TABLES.mkdir(parents=True, exist_ok=True)
    for library in args.libraries:
        found = table(library, Path(args.wheels))
        text = json.dumps(found, separators=(",", ":"), sort_keys=True)
        (TABLES / f"{library}.json").write_text(text + "\n", encoding="utf-8")
        print(library, len(found["modules"]), "modules,", sum(map(len, found["names"].values())), "names")
    return 0


def table(library: str, wheels: Path) -> dict[str, dict[str, dict[str, int]]]:
    """What is gone in the newest version, by the index of the last version that has it."""
    read = [names_of(library, version, wheels) for version in LIBRARIES[library]]
    newest = read[-1]
    # A module that the package's own code puts in place under its old name is not gone.
    spoken = newest.pop("", (None, None))[1] or set()
    modules: dict[str, int] = {}
    names: dict[str, dict[str, int]] = {}
    for number, known in enumerate(read[:-1]):
        for module, (offered, _) in known.items():
            if module not in newest:
                if module and module.rpartition(".")[2] not in spoken:
                    modules[module] = number
                continue
            now = newest[module][1]
            for name in (offered or set()) - now if now is not None else ():
                names.setdefault(module, {})[name] = number
    return {"versions": list(LIBRARIES[library]), "modules": modules, "names": names}  # type: ignore[dict-item]


def names_of(library: str, version: str, wheels: Path) -> Names:
    """The names bound at the top of each module; None where the text does not tell. Under "" the texts of the top."""
    found: Names = {}
    with zipfile.ZipFile(wheel(library, version, wheels)) as archive:
        members = [n for n in archive.namelist() if n.startswith(f"{library}/") and n.endswith(".py")]
        for member in members:
            dotted = member[: -len(".py")].replace("/", ".").removesuffix(".__init__")
            if dotted.startswith(LEFT_OUT) or "._" in dotted or dotted.count(".") >= DEPTH:
                continue
            try:
                tree = ast.parse(archive.read(member))
            except (SyntaxError, ValueError):
                found[dotted] = (None, None)
                continue
            inside = {
                n[len(member) - len("__init__.py") :].split("/")[0].removesuffix(".py")
                for n in members
                if member.endswith("/__init__.py") and n.startswith(member[: -len("__init__.py")])
            }
            found[dotted] = (offered(library, tree), bound(tree, inside))
            if dotted == library:
                found[""] = (None, texts(tree))
    return found


def wheel(library: str, version: str, wheels: Path) -> Path:
    known = sorted(wheels.glob(f"{library}-{version}-*.whl"))
    if not known:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
        command += [f"--platform={p}" for p in PLATFORMS]
        command += ["--python-version", "3.12", "-d", str(wheels), f"{library}=={version}"]
        subprocess.run(command, check=True)
        known = sorted(wheels.glob(f"{library}-{version}-*.whl"))
    return known[0]


def offered(library: str, tree: ast.Module) -> set[str]:
    """The public classes and functions of a module, and what it imports from its own library."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith(library)):
            found |= {a.asname or a.name for a in node.names}
    return {n for n in found if not n.startswith("_")}


def bound(tree: ast.Module, inside: set[str]) -> set[str] | None:
    """The public names that a module binds wherever in it, its strings and submodules counted as names, too."""
    found = set(inside) | texts(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            if node.name == "*":
                return None
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == "__getattr__" and node in tree.body:
                return None
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return {n for n in found if not n.startswith("_")}


def texts(tree: ast.Module) -> set[str]:
    return set(_texts(tree))


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (p for p in node.value.split(".") if p.isidentifier())


if __name__ == "__main__":
    sys.exit(main())

"""Which versions of libraries a project asks for, and which are installed beside it; nothing is imported."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping

from firstcause.installed import FOLDERS
from firstcause.source.configs.file import ConfigFile
from firstcause.source.module import MAX_BYTES
from firstcause.source.project import Project

MAX_REQUIREMENT_BYTES = 3_000_000
# A project of more files is not parsed just for its comments.
MAX_PARSED = 40
_FILE = re.compile(r"requirements[\w.-]*\.(txt|in)|constraints[\w.-]*\.txt")
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
_LOCKED = re.compile(r'^name = "([\w.-]+)"\r?\nversion = "([\w.+!-]+)"', re.MULTILINE)
_CONDA = ("environment.yml", "environment.yaml", "conda.yaml", "conda.yml")
_REQUIREMENT = re.compile(
    r"([A-Za-z][\w.-]*)\s*(?:\[[\w\s,.-]*\])?\s*\(?((?:(?:[=~!<>]=?=?)\s*[\w.*+!-]+\s*,?\s*)*)\)?"
)
# In a comment or a cell only what pins one version counts.
_WRITTEN = re.compile(r"(?:#|pip3? install|uv add)[^\n]*")
_EXACT = re.compile(r"([A-Za-z][\w.-]*)\s*==\s*(\d[\w.+]*)")


def asked_for(project: Project) -> dict[str, str]:
    """Version ranges such as "==4.40.1" or ">=5,<6" by library, in the normal form of names; lock files win."""
    found: dict[str, str] = {}
    for name, wanted in (*_locked(project), *_listed(project), *_declared(project), *_written(project)):
        if wanted:
            found.setdefault(normal(name), wanted)
    return found


def normal(name: str) -> str:
    """A package's name as packages are compared: lower case, one dash between words."""
    return re.sub(r"[-_.]+", "-", name).lower()


def installed(project: Project, libraries: Iterable[str]) -> dict[str, str]:
    """Versions by the names of metadata folders: of the project's own environment if it has one, else of this one."""
    wanted = {normal(x) for x in libraries}
    found: dict[str, str] = {}
    for folder in _environments(project):
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            stem, dot, suffix = name.rpartition(".")
            library, _, version = stem.partition("-")
            if dot and suffix == "dist-info" and version and normal(library) in wanted:
                found.setdefault(normal(library), version)
    return found


def _environments(project: Project) -> list[str]:
    own = [os.path.join(project.root, n) for n in (".venv", "venv", "env")]
    for place in [*own, os.environ.get("VIRTUAL_ENV", "")]:
        libraries = os.path.join(place, "lib")
        if place and os.path.isfile(os.path.join(place, "pyvenv.cfg")) and os.path.isdir(libraries):
            return [os.path.join(libraries, n, "site-packages") for n in sorted(os.listdir(libraries))]
    return [p for p in sys.path if p.endswith(FOLDERS)]


def _folders(project: Project) -> list[str]:
    folders = [project.root, *(os.path.dirname(f) for f in project.files)]
    return list(dict.fromkeys(folders))


def _texts(project: Project, is_wanted: re.Pattern[str] | tuple[str, ...]) -> Iterator[str]:
    for folder in _folders(project):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            chosen = name in is_wanted if isinstance(is_wanted, tuple) else bool(is_wanted.fullmatch(name))
            path = os.path.join(folder, name)
            if chosen and os.path.isfile(path) and os.path.getsize(path) <= MAX_REQUIREMENT_BYTES:
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield file.read()


def _locked(project: Project) -> Iterator[tuple[str, str]]:
    for text in _texts(project, _LOCKS):
        yield from ((m[1], f"=={m[2]}") for m in _LOCKED.finditer(text))


def _listed(project: Project) -> Iterator[tuple[str, str]]:
    for text in _texts(project, _FILE):
        for line in text.splitlines():
            yield from requirement(line)


def requirement(line: str) -> Iterator[tuple[str, str]]:
    """The library and the range of one line of a requirement file."""
    plain = re.split(r"\s#|^#|;", line.strip())[0].strip()
    match = _REQUIREMENT.fullmatch(plain)
    if match and not plain.startswith("-"):
        yield match[1], "".join(match[2].split())


def _declared(project: Project) -> Iterator[tuple[str, str]]:
    """What pyproject.toml and conda's environment files list."""
    for folder in _folders(project):
        for name in ("pyproject.toml", *_CONDA):
            path = os.path.join(folder, name)
            config = project.config(path, told=False) if os.path.isfile(path) else None
            if config is not None:
                yield from _of_config(config)


def _of_config(config: ConfigFile) -> Iterator[tuple[str, str]]:
    for path, entry in config.entries.items():
        listed = entry.value if isinstance(entry.value, list) else []
        if path == ("project", "dependencies") or path[:2] == ("project", "optional-dependencies"):
            yield from (r for line in listed if isinstance(line, str) for r in requirement(line))
        elif (
            path[:2] == ("tool", "poetry")
            and path[-2:-1] == ("dependencies",)
            and isinstance(entry.value, str)
        ):
            yield path[-1], _caret(entry.value)
        elif path == ("dependencies",):
            yield from _conda(listed)


def _conda(listed: list[object]) -> Iterator[tuple[str, str]]:
    for line in listed:
        if isinstance(line, str):
            name, _, version = re.sub(r"==?", "=", line, count=1).partition("=")
            yield (
                name.strip().rpartition("::")[2],
                f"=={version.partition('=')[0]}" if version and ">" not in line else "",
            )
        elif isinstance(line, Mapping) and isinstance(line.get("pip"), list):
            yield from (r for one in line["pip"] if isinstance(one, str) for r in requirement(one))


def _caret(wanted: str) -> str:
    """Poetry's ``^4.40``: at least that, below the next first number that is not 0."""
    match = re.fullmatch(r"\^(\d+)((?:\.\d+)*)", wanted.strip())
    if match is None:
        return f"=={wanted}" if re.fullmatch(r"[\d.]+", wanted.strip()) else wanted
    first = int(match[1])
    if first:
        return f">={match[1]}{match[2]},<{first + 1}"
    second = int([*match[2].split("."), "0", "0"][1] or 0)
    return f">=0{match[2]},<0.{second + 1}"


def _written(project: Project) -> Iterator[tuple[str, str]]:
    """Pins in comments, in cells that install, and in the metadata of a single script."""
    for text in _code(project):
        for line in _WRITTEN.findall(text) if "==" in text else ():
            yield from ((m[1], f"=={m[2]}") for m in _EXACT.finditer(line))


def _code(project: Project) -> Iterator[str]:
    """The texts of the code; of many files those that were named, as they are: to parse them is another's work."""
    if len(project.files) <= MAX_PARSED:
        yield from (m.text for m in project.modules)
        return
    for path in project.files:
        module = project.module(path) if path.endswith(".ipynb") else None
        if module is not None:
            yield module.text
        elif os.path.isfile(path) and os.path.getsize(path) <= MAX_BYTES:
            with open(path, encoding="utf-8", errors="replace") as file:
                yield file.read()

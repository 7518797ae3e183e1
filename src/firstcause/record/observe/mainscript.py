"""``__main__`` with marks, and not one frame of ours around it.

A script: this interpreter compiles it with marks, writes the code as a .pyc into the run, and replaces itself
by an interpreter that runs that file, as Python runs any .pyc: at the bottom of the stack. The first statement
then puts back what a plain script would see (``__file__``, ``sys.argv``, sys.path[0] and others). A module
named after -m: runpy asks the module's loader for its code, and gets the marked one.
"""

from __future__ import annotations

import json
import marshal
import os
import sys
from dataclasses import asdict
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import MAGIC_NUMBER
from types import CodeType
from typing import TYPE_CHECKING, Any

from firstcause.record import private

if TYPE_CHECKING:
    from firstcause.record.observe.finder import Finder
    from firstcause.record.observe.session import Session

MAIN = "FIRSTCAUSE_MAIN"


def enter_script(session: Session, finder: Finder) -> None:
    """Replace this interpreter by one that runs the marked script; returns where there is nothing to replace."""
    script = sys.argv[0] if sys.argv else ""
    if script in ("", "-", "-c", "-m") or not os.path.isfile(script) or not sys.executable:
        return
    # As Python makes it: absolute, but neither its links nor its dots resolved.
    path = os.path.join(os.getcwd(), script)
    at = _position(script)
    if at is None or not finder.is_project_file(path) or not _is_source(path):
        return
    try:
        with open(path, "rb") as file:
            # Compiled plainly first: this gives the warnings that Python gives for a script, once.
            compile(file.read(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OSError):
        # Python itself says what is wrong.
        return
    code = finder.marked_code(path, main=True)
    if code is None:
        return
    place = os.path.join(session.folder, "mains", str(os.getpid()))
    private.make_folder(place)
    compiled = os.path.join(place, os.path.splitext(os.path.basename(path))[0] + ".pyc")
    with open(compiled, "wb", opener=private.opener) as file:
        # Magic number, flags, time and size: the last three are not looked at for a file that is run.
        file.write(MAGIC_NUMBER + bytes(12) + marshal.dumps(code))
    from firstcause.record.observe.call_sites import SITES
    from firstcause.record.observe.marks import CANDIDATES

    said = {
        "script": script,
        "path": path,
        "compiled": compiled,
        "candidates": [asdict(c) for c in CANDIDATES.values()],
        "calls": [asdict(c) for c in SITES.values()],
    }
    said["files"] = sorted(finder.reach.files) if finder.reach is not None else []
    os.environ[MAIN] = json.dumps(said)
    arguments = list(sys.orig_argv)
    arguments[at] = compiled
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    try:
        os.execv(sys.executable, arguments)
    except OSError:
        del os.environ[MAIN]
        session.failed("start of the marked script")


def _position(script: str) -> int | None:
    """Where the script stands on the command line: the first word that is no option of Python's."""
    takes_value = ("-W", "-X", "--check-hash-based-pycs")
    at = 1
    while at < len(sys.orig_argv):
        word = sys.orig_argv[at]
        if not word.startswith("-") or word == "-":
            return at if word == script else None
        at += 2 if word in takes_value else 1
    return None


def _is_source(path: str) -> bool:
    with open(path, "rb") as file:
        head = file.read(4)
    return head[:2] != b"PK" and head[2:4] != b"\r\n"


def entered() -> dict[str, Any] | None:
    """In the second interpreter: what the first one left; taken out of the environment."""
    text = os.environ.pop(MAIN, None)
    if text is None:
        return None
    from firstcause.record.observe.call_sites import SITES, CallSite
    from firstcause.record.observe.marks import CANDIDATES, Candidate

    said: dict[str, Any] = json.loads(text)
    for data in said["candidates"]:
        candidate = Candidate(**(data | {"names": tuple(data["names"])}))
        CANDIDATES[candidate.k] = candidate
    SITES.update((data["s"], CallSite(**data)) for data in said["calls"])
    sys.orig_argv = [said["script"] if w == said["compiled"] else w for w in sys.orig_argv]
    return said


def begin(said: dict[str, Any] | None, namespace: dict[str, Any], session: Session) -> None:
    """The first statement of a marked ``__main__``: what a plain one would see."""
    if said is not None:
        path = said["path"]
        sys.argv[0] = said["script"]
        namespace["__loader__"] = SourceFileLoader("__main__", path)
        # Since 3.9 the __file__ of __main__ is absolute, its links unresolved.
        namespace["__file__"] = path
        directory = os.path.dirname(said["compiled"])
        if sys.path and os.path.realpath(sys.path[0] or ".") == os.path.realpath(directory):
            sys.path[0] = os.path.dirname(os.path.realpath(path))
        _remove(said["compiled"], directory)
    elif isinstance(namespace.get("__loader__"), ModuleLoader):
        plain = SourceFileLoader(namespace["__loader__"].name, namespace["__loader__"].path)
        namespace["__loader__"] = plain
        if namespace.get("__spec__") is not None:
            namespace["__spec__"].loader = plain
    _make_room(session.imported, sys.path[0] if sys.path else "")
    reach = session.finder.reach if session.finder is not None else None
    files = said["files"] if said is not None else sorted(reach.files) if reach is not None else []
    session.journal.event("sources", files=files)


def _make_room(imported: frozenset[str], directory: str) -> None:
    """Let the program's own json.py be the json that it imports: ours keeps the one that it has."""
    for name in sorted(n for n in imported if "." not in n and n != "firstcause"):
        place = os.path.join(directory, name)
        if os.path.isfile(place + ".py") or os.path.isfile(os.path.join(place, "__init__.py")):
            for loaded in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
                del sys.modules[loaded]


def _remove(compiled: str, directory: str) -> None:
    try:
        os.unlink(compiled)
        os.rmdir(directory)
        os.rmdir(os.path.dirname(directory))
    except OSError:
        # Another rank still has its own there.
        return


class ModuleMain:
    """On sys.meta_path: the code of the module named after -m, with marks, for runpy and nobody else."""

    def __init__(self, finder: Finder, module: str) -> None:
        self.finder, self.module = finder, module

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name not in (self.module, self.module + ".__main__"):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if (
            spec is None
            or spec.submodule_search_locations is not None
            or type(spec.loader) is not SourceFileLoader
        ):
            return None
        sys.meta_path.remove(self)
        code = self.finder.marked_code(spec.origin, main=True) if spec.origin else None
        if code is not None:
            spec.loader = ModuleLoader(spec.loader, code)
        return spec


class ModuleLoader(SourceFileLoader):
    """Python's loader of one module, but for the code; it puts Python's own back when it has been asked."""

    def __init__(self, plain: SourceFileLoader, code: CodeType) -> None:
        super().__init__(plain.name, plain.path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType | None:
        # Reads and writes the .pyc as without us.
        super().get_code(fullname)
        return self._code


def module_argument(arguments: list[str]) -> str | None:
    """The module that the command line names after -m; ``-um pkg`` and ``-mpkg`` say the same."""
    for at, word in enumerate(arguments[1:], 1):
        if word.startswith("-") and not word.startswith(("--", "-W", "-X")) and "m" in word[1:]:
            rest = word[word.index("m") + 1 :]
            return rest or (arguments[at + 1] if at + 1 < len(arguments) else None)
        if not word.startswith("-"):
            return None
    return None

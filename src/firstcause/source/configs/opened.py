"""Which file an expression names or has opened: paths joined from literals, ``__file__``, files open for reading."""

from __future__ import annotations

import ast
import glob
import os

from firstcause.source.callsites import call_index, last_name
from firstcause.source.configs.file import ConfigFile
from firstcause.source.definitions import Wanted
from firstcause.source.frames import Value, frame_of
from firstcause.source.module import Module
from firstcause.source.names import lookup
from firstcause.source.resolve import external, resolve
from firstcause.source.walk import Origin, Walk

MAX_HOPS = 8
OPENING = {"builtins.open", "io.open", "codecs.open"}
# Calls that give back the path that they are given.
SAME = {
    "os.fspath", "builtins.str", "os.path.abspath", "os.path.expanduser", "os.path.realpath", "os.path.normpath",
    "hydra.utils.to_absolute_path",
}  # fmt: skip
JOINING = {"os.path.join", "pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath"}
SAME_METHODS = {"open", "read", "read_text", "read_bytes", "resolve", "absolute", "expanduser", "as_posix"}


def config_of(walk: Walk, value: Value) -> ConfigFile | None:
    """The config file beneath the project's root that a path or an open file stands for; None unless it is one."""
    text = path_text(walk, value)
    path = find(walk, value.module, text) if text else _only_one(walk, value)
    return walk.project.config(path) if path and not is_written(walk, path) else None


def _only_one(walk: Walk, value: Value) -> str | None:
    """The only file that a path may stand for whose name the command line completes: ``exp/{name}.yaml``."""
    text = path_text(walk.fork(), value, loose=True)
    if text is None or "*" not in os.path.basename(text) or not os.path.splitext(text)[1]:
        return None
    folders, root = [walk.project.root, *walk.project.search], walk.project.root.rstrip(os.sep) + os.sep
    within = [glob.glob(os.path.join(glob.escape(f), text)) for f in folders]
    found = {p for paths in within for p in map(os.path.normpath, paths) if p.startswith(root)}
    return found.pop() if len(found) == 1 else None


def find(walk: Walk, module: Module, text: str) -> str | None:
    """A path as a program means it: from the root, or the one place between the root and its file where it is found."""
    root = walk.project.root
    at_root = _within(root, root, text)
    if at_root is not None:
        return at_root
    folders = list(walk.project.search)
    folder = os.path.dirname(module.path)
    while folder.startswith(root) and folder not in folders:
        folders.append(folder)
        folder = os.path.dirname(folder)
    found = {p for f in folders if (p := _within(root, f, text)) is not None}
    return found.pop() if len(found) == 1 else None


def _within(root: str, folder: str, text: str) -> str | None:
    path = os.path.normpath(os.path.join(folder, text))
    # Nothing outside of the project is opened, whatever the code names.
    return path if path.startswith(root.rstrip(os.sep) + os.sep) and os.path.isfile(path) else None


def is_written(walk: Walk, path: str) -> bool:
    """Whether the code writes a file of this name: what lies there now is of an earlier run."""
    known: set[str] | None = walk.project.memory.get("written files")
    if known is None:
        known = walk.project.memory["written files"] = set()
        for name in ("open", "write_text"):
            for value in call_index(walk.project).by_name.get(name, ()):
                target = _written(walk, value)
                if target is not None:
                    known.add(os.path.basename(target))
    return os.path.basename(path) in known


def _written(walk: Walk, value: Value) -> str | None:
    node = value.node
    assert isinstance(node, ast.Call)
    modes = [
        n.value for n in (*node.args[-1:], *(k.value for k in node.keywords)) if isinstance(n, ast.Constant)
    ]
    is_method = isinstance(node.func, ast.Attribute)
    if last_name(node.func) == "open" and not any(
        isinstance(m, str) and set(m) & set("wax") and len(m) < 4 for m in modes
    ):
        return None
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    target = receiver if is_method and receiver is not None else node.args[0] if node.args else None
    return path_text(walk.fork(), value.at(target)) if target is not None else None


def path_text(walk: Walk, value: Value, hops: int = MAX_HOPS, loose: bool = False) -> str | None:
    """The one path that an expression has where the code alone says it; ``loose``: ``*`` for what it does not say."""
    if hops <= 0:
        return None
    direct = _direct(walk, value, hops, loose)
    if direct is not None:
        return direct
    origins = walk.trace(value, ()) or []
    texts = {_of_origin(walk, o, hops - 1, loose) for o in origins if o.node is not value.node}
    return texts.pop() if len(texts) == 1 else None


def _of_origin(walk: Walk, origin: Origin, hops: int, loose: bool) -> str | None:
    return path_text(walk, origin.value, hops) if origin.value is not None else None


def _direct(walk: Walk, value: Value, hops: int, loose: bool) -> str | None:
    node = value.node
    if value.path:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.Name):
        return value.module.path if node.id == "__file__" else _with_target(walk, value, node, hops, loose)
    if isinstance(node, ast.Attribute) and node.attr == "parent":
        inner = path_text(walk, value.at(node.value), hops - 1, loose)
        return os.path.dirname(inner) if inner is not None else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Add)):
        left, right = (path_text(walk, value.at(n), hops - 1, loose) for n in (node.left, node.right))
        if left is None or right is None:
            return None
        return os.path.join(left, right) if isinstance(node.op, ast.Div) else left + right
    if isinstance(node, ast.JoinedStr):
        return _joined(walk, value, node, hops, loose)
    return _called(walk, value, node, hops, loose) if isinstance(node, ast.Call) else None


def _with_target(walk: Walk, value: Value, node: ast.Name, hops: int, loose: bool) -> str | None:
    """The file of ``with open(path) as node``."""
    bound = lookup(value.module, node, Wanted(node.id))
    if len(bound) != 1 or bound[0].kind != "opaque" or not isinstance(bound[0].value, ast.expr):
        return None
    frame = frame_of(value.frame, value.module.function(bound[0].value))
    return path_text(walk, Value(value.module, bound[0].value, frame), hops - 1, loose)


def _joined(walk: Walk, value: Value, node: ast.JoinedStr, hops: int, loose: bool) -> str | None:
    parts = [
        path_text(walk, value.at(p.value if isinstance(p, ast.FormattedValue) else p), hops - 1, loose)
        for p in node.values
    ]
    if None in parts and not loose:
        return None
    return "".join("*" if p is None else p for p in parts)


def _called(walk: Walk, value: Value, node: ast.Call, hops: int, loose: bool) -> str | None:
    name = external(resolve(walk.project, value.module, node.func))
    if name in JOINING:
        parts = [path_text(walk, value.at(a), hops - 1, loose) for a in node.args]
        return None if None in parts or not parts else os.path.join(*(p for p in parts if p is not None))
    if name == "os.path.dirname" and node.args:
        inner = path_text(walk, value.at(node.args[0]), hops - 1, loose)
        return os.path.dirname(inner) if inner is not None else None
    if name in SAME or name in OPENING:
        given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "file"), None)
        return path_text(walk, value.at(given), hops - 1, loose) if given is not None else None
    if isinstance(node.func, ast.Attribute) and node.func.attr in SAME_METHODS and not name:
        return path_text(walk, value.at(node.func.value), hops - 1, loose)
    return None

"""SQLite: a connection is made to a copy of the database, with its journal; open ones go on in theirs."""

from __future__ import annotations

import contextlib
import gc
from types import ModuleType
from typing import Any

from firstcause.sandbox.copies import status
from firstcause.sandbox.writers import layer
from firstcause.sandbox.writers.rebind import replace

COMPANIONS = ("-wal", "-journal")


def patch(module: ModuleType) -> None:
    original = module.connect

    def connect(database: Any, *args: Any, **kwargs: Any) -> Any:
        uri = kwargs.get("uri", args[7] if len(args) > 7 else False)
        return original(_real(database, uri), *args, **kwargs)

    replace(module, "connect", connect)


def keep_open(module: ModuleType) -> None:
    """Let connections from before the seal go on, on their private copy of the file.

    SQLite refuses to make a journal where the name of the database is no longer the file that it has open; a journal
    in memory it does not ask about.
    """
    for connection in [o for o in gc.get_objects() if isinstance(o, module.Connection)]:
        # One that is closed, or belongs to another thread, cannot be used in the replay either.
        with contextlib.suppress(module.Error):
            connection.execute("pragma journal_mode = memory").close()


def _real(database: Any, uri: bool) -> Any:
    name = layer.text(database)
    if uri and name.startswith("file:"):
        from urllib.parse import quote, unquote

        path, mark, query = name.removeprefix("file:").partition("?")
        # file://host/path: the host is empty or localhost.
        path = "/" + path[2:].partition("/")[2] if path.startswith("//") else path
        if path in ("", ":memory:") or "mode=memory" in query:
            return database
        return f"file:{quote(_copied(unquote(path), create='mode=' not in query or 'mode=rwc' in query))}{mark}{query}"
    return database if name in ("", ":memory:") else _copied(name, create=True)


def _copied(path: str, create: bool) -> str:
    if not create and status(layer.for_reading(path)) is None:
        # SQLite's own error for a database that is not there.
        return path
    for companion in COMPANIONS:
        if status(layer.for_reading(path + companion)) is not None:
            layer.for_writing(path + companion, keep=True)
    return layer.for_writing(path, keep=True)

"""The server: checks a file when it is opened, a moment after it was changed, and when it is saved."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from firstcause import __version__
from firstcause.errors import FirstcauseError
from firstcause.integrations.lsp.answers import FIX_ALL, actions, correct_all, diagnostic, hover, place
from firstcause.integrations.lsp.documents import Document
from firstcause.schema.finding import Finding

# A pause in typing; shorter ones would only show what stands half written.
PAUSE = 0.3

Result = TypeVar("Result")


class Checking(LanguageServer):
    """Knows the findings of each open file; one file is looked at a time, in a thread of its own."""

    def __init__(self) -> None:
        super().__init__("firstcause", __version__)
        self.found: dict[str, tuple[Document, list[Finding]]] = {}
        self.waiting: dict[str, asyncio.Task[None]] = {}
        self.lock = asyncio.Lock()

    def document(self, uri: str) -> Document | None:
        """The file as the editor holds it; None for what lies on no disk or is no Python."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        if path is None or not path.endswith(".py"):
            return None
        roots = [to_fs_path(folder) or "" for folder in self.workspace.folders]
        roots += [self.workspace.root_path or ""]
        above = [r for r in roots if r and os.path.commonpath([r, path]) == r]
        root = max(above, key=len, default=os.path.dirname(path))
        return Document(path, self.workspace.get_text_document(uri).source, root)

    async def apart(self, work: Callable[[], Result], nothing: Result) -> Result:
        """Do some work beside the conversation; what it cannot do is said in the client's log."""
        try:
            async with self.lock:
                return await asyncio.to_thread(work)
        except FirstcauseError as error:
            said, kind = f"{error.message}; next: {error.hint}", types.MessageType.Warning
        except Exception as error:  # noqa: BLE001 - ours, and no reason to stop serving
            said, kind = (
                f"a failure of firstcause itself: {type(error).__name__}: {error}",
                types.MessageType.Error,
            )
        self.window_log_message(types.LogMessageParams(kind, f"firstcause: {said}"))
        return nothing

    async def look(self, uri: str, pause: float = 0.0) -> None:
        """Check a file and publish what was found, unless it was changed again meanwhile."""
        await asyncio.sleep(pause)
        document = self.document(uri)
        if document is None:
            return
        version = self.workspace.get_text_document(uri).version
        findings: list[Finding] = await self.apart(document.findings, [])
        if uri not in self.workspace.text_documents:
            return
        self.found[uri] = (document, findings)
        codec = self.workspace.position_codec
        told = [diagnostic(one, document, codec) for one in findings]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, told, version))

    def later(self, uri: str, pause: float) -> None:
        """Look at a file after a pause, and not for what was asked before."""
        earlier = self.waiting.pop(uri, None)
        if earlier is not None:
            earlier.cancel()
        self.waiting[uri] = asyncio.get_running_loop().create_task(self.look(uri, pause))

    async def current(self, uri: str) -> tuple[Document, list[Finding]] | None:
        """A file and its findings as it stands now."""
        document = self.document(uri)
        if document is None:
            return None
        known = self.found.get(uri)
        if known is None or known[0] != document:
            known = (document, await self.apart(document.findings, []))
        return known


def make() -> Checking:
    """The server with its answers, not yet listening."""
    server = Checking()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        server.later(params.text_document.uri, 0.0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        server.later(params.text_document.uri, PAUSE)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        # Other open files may import the one that was saved.
        for uri in list(server.workspace.text_documents):
            server.later(uri, 0.0)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        earlier = server.waiting.pop(uri, None)
        if earlier is not None:
            earlier.cancel()
        server.found.pop(uri, None)
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    kinds = [types.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    async def act(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri, only = params.text_document.uri, params.context.only
        known = await server.current(uri)
        if known is None:
            return []
        document, findings = known
        codec = server.workspace.position_codec
        first, last = params.range.start.line, params.range.end.line
        here = [f for f in findings if _meets(place(f, document, codec), first, last)]
        made: list[types.CodeAction] = []
        if _asks(only, types.CodeActionKind.QuickFix.value):
            made += await server.apart(lambda: list(actions(uri, document, here, codec)), [])
        if only and _asks(only, FIX_ALL):
            whole = await server.apart(lambda: correct_all(uri, document, findings, codec), None)
            made += [whole] if whole is not None else []
        return made

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        known = await server.current(params.text_document.uri)
        if known is None:
            return None
        document, findings = known
        codec = server.workspace.position_codec
        line = params.position.line
        here = [f for f in findings if _meets(place(f, document, codec), line, line)]
        if not here:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, hover(here)))

    return server


def _meets(found: types.Range, first: int, last: int) -> bool:
    return found.start.line <= last and found.end.line >= first


def _asks(only: object, kind: str) -> bool:
    """Whether a client asks for a kind of action: for all, for this one, or for a kind that holds it."""
    if not isinstance(only, (list, tuple)) or not only:
        return True
    names = [str(getattr(one, "value", one)) for one in only]
    return any(kind == name or kind.startswith(name + ".") for name in names)

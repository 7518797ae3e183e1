"""The language server over its standard streams, by the client of the same library."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("pygls")
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from trainings import NO_ZERO_GRAD

BAD = NO_ZERO_GRAD.replace("    loss =", '    note = "π𝄞"; loss =')
GOOD = BAD.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()")


class Editor:
    """An open file in a folder, and what the server says of it."""

    def __init__(self, client: LanguageClient, path: Path) -> None:
        self.client, self.uri, self.version = client, path.as_uri(), 0
        self.told: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
        self.logged: list[str] = []

    async def diagnostics(self) -> list[types.Diagnostic]:
        return list((await asyncio.wait_for(self.told.get(), 60)).diagnostics)

    async def open(self, text: str) -> list[types.Diagnostic]:
        item = types.TextDocumentItem(self.uri, "python", self.version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics()

    def type(self, text: str) -> None:
        self.version += 1
        named = types.VersionedTextDocumentIdentifier(uri=self.uri, version=self.version)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(named, [change]))

    async def actions(self, line: int, *only: str) -> list[types.CodeAction]:
        at = types.Range(types.Position(line, 0), types.Position(line, 0))
        context = types.CodeActionContext([], only=list(only) or None)
        asked = types.CodeActionParams(types.TextDocumentIdentifier(self.uri), at, context)
        return list(await self.client.text_document_code_action_async(asked) or [])

    async def hover(self, line: int) -> str:
        place = types.Position(line, 5)
        asked = types.HoverParams(types.TextDocumentIdentifier(self.uri), place)
        found = await self.client.text_document_hover_async(asked)
        return found.contents.value if found is not None else ""


def after(text: str, action: types.CodeAction, uri: str) -> str:
    """A text after an action's edits, which are of whole lines."""
    lines = text.splitlines(keepends=True)
    for edit in sorted(action.edit.changes[uri], key=lambda e: -e.range.start.line):
        assert edit.range.start.character == edit.range.end.character == 0
        lines[edit.range.start.line : edit.range.end.line] = [edit.new_text]
    return "".join(lines)


@asynccontextmanager
async def editing(path: Path, root: Path) -> AsyncIterator[Editor]:
    client = LanguageClient("an-editor", "1")
    editor = Editor(client, path)

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: types.PublishDiagnosticsParams) -> None:
        if params.uri == editor.uri:
            editor.told.put_nowait(params)

    @client.feature(types.WINDOW_LOG_MESSAGE)
    def logged(params: types.LogMessageParams) -> None:
        editor.logged.append(params.message)

    await client.start_io(sys.executable, "-m", "firstcause", "lsp")
    try:
        folder = types.WorkspaceFolder(root.as_uri(), root.name)
        capabilities = types.ClientCapabilities()
        asked = types.InitializeParams(capabilities, root_uri=root.as_uri(), workspace_folders=[folder])
        told = await client.initialize_async(asked)
        assert told.server_info.name == "firstcause"
        client.initialized(types.InitializedParams())
        yield editor
        await client.shutdown_async(None)
        client.exit(None)
    finally:
        await client.stop()


def drive(path: Path, root: Path, way: Callable[[Editor], Awaitable[None]]) -> None:
    async def whole() -> None:
        async with editing(path, root) as editor:
            await way(editor)

    asyncio.run(asyncio.wait_for(whole(), 120))


def test_what_is_typed_is_checked_corrected_and_explained(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    # What lies on disk is not what is edited.
    path.write_text("x = 1\n")

    async def way(editor: Editor) -> None:
        (found,) = await editor.open(BAD)
        assert (found.code, found.source, found.severity) == (
            "missing-zero-grad",
            "firstcause",
            types.DiagnosticSeverity.Error,
        )
        assert (found.range.start, found.range.end) == (types.Position(8, 4), types.Position(8, 20))
        correct, keep = await editor.actions(8)
        assert correct.is_preferred
        assert correct.diagnostics[0].code == "missing-zero-grad"
        corrected = after(BAD, correct, editor.uri)
        assert corrected.count("optimizer.zero_grad()") == 1
        (whole,) = await editor.actions(0, "source.fixAll")
        assert after(BAD, whole, editor.uri) == corrected
        assert await editor.actions(2) == []
        text = await editor.hover(8)
        assert text.startswith("# missing-zero-grad")
        assert "## Why" in text
        assert await editor.hover(0) == ""
        editor.type(GOOD)
        assert await editor.diagnostics() == []
        editor.type(corrected)
        assert await editor.diagnostics() == []
        kept = after(BAD, keep, editor.uri)
        assert "optimizer.step()  # firstcause: ignore[missing-zero-grad]" in kept
        editor.type(kept)
        assert await editor.diagnostics() == []
        editor.type("def (")
        (broken,) = await editor.diagnostics()
        assert (broken.code, broken.range.start.line) == ("syntax-error", 0)

    drive(path, tmp_path, way)
    assert path.read_text() == "x = 1\n"


def test_columns_are_those_of_the_client_and_another_file_counts_once_saved(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("RATE = 0.1\n")
    path = tmp_path / "train.py"
    text = GOOD.replace("0.1)", "RATE)").replace(
        "import torch\n", "import torch\nfrom settings import RATE\n", 1
    )
    text = text.replace("    loss.backward()", '    "π𝄞"; missing(loss); loss.backward()')
    path.write_text(text)

    async def way(editor: Editor) -> None:
        (found,) = await editor.open(text)
        assert found.code == "undefined-name"
        # UTF-16, the protocol's own count, takes two for a sign beyond the first plane.
        line = text.splitlines()[found.range.start.line]
        assert found.range.end.character == len(line) + 1
        saved = types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(editor.uri))
        editor.client.text_document_did_save(saved)
        assert [d.code for d in await editor.diagnostics()] == ["undefined-name"]
        closed = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(editor.uri))
        editor.client.text_document_did_close(closed)
        assert await editor.diagnostics() == []

    drive(path, tmp_path, way)


def test_settings_hold_and_wrong_ones_are_told_once_more(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(BAD)
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.firstcause.check]\nignore = ["missing-zero-grad"]\n')

    async def way(editor: Editor) -> None:
        assert await editor.open(BAD) == []
        settings.write_text('[tool.firstcause.check]\nignored = ["x"]\n')
        editor.type(BAD + "\n")
        assert await editor.diagnostics() == []
        assert any("check.ignored" in text for text in editor.logged)

    drive(path, tmp_path, way)

"""The product's own server of tools, as a client starts it: a process that talks over standard input and output."""

from __future__ import annotations

import os
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, get_default_environment
from mcp.types import ElicitRequestParams, ElicitResult

_CODE = re.compile(r"Type ([0-9A-Z]{6}) to approve")


class Server:
    """One server in one folder, until the block ends; its forms are answered by a person who approves."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._tools: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Server:
        env = {**get_default_environment(), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        # The server runs programs by `python`, which has to be the one that has torch.
        env["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), env.get("PATH", "")))
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "firstcause", "mcp"], cwd=str(self._folder), env=env
        )
        self._portal = self._stack.enter_context(start_blocking_portal())
        client = Client(parameters, elicitation_callback=self._person)
        self._client = self._stack.enter_context(self._portal.wrap_async_context_manager(client))
        for tool in self._portal.call(self._client.list_tools).tools:
            self._tools[tool.name] = dict(tool.input_schema.get("properties", {}))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools by name, each with its arguments."""
        return self._tools

    def call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """The text of a tool's answer, and whether it is no refusal."""
        answer = self._portal.call(self._client.call_tool, tool, arguments)
        return "\n".join(getattr(part, "text", "") for part in answer.content), not answer.is_error

    async def _person(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        found = _CODE.search(params.message)
        if found is None:
            return ElicitResult(action="decline")
        return ElicitResult(
            action="accept", content={"symptom": "y", "scope": "t", "side_effect": "y", "code": found[1]}
        )

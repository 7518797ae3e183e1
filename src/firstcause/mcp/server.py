"""The server of the tools, over standard input and output or over HTTP on this machine."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from firstcause import __version__
from firstcause.mcp.tools.add_evidence import add_evidence
from firstcause.mcp.tools.apply_fix import apply_fix
from firstcause.mcp.tools.case_status import case_status
from firstcause.mcp.tools.check_code import check_code
from firstcause.mcp.tools.explain import explain
from firstcause.mcp.tools.minimize import minimize
from firstcause.mcp.tools.open_case import open_case
from firstcause.mcp.tools.propose_diagnosis import propose_diagnosis
from firstcause.mcp.tools.request_approval import request_approval
from firstcause.mcp.tools.run_probe import run_probe
from firstcause.mcp.tools.triage import triage
from firstcause.mcp.tools.verify_fix import verify_fix

HOST = "127.0.0.1"
INSTRUCTIONS = (
    "For a PyTorch program that fails, or trains wrongly: find the first cause before any change. Call open_case, follow "
    "`next` of each answer, and change no file by hand while a case is open: apply_fix writes the fix that a person "
    "approved. A refusal names what is missing. After lost context, call case_status."
)
# Tools that only read, those that keep what they find, and the one that writes into the user's files.
TOOLS: tuple[tuple[Callable[..., Any], ToolAnnotations], ...] = (
    *((tool, ToolAnnotations(read_only_hint=True)) for tool in (triage, check_code, case_status, explain)),
    *(
        (tool, ToolAnnotations(read_only_hint=False, destructive_hint=False))
        for tool in (
            open_case,
            run_probe,
            add_evidence,
            propose_diagnosis,
            request_approval,
            verify_fix,
            minimize,
        )
    ),
    (apply_fix, ToolAnnotations(read_only_hint=False, destructive_hint=True)),
)


def server() -> MCPServer[None]:
    """A server for the working directory; it keeps nothing in memory that a case needs."""
    made: MCPServer[None] = MCPServer(
        "firstcause", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    for tool, hints in TOOLS:
        made.add_tool(tool, annotations=hints)
    return made


def serve_stdio() -> None:
    """Serve one client on standard input and output until it leaves."""
    server().run("stdio")


def serve_http(port: int) -> None:
    """Serve on the loopback interface; the address, with a token that nobody guesses, is told on standard error."""
    path = f"/{secrets.token_urlsafe(24)}/mcp"
    print(f"firstcause: http://{HOST}:{port}{path}", file=sys.stderr, flush=True)  # noqa: T201
    server().run("streamable-http", host=HOST, port=port, streamable_http_path=path)

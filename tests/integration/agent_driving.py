"""The SDK's client against a server in a process of its own, over standard input and output and over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import re
import select
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import ElicitRequestParams, ElicitResult
from recording import COMMAND, environment

DEMO = Path(__file__).resolve().parents[2] / "demo" / "nan"
CODE = re.compile(r"Type ([0-9A-Z]{6}) to approve")


def project(folder: Path) -> Path:
    """A project with a shipped program that fails: its loss becomes NaN by a logarithm of zero."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in DEMO.glob("*.py"):
        shutil.copy(path, folder / path.name)
    return folder


@contextlib.asynccontextmanager
async def stdio(folder: Path, named: Path | None = None, **options: Any) -> AsyncIterator[Client]:
    """A client whose server talks on its standard input and output; its process id is written to ``named``."""
    command = shlex.join([sys.executable, "-m", "firstcause", "mcp"])
    parameters = StdioServerParameters(
        command="sh",
        args=["-c", f"echo $$ > {shlex.quote(str(named or os.devnull))}; exec {command}"],
        cwd=str(folder),
        env=environment(),
    )
    async with Client(parameters, **options) as client:
        yield client


@contextlib.asynccontextmanager
async def http(folder: Path, **options: Any) -> AsyncIterator[Client]:
    """A client whose server listens on this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [*COMMAND, "mcp", "--http", str(port)],
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        url = (await asyncio.to_thread(server.stderr.readline)).split()[1]
        await _listening(port)
        async with Client(url, **options) as client:
            yield client
    finally:
        server.terminate()
        server.wait(20)


async def _listening(port: int) -> None:
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            await asyncio.sleep(0.1)
        else:
            return
    raise AssertionError("the server does not listen")


async def approving(context: Any, params: ElicitRequestParams) -> ElicitResult:
    """A person who reads the form and types the code that it shows."""
    found = CODE.search(params.message)
    assert found is not None
    return ElicitResult(
        action="accept", content={"symptom": "y", "scope": "t", "side_effect": "y", "code": found[1]}
    )


def at_a_terminal(cwd: Path, words: Sequence[str], answers: Sequence[str]) -> int:
    """A person who types a command at a terminal of their own; "CODE" types the code that is shown."""
    master, slave = pty.openpty()
    child = subprocess.Popen(
        [*COMMAND, *words],
        cwd=cwd,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env=environment(),
    )
    os.close(slave)
    shown, left, deadline = "", list(answers), time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([master], [], [], 0.1)[0]:
            continue
        try:
            shown += os.read(master, 65536).decode()
        except OSError:
            break
        if shown.endswith("> ") and left:
            answer = left.pop(0)
            found = CODE.search(shown)
            os.write(master, (found[1] if answer == "CODE" and found else answer).encode() + b"\n")
    os.close(master)
    return child.wait(30)

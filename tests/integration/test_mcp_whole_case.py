"""A whole case, from the failing program to the verified fix, by the SDK's own client."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from agent_driving import approving, at_a_terminal, http, project, stdio
from mcp import Client


async def answered(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert len(result.content[0].text.encode()) <= 8192
    return dict(result.structured_content)


def test_over_stdio_by_two_servers_and_a_person_at_a_terminal(tmp_path: Path) -> None:
    folder = project(tmp_path)
    heard: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async def first_half() -> dict[str, Any]:
        async with stdio(folder) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"open_case", "request_approval", "apply_fix", "verify_fix"} <= names
            assert not {name for name in names if name.startswith("approve")}
            opened = await client.call_tool(
                "open_case", {"script": "train.py", "budget_seconds": 120}, progress_callback=progress
            )
            assert not opened.is_error, opened.content
            asked = await answered(client, "request_approval")
            assert asked["state"] == "diagnosed"
            assert asked["next"]["person"].endswith(f"firstcause case approve {asked['case']}")
            return dict(opened.structured_content)

    opened = asyncio.run(first_half())
    assert (opened["state"], opened["cause"], opened["next"]["tool"]) == (
        "diagnosed",
        "log-of-zero",
        "request_approval",
    )
    assert opened["site"] == "train.py:11"
    assert heard
    assert all(total and message for _, total, message in heard)
    assert at_a_terminal(folder, ["case", "approve"], ["y", "t", "y", "CODE"]) == 0

    async def second_half() -> dict[str, Any]:
        async with stdio(folder) as client:
            status = await answered(client, "case_status")
            assert (status["state"], status["next"]["tool"]) == ("approved", "apply_fix")
            assert (await answered(client, "apply_fix"))["state"] == "fixed"
            return await answered(client, "verify_fix", budget_seconds=120)

    verified = asyncio.run(second_half())
    assert verified["state"] == "verified"
    assert verified["next"]["person"].startswith("firstcause case close")


@pytest.mark.slow
def test_over_http_with_a_form(tmp_path: Path) -> None:
    folder = project(tmp_path)

    async def whole() -> dict[str, Any]:
        async with http(folder, elicitation_callback=approving) as client:
            opened = await answered(client, "open_case", script="train.py", budget_seconds=120)
            assert opened["cause"] == "log-of-zero"
            assert (await answered(client, "request_approval"))["state"] == "approved"
            assert (await answered(client, "apply_fix"))["state"] == "fixed"
            return await answered(client, "verify_fix", budget_seconds=120)

    assert asyncio.run(whole())["state"] == "verified"


def test_over_http_only_at_the_address_with_its_token(tmp_path: Path) -> None:
    async def asked() -> None:
        async with http(tmp_path) as client:
            page = await answered(client, "explain", slug="log-of-zero")
            assert "Mechanism" in page["page"]
            token = str(client.server).split("/")[3]
            assert len(token) >= 32
            bare = str(client.server).replace(f"/{token}", "")
        with pytest.raises(Exception):  # noqa: B017, PT011 - the SDK's error for a page that is not there
            async with Client(bare) as stranger:
                await stranger.list_tools()

    asyncio.run(asked())


def test_a_cancelled_call_ends_its_work(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(300)\n"
    )

    async def cancelled() -> int:
        async with stdio(tmp_path) as client:
            with anyio.move_on_after(30):
                async with anyio.create_task_group() as group:
                    group.start_soon(
                        client.call_tool, "open_case", {"script": "train.py", "budget_seconds": 300}
                    )
                    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
                        await anyio.sleep(0.1)
                    group.cancel_scope.cancel()
            pid = int((tmp_path / "pid").read_text())
            for _ in range(100):
                if not alive(pid):
                    break
                await anyio.sleep(0.1)
            # The server itself goes on.
            assert (await client.call_tool("explain", {"slug": "log-of-zero"})).is_error is False
            return pid

    pid = asyncio.run(cancelled())
    gone = not alive(pid)
    if not gone:
        os.kill(pid, signal.SIGKILL)
    assert gone


def test_a_killed_server_takes_its_work_along_and_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        "import os, time\nopen('pid', 'w').write(str(os.getppid()))\ntime.sleep(300)\n"
    )

    async def killed() -> int:
        with contextlib.suppress(Exception):
            async with (
                stdio(tmp_path, named=tmp_path / "server.pid") as client,
                anyio.create_task_group() as group,
            ):
                group.start_soon(client.call_tool, "open_case", {"script": "train.py", "budget_seconds": 300})
                while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
                    await anyio.sleep(0.1)
                os.kill(int((tmp_path / "server.pid").read_text()), signal.SIGKILL)
        recorder = int((tmp_path / "pid").read_text())
        for _ in range(100):
            if not alive(recorder):
                break
            await anyio.sleep(0.1)
        return recorder

    async def again() -> str:
        async with stdio(tmp_path) as client:
            return str((await client.call_tool("case_status", {})).content[0].text)

    recorder = asyncio.run(killed())
    gone = not alive(recorder)
    if not gone:
        os.kill(recorder, signal.SIGKILL)
    assert gone
    assert "has no open case" in asyncio.run(again())
    assert len(list((tmp_path / ".firstcause" / "runs").iterdir())) == 1


def alive(pid: int) -> bool:
    with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"
    return False

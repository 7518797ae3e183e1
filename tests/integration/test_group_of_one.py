"""A process group with a single member opens a port, and its step is replayed all the same: nobody else is in it."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from recording import firstcause, record


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def test_its_step_is_replayed_exactly(tmp_path: Path) -> None:
    port = free_port()
    record(tmp_path, "group_of_one", "-q", TRY_PORT=port)

    done = firstcause(tmp_path, "replay", TRY_PORT=port)
    found = firstcause(tmp_path, "diagnose", "--yes", "--json", "found.json", TRY_PORT=port)

    assert "replayed exactly in a fresh process" in done.stdout, done.stdout + done.stderr
    diagnosis = json.loads((tmp_path / "found.json").read_text())
    assert (diagnosis["cause"], diagnosis["site"]["line"]) == ("log-of-zero", 19), found.stdout

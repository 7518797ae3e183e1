"""A user's own trace: what it shows, what it points at, and what it does not show."""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from firstcause.errors import InputError
from firstcause.record import traces


def event(name: str, at: float, took: float, cat: str = "cpu_op") -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": cat, "ts": at, "dur": took}


def read(tmp_path: Path, events: list[dict[str, Any]]) -> traces.Trace:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return traces.read(str(path))


def test_a_loader_that_takes_half_of_the_time(tmp_path: Path) -> None:
    loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    found = read(tmp_path, [event(loader, 0, 500, "user_annotation"), event("aten::mm", 500, 500)])
    assert found.points_at == "data"
    assert dict(found.figures)["waiting for data"] == "50 % of the span"


def test_short_kernels_with_gaps_are_the_host(tmp_path: Path) -> None:
    kernels = [event("add", at, 3, "kernel") for at in range(0, 1000, 10)]
    found = read(tmp_path, [*kernels, event("aten::add", 0, 1000)])
    assert found.points_at == "host or launch"


def test_a_busy_device_is_said_to_prove_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, [event("gemm", 0, 800, "kernel"), event("aten::mm", 0, 1000)])
    assert found.points_at == ""
    assert "80 % of the span, which says that some kernel ran" in dict(found.figures)["device busy"]


def test_free_pieces_of_memory(tmp_path: Path) -> None:
    blocks = [{"size": 1 << 20, "state": s} for s in ("active_allocated", "inactive") * 10]
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps({"segments": [{"total_size": 20 << 20, "blocks": blocks}]}))
    found = traces.read(str(path))
    assert found.points_at == "fragmentation"
    assert dict(found.figures)["in use"] == "10.0 MiB"


def test_fields_of_another_kind_are_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, [event("aten::mm", 0, 500) | {"args": "none"}])
    assert any("with_stack=True" in what for what in found.lacking)
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(pickle.dumps({"segments": [{"total_size": 20 << 20, "blocks": 3}]}))
    assert dict(traces.read(str(path)).figures)["in use"] == "0.0 MiB"


class Evil:
    def __reduce__(self) -> Any:
        return (Path.touch, (Path("/tmp/evil-was-here"),))


@pytest.mark.parametrize(
    ("content", "slug"),
    [
        (b'{"traceEvents": [', "trace-damaged"),
        (b'{"other": 1}', "trace-unknown"),
        (pickle.dumps({"segments": Evil()}), "trace-damaged"),
        (pickle.dumps([1, 2]), "trace-unknown"),
        (gzip.compress(b'{"traceEvents": []}')[:-12], "trace-damaged"),
        (gzip.compress(b"")[:10] + b"\xff" * 40, "trace-damaged"),
    ],
)
def test_what_is_no_trace(content: bytes, slug: str, tmp_path: Path) -> None:
    path = tmp_path / "it"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        traces.read(str(path))
    assert raised.value.slug == slug
    assert not Path("/tmp/evil-was-here").exists()

"""Flight-recorder dumps, error files and recorded runs: read without running anything that they hold."""

from __future__ import annotations

import io
import json
import os
import pickle
import pickletools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstcause.errors import InputError
from firstcause.triage.pickles import DEPTH, PickleError, loads
from firstcause.triage.read import read, read_all

RECORDED = """
import os, sys
os.environ.update(MASTER_ADDR="127.0.0.1", RANK=sys.argv[1], WORLD_SIZE="1", TORCH_FR_BUFFER_SIZE="16")
import torch, torch.distributed as dist
from torch._C import _distributed_c10d as c10d
store = dist.FileStore(sys.argv[2], 1)
dist.init_process_group("gloo", store=store, rank=int(sys.argv[1]), world_size=1)
dist.all_reduce(torch.ones(3))
open(f"nccl_trace_rank_{sys.argv[1]}", "wb").write(c10d._dump_fr_trace())
"""


def entry(sequence: int, name: str, state: str = "completed") -> dict[str, Any]:
    return {
        "process_group": ("0", "default_pg"),
        "collective_seq_id": sequence,
        "profiling_name": f"nccl:{name}",
        "state": state,
        "input_sizes": [[8]],
        "frames": [{"filename": "/site-packages/torch/x.py", "line": 1}, {"filename": "fit.py", "line": 31}],
    }


def dump(folder: Path, rank: int, last: list[dict[str, Any]], completed: int) -> str:
    values = {
        "version": "2.4",
        "nccl_version": "2.21.5",
        "pg_status": {
            "0": {
                "last_enqueued_collective": 9,
                "last_started_collective": 9,
                "last_completed_collective": completed,
            }
        },
        "entries": last,
    }
    path = folder / f"nccl_trace_rank_{rank}"
    path.write_bytes(pickle.dumps(values, protocol=2) if rank % 2 else json.dumps(values).encode())
    return str(path)


def test_the_rank_that_is_behind_and_where_it_waits(tmp_path: Path) -> None:
    paths = [
        dump(tmp_path, 0, [entry(7, "all_reduce"), entry(8, "all_reduce", "started")], 7),
        dump(tmp_path, 1, [entry(6, "all_reduce", "started")], 5),
        dump(tmp_path, 2, [entry(7, "all_reduce"), entry(8, "all_reduce", "started")], 7),
    ]
    found = read_all(paths)
    assert found.first_failed == 1
    assert [(seen.pattern, seen.rank) for seen in found.seen] == [("desync", 1)]
    assert (
        found.facts["collectives"][1]
        == "rank 1: waits in collective 6 of group 0, all_reduce [[8]] (started), called at fit.py:31"
    )
    assert found.facts["versions"] == {"nccl": "2.21.5"}


def test_two_ranks_in_different_collectives(tmp_path: Path) -> None:
    found = read_all(
        [
            dump(tmp_path, 0, [entry(8, "all_reduce", "started")], 7),
            dump(tmp_path, 1, [entry(8, "broadcast", "started")], 7),
        ]
    )
    assert [seen.pattern for seen in found.seen] == ["collective-mismatch"]
    assert "broadcast [[8]] on rank 1" in found.seen[0].text


def test_the_dump_of_a_real_run_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(RECORDED)
    subprocess.run(
        [sys.executable, "run.py", "0", str(tmp_path / "store")],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
        timeout=120,
    )
    path = tmp_path / "nccl_trace_rank_0"
    assert loads(path.read_bytes()) == pickle.loads(path.read_bytes())
    found = read(str(path))
    assert found.facts["ranks"] == [0]
    assert found.facts["collectives"] == ["rank 0: every collective that it entered has completed"]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
        | st.tuples(inner, inner, inner, inner)
    ),
    max_leaves=20,
)


@given(VALUES, st.integers(2, 5))
@settings(deadline=None, max_examples=150)
def test_plain_values_come_back(value: Any, protocol: int) -> None:
    data = pickle.dumps(value, protocol=protocol)
    if any(operation.name == "GLOBAL" for operation, _, _ in pickletools.genops(data)):
        # Protocol 2 has no bytes and makes them by a call.
        with pytest.raises(PickleError):
            loads(data)
    else:
        assert loads(data) == value


@given(st.binary(max_size=300))
@settings(deadline=None, max_examples=300)
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        loads(b"\x80\x02" + data)
    except PickleError:
        pass
    else:
        assert b"." in data


class Evil:
    def __reduce__(self) -> Any:
        return os.mkdir, ("made-by-a-pickle",)


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps({"entries": [Evil()]}, protocol=4),
        pickle.dumps({"entries": [Evil()]}, protocol=0)[:0]
        + b"\x80\x02cos\nmkdir\n(X\x01\x00\x00\x00at\x85R.",
        b"\x80\x02" + b"(" * 100_000 + b"t" * 100_000 + b".",
        b"\x80\x02" + b"]" * (DEPTH + 2) + b"a" * (DEPTH + 1) + b".",
        b"\x80\x02}r\xff\xff\xff\xffK\x01.",
    ],
)
def test_a_hostile_pickle_runs_nothing(data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="flight-recorder"):
        read(io.BytesIO(data))
    assert list(tmp_path.iterdir()) == []


def test_an_error_file_of_torch_elastic(tmp_path: Path) -> None:
    path = tmp_path / "attempt_0" / "3" / "error.json"
    path.parent.mkdir(parents=True)
    stack = "Traceback (most recent call last):\n  File \"fit.py\", line 8, in run\n    go()\nKeyError: 'x'\n"
    path.write_text(
        json.dumps(
            {"message": {"message": "KeyError: 'x'", "extraInfo": {"py_callstack": stack, "timestamp": "1"}}}
        )
    )
    found = read(str(path))
    assert [(one.exception, one.rank, one.frames[0].line) for one in found.raised] == [("KeyError", 3, 8)]


def test_a_recorded_run_tells_its_symptoms(tmp_path: Path) -> None:
    site = {"file": "fit.py", "line": 9, "function": "step", "text": "loss = f(x)"}
    symptom = {"kind": "exception", "message": "ValueError: bad", "site": site, "rank": 1}
    path = tmp_path / "run.json"
    path.write_text(
        json.dumps({"schema": 1, "command": ["python", "fit.py"], "symptoms": [symptom], "exit_code": 1})
    )
    found = read(str(path))
    assert [(one.exception, one.rank, one.frames[0].source) for one in found.raised] == [
        ("ValueError", 1, "loss = f(x)")
    ]
    assert found.facts["exit_code"] == [1]


def test_sends_and_receives_are_no_mismatch(tmp_path: Path) -> None:
    found = read_all(
        [
            dump(tmp_path, 0, [entry(8, "send 0->1", "started")], 7),
            dump(tmp_path, 1, [entry(8, "recv 1<-0", "started")], 7),
        ]
    )
    assert "collective-mismatch" not in {seen.pattern for seen in found.seen}

"""Unsigned integers in a snapshot: torch 2.4 writes none beyond a byte, so the file holds signed ones of the same bits."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
import torch

from firstcause.record.observe import saved


@pytest.mark.parametrize("kind", ["uint8", "uint16", "uint32", "uint64"])
def test_they_come_back_as_they_were_and_are_written_signed(tmp_path: Path, kind: str) -> None:
    value = numpy.array([[0, 1], [numpy.iinfo(kind).max, 7]], dtype=kind)
    writer = saved.Writer()
    structure = {"batch": writer.encode("batch", {"ids": value, "x": torch.ones(2)})}
    saved.put(str(tmp_path / "state"), structure, writer.tensors)

    written = torch.load(tmp_path / "state" / "state.pt", weights_only=True)
    assert {t.dtype for t in written.values()}.isdisjoint(saved.SIGNED)

    told, tensors = saved.load(str(tmp_path / "state"))
    back = saved.decode(told["batch"], tensors, None)
    assert back["ids"].dtype == value.dtype
    assert (back["ids"] == value).all()
    assert torch.equal(back["x"], torch.ones(2))

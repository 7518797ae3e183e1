"""The extension in a real kernel: a notebook is executed, and its outputs are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

START = """\
%load_ext firstcause
import torch
from torch import nn"""
DATA = """\
torch.manual_seed(0)
%time x = torch.rand(64, 4)
y = x.sum(1, keepdim=True)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)"""
HEALTHY = """\
%%firstcause
for _ in range(20):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
round(float(loss), 1)"""
RAISES = """\
undefined_name"""
NOT_FINITE = """\
%%firstcause --budget 30
weights = x[:, :1] - x[:, :1].min()
for _ in range(5):
    optimizer.zero_grad()
    loss = (torch.log(weights) * model(x)).mean()
    loss.backward()
    optimizer.step()"""


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


def executed(folder: Path, monkeypatch: pytest.MonkeyPatch, *cells: str) -> list[str]:
    """What each cell has shown, its errors among it."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3", allow_errors=True).execute()
    return ["".join(map(_text, cell.outputs)) for cell in notebook.cells]


def _text(output: Any) -> str:
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}\n" + "\n".join(output.traceback)
    return str(output.get("text") or output.data["text/plain"])


@pytest.mark.slow
def test_a_healthy_cell_gets_one_line_and_an_error_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = executed(
        tmp_path, monkeypatch, START, DATA, HEALTHY, RAISES, "%triage", "%%firstcause --unknown\n1",
        "%triage RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", "%unload_ext firstcause", "%triage",
    )  # fmt: skip
    healthy, _, triaged, unknown, memory, _, gone = shown[2:]
    assert "firstcause: 20 steps, loss " in healthy
    assert "every loss and gradient finite" in healthy
    assert "routed" in triaged or "not a PyTorch failure" in triaged
    assert "%%firstcause takes no '--unknown'" in unknown
    assert "tensor-operations-and-memory" in memory
    assert "not found" in gone
    assert not (tmp_path / "firstcause_cells.py").exists()


@pytest.mark.slow
def test_a_cell_that_turns_to_nan_is_diagnosed_by_its_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = executed(tmp_path, monkeypatch, START, RAISES, DATA, NOT_FINITE, "loss.item()")
    assert "log-of-zero at firstcause_cells.py:" in shown[3]
    assert "is line 5 of In [4]" in shown[3]
    # The names that the cell binds are the kernel's.
    assert shown[4].strip() in ("nan", "-inf", "inf")
    script = (tmp_path / "firstcause_cells.py").read_text()
    assert "undefined_name" not in script
    assert "\nx = torch.rand(64, 4)\n" in script


def test_a_cell_that_raises_still_ends_with_its_own_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "firstcause_cells.py").write_text("mine = 1\n")
    shown = executed(tmp_path, monkeypatch, START, DATA, "%%firstcause\nmodel(torch.rand(2, 5))")
    assert "firstcause has not written it" in shown[2]
    assert "RuntimeError: mat1 and mat2 shapes" in shown[2]
    assert "integrations" not in shown[2]
    assert (tmp_path / "firstcause_cells.py").read_text() == "mine = 1\n"

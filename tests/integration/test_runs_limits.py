"""What is left out of a record, by a limit or by wish: said there, said by the diagnosis, and nowhere else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import torch
from recording import firstcause, record, the_run

# Above every value of a weight, of a gradient and of a random state's neighbours, below those of the data.
LEAST_DATUM = 1000.0


def said(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def without_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("without_data")
    assert record(folder, "tied_and_saved", "-q", "--no-data").returncode == 0
    return folder


def test_no_data_keeps_no_value_of_the_data(without_data: Path) -> None:
    run = the_run(without_data)
    texts = [p for p in Path(run.path).rglob("*") if p.suffix in (".json", ".journal")]
    assert len(texts) >= 3
    for path in texts:
        # A datum is written as 1000.something: in decimals, or as the bytes of a float.
        assert b"1000." not in path.read_bytes(), path
    tensors = torch.load(next(Path(run.path).rglob("state.pt")), weights_only=True)
    largest = {k: float(t.double().abs().max()) for k, t in tensors.items() if t.is_floating_point()}
    # The running mean of a norm is the model's own, and near the data by its nature.
    assert {k for k, v in largest.items() if v >= LEAST_DATUM} <= {"module/model/norm.running_mean"}
    assert not [k for k in tensors if k.startswith(("pass", "object", "tensor"))]
    failure = run.failures()[0]
    assert failure["not_saved"]
    assert failure["replay"]["status"] == "withheld"
    assert set(failure["replay"]) == {"status", "exact", "seen", "site", "why", "gradients", "equal"}


def test_the_diagnosis_says_what_it_could_not_establish(without_data: Path) -> None:
    done = firstcause(without_data, "diagnose", "--yes")
    text = said(done.stdout)
    assert done.returncode == 3
    assert "values, elements and ranges could not be established" in text
    assert "made by log at train.py:35" in text
    assert "record it again without --no-data" in text


@pytest.mark.slow
def test_a_checkpoint_needs_no_data(without_data: Path) -> None:
    assert firstcause(without_data, "restore", "-o", "r.pt").returncode == 0
    restored, own = (torch.load(without_data / n, weights_only=True) for n in ("r.pt", "own.pt"))
    assert all(torch.equal(restored["model"][k], v) for k, v in own["model"].items())


def test_messages_that_may_quote_data_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.firstcause]\nno-data = true\n")
    (tmp_path / "train.py").write_text(
        "import torch\nm = torch.nn.Linear(2, 2)\no = torch.optim.SGD(m.parameters(), 0.1)\n"
        "for row in ['7', 'Jane Doe']:\n    o.zero_grad()\n    x = torch.ones(3, 2) * int(row)\n"
        "    m(x).sum().backward()\n    o.step()\n"
    )
    done = firstcause(tmp_path, "run", "-q", sys.executable, "train.py")
    assert done.returncode == 1
    assert "Jane Doe" in done.stderr
    run = Path(the_run(tmp_path).path)
    # Its own text is the program's, and holds what was written into it.
    kept = [p for p in run.rglob("*") if p.is_file() and p.parent.name != "sources"]
    assert [p for p in kept if b"Jane" in p.read_bytes() and b"for row in" not in p.read_bytes()] == []
    assert "ValueError" in the_run(tmp_path).run().symptoms[0].message


LARGE = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(100, 300), torch.nn.Linear(300, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(4):
    batch = torch.rand(8, 100)
    loss = torch.log(model(batch).square().mean() * (step != 2))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("limit", "not_saved", "left_out", "restored"),
    [
        pytest.param("2MB", "", "", "optimizer", marks=pytest.mark.slow),
        pytest.param("200kB", "", "the optimizers' state was not kept", "model", marks=pytest.mark.slow),
        (
            "60kB",
            "only the batch and the random numbers",
            "its parameters (122.4 kB) and optimizers were not kept",
            "",
        ),
        pytest.param(
            "1kB", "it takes more than the 1.0 kB that a snapshot may have", "", "", marks=pytest.mark.slow
        ),
    ],
)
def test_a_large_state_is_kept_in_part_and_that_is_said(
    tmp_path: Path, limit: str, not_saved: str, left_out: str, restored: str
) -> None:
    (tmp_path / "train.py").write_text(LARGE)
    done = firstcause(tmp_path, "run", "--snapshot-size", limit, sys.executable, "train.py")
    assert done.returncode == 0
    run = the_run(tmp_path)
    failure = run.failures()[0]
    assert not_saved in failure["not_saved"]
    assert left_out in failure["left_out"]
    assert bool(failure["not_saved"]) == bool(not_saved)
    assert bool(failure["left_out"]) == bool(left_out)
    # It was replayed on the spot all the same.
    assert failure["replay"]["exact"]
    size = (
        sum(p.stat().st_size for p in Path(run.path, "snapshots").rglob("*.pt"))
        if restored or "batch" in not_saved
        else 0
    )
    assert size < {"2MB": 2e6, "200kB": 2.1e5, "60kB": 7e4, "1kB": 1}[limit]
    out = firstcause(tmp_path, "restore", "-o", "r.pt", "--json", "-")
    assert out.returncode == (0 if restored else 2), out.stderr
    if restored:
        assert bool(json.loads(out.stdout)["optimizers"]) == (restored == "optimizer")
    text = said(firstcause(tmp_path, "diagnose").stdout)
    for part in filter(None, (not_saved, left_out)):
        assert part in text
        assert part in said(done.stderr)

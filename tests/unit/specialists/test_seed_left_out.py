"""A source of chance that nothing seeds: where it is to be seeded, with other seeds in the source and without any."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.schema import Symptom
from firstcause.specialists.checkpointing_and_reproducibility import seed_incomplete
from firstcause.specialists.examination import Examination

SEEDED = "import random\nimport torch\ntorch.manual_seed(3)\n"
MEANT = "torch.use_deterministic_algorithms(True)\n"


@pytest.mark.parametrize(
    ("source", "line", "seed"),
    [
        (SEEDED + MEANT + "x = random.random()\n", 3, "3"),
        # Nothing is seeded at all: what is left is the draw itself.
        ("import random\nimport torch\n" + MEANT + "x = random.random()\n", 4, None),
    ],
)
def test_it_is_mended_where_the_others_are_seeded(
    tmp_path: Path, source: str, line: int, seed: str | None
) -> None:
    (tmp_path / "train.py").write_text(source)
    run: Any = SimpleNamespace(folder=str(tmp_path), command=("python", "train.py"))
    folder: Any = None
    examination = Examination(folder, run, Symptom("invariant", ""), None)
    found = seed_incomplete.facts(examination)
    assert (found["source"], found["line"], found["seed"]) == ("python", line, seed)

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.source.project import Project
from firstcause.source.seeding import drawn, means_it, seeded


def project(text: str, tmp_path: Path) -> Project:
    (tmp_path / "train.py").write_text(text)
    return Project.of_script(str(tmp_path / "train.py"))


def test_seeds_and_draws_are_told_by_what_the_names_stand_for(tmp_path: Path) -> None:
    own = project(
        "import random as chance\nimport numpy as np\nfrom numpy.random import default_rng, shuffle\nimport torch\n"
        "torch.manual_seed(3)\nchance.seed(3)\n"
        "a = chance.random()\nb = np.random.rand(3)\nc = default_rng()\nd = default_rng(4)\nshuffle(b)\n"
        "class random:\n    pass\ne = random()\n",
        tmp_path,
    )

    assert [(c.source, c.call.lineno, c.argument) for c in seeded(own)] == [
        ("torch", 5, "3"),
        ("python", 6, "3"),
    ]
    assert [(c.source, c.call.lineno) for c in drawn(own)] == [
        ("python", 7),
        ("numpy", 8),
        ("generators", 9),
        ("numpy", 11),
    ]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("import torch\ntorch.manual_seed(0)\n", False),
        ("import torch, random\ntorch.manual_seed(0)\nrandom.seed(0)\n", True),
        ("import torch\ntorch.use_deterministic_algorithms(True)\n", True),
        ("import torch\ntorch.backends.cudnn.deterministic = True\n", True),
        ("from lightning import seed_everything\nseed_everything(1)\n", True),
        ("from transformers import enable_full_determinism\nenable_full_determinism(1)\n", True),
        ("import torch\ng = torch.Generator().manual_seed(0)\n", False),
    ],
)
def test_one_seed_alone_is_no_wish_for_equal_runs(text: str, meant: bool, tmp_path: Path) -> None:
    assert means_it(project(text, tmp_path)) is meant

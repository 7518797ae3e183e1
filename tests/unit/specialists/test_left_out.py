"""What no optimizer holds: excused by what it holds first, and by names of the source only where that tells nothing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firstcause.lab.counterfactual import Ran
from firstcause.source import Project
from firstcause.specialists.mixed_precision_and_optimization import params_missing_from_optimizer as missing
from firstcause.specialists.module_design_patterns import unregistered_submodules as unregistered


def seen(cause: Any, values: list[str], source: str, folder: Path, container: list[str] | None) -> bool:
    (folder / "train.py").write_text(source)
    examination = SimpleNamespace(project=Project.of_script(str(folder / "train.py"), str(folder)))
    parts = [
        {
            "name": f"part{i}.weight",
            "class": "Linear",
            "root": "Net",
            "inside": None,
            "container": container,
            "values": v,
        }
        for i, v in enumerate(values)
    ]
    facts = {"missing": parts, "missing_count": len(parts), "trained_count": 4, "of_no_module": 0}
    return cause.seen(Ran("audit", "program", facts=facts), examination) is not None


@pytest.mark.parametrize(
    ("values", "source", "told"),
    [
        (["unknown"], "decoder = 1", True),
        (["unknown"], "pretrain()", False),
        (["fresh", "unknown"], "pretrain()", True),
        (["fresh"], "reservoir = 1", False),
        (["kept"], "decoder = 1", False),
        (["kept", "fresh"], "decoder = 1", True),
    ],
)
def test_a_part_without_an_optimizer(values: list[str], source: str, told: bool, tmp_path: Path) -> None:
    assert seen(missing, values, source, tmp_path, None) == told


@pytest.mark.parametrize(
    ("values", "source", "told"),
    [
        (["unknown"], "vgg = 1", False),
        (["fresh"], "vgg = 1", True),
        (["kept"], "layers = 1", True),
        (["fresh"], "random_features = 1", False),
    ],
)
def test_a_part_that_the_model_has_not_registered(
    values: list[str], source: str, told: bool, tmp_path: Path
) -> None:
    assert seen(unregistered, values, source, tmp_path, ["Net", "layers"]) == told

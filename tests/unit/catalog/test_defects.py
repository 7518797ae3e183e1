from __future__ import annotations

import pytest

from firstcause.catalog.defects import known_defects, load_defects


@pytest.mark.parametrize(
    ("slug", "inside", "outside"),
    [
        ("torch-adam-step-on-cuda", ["1.12", "1.12.0", "1.12.0+cu113"], ["1.12.1", "1.11.0", "2.0", "git"]),
        ("torch-conv3d-bfloat16-memory", ["2.9.0", "2.9.1+cu128"], ["2.8.0", "2.10", "2.10.0+cpu"]),
        ("torch-weights-only-default", ["2.6", "2.13.0+cpu"], ["2.5.1", ""]),
        ("encodec-expired-codes", ["0.1.1"], ["unknown"]),
    ],
)
def test_versions_within_bounds(slug: str, inside: list[str], outside: list[str]) -> None:
    defect = load_defects()[slug]
    assert [v for v in inside if not defect.concerns(v)] == []
    assert [v for v in outside if defect.concerns(v)] == []


def test_known_defects_of_an_environment() -> None:
    found = known_defects(
        {"torch": "2.9.1+cu128", "nvidia-cudnn-cu12": "9.10.2", "numpy": "2.4.6", "Transformers": "4.45"}
    )
    slugs = {d.slug for d in found}
    assert {
        "torch-conv3d-bfloat16-memory",
        "cudnn-conv3d-bfloat16-wrong",
        "transformers-accumulated-loss",
    } <= slugs
    assert "torch-numpy-2" not in slugs
    assert known_defects({"no-such-library": "1.0"}) == []


def test_there_are_defects_of_several_libraries() -> None:
    assert len(load_defects()) >= 15
    assert len({d.library for d in load_defects().values()}) >= 5

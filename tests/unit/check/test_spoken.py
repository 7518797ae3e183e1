"""Wishes that stand in the project's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.check.brief import Text
from firstcause.check.pipeline import check

TRAIN = """
import torch
from transformers import TrainingArguments

{comment}
args = TrainingArguments(output_dir="out", learning_rate=1e-3, num_train_epochs=3, seed=1)
"""


def slugs(folder: Path, comment: str, *briefs: str, requirements: str = "") -> list[str]:
    (folder / "train.py").write_text(TRAIN.format(comment=comment))
    if requirements:
        (folder / "requirements.txt").write_text(requirements)
    report = check([str(folder / "train.py")], str(folder), [Text(b) for b in briefs], jobs=1)
    return [f.slug for f in report.findings]


@pytest.mark.parametrize(
    "comment",
    [
        "# The client wants a learning rate of 2e-4.",
        "# Requirements: learning rate 2e-4\n# and nothing else.",
        "# Wishes (Yusuf):\n#  - a learning rate of 2e-4",
        "# Wishes from Anna:\n#  - lr 2e-4",
    ],
)
def test_a_comment_that_says_whose_wish_it_is_counts(tmp_path: Path, comment: str) -> None:
    assert slugs(tmp_path, comment) == ["learning-rate-mismatch"]


@pytest.mark.parametrize(
    "comment",
    [
        "# the learning rate must be 2e-4 or lower for larger models",
        "# we need a learning rate of 2e-4 here?",
        "# lr 2e-4",
    ],
)
def test_the_author_s_talk_about_the_code_does_not(tmp_path: Path, comment: str) -> None:
    assert slugs(tmp_path, comment) == []


def test_the_brief_wins_over_a_comment(tmp_path: Path) -> None:
    found = slugs(tmp_path, "# The client wants a learning rate of 2e-4.", "Use a learning rate of 1e-3.")
    assert "learning-rate-mismatch" not in found


def test_a_comment_of_a_requirement_file_counts(tmp_path: Path) -> None:
    found = slugs(tmp_path, "", requirements="torch\n# requested by the client: 5 epochs\n")
    assert found == ["epochs-mismatch"]


DOCSTRING = '"""Sorts leaves.\n\nTODO please write:\n - learning rate 2e-4\n - 3 epochs\n"""'
LIST = "# TODO leaves\n#   folder of images\n#   learning rate 2e-4\n#   3 epochs"
SHORT = "# TODO: a learning rate of 2e-4?"


@pytest.mark.parametrize(("top", "found"), [(DOCSTRING, True), (LIST, True), (SHORT, False)])
def test_what_a_file_asks_for_at_its_top_counts(tmp_path: Path, top: str, found: bool) -> None:
    (tmp_path / "train.py").write_text(top + TRAIN.format(comment=""))
    briefs = [Text("Fill in train.py. What I want stands in the comment at its top.")]
    report = check([str(tmp_path / "train.py")], str(tmp_path), briefs, jobs=1)
    assert ["learning-rate-mismatch" in f.slug for f in report.findings if f.category == "deviation"] == [
        True
    ] * found
    # Without a brief that points to it, it is the author's own list.
    assert list(check([str(tmp_path / "train.py")], str(tmp_path), [], jobs=1).findings) == []

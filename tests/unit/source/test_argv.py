"""What a program finds in sys.argv, by the launches that start it."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.check.brief.text import Text
from firstcause.check.pipeline import check

READS = """
import sys
import yaml
from transformers import TrainingArguments

{chosen}
with open(path) as file:
    settings = yaml.safe_load(file)
args = TrainingArguments(output_dir="out", learning_rate=settings["lr"])
"""
CHOICES = {
    "expression": 'path = sys.argv[1] if len(sys.argv) > 1 else "plain.yaml"',
    "the other way round": 'path = "plain.yaml" if len(sys.argv) < 2 else sys.argv[1]',
    "negated": 'path = "plain.yaml" if not len(sys.argv) > 1 else sys.argv[1]',
    "slice": 'path = sys.argv[1] if sys.argv[1:] else "plain.yaml"',
    "statement": 'path = "plain.yaml"\nif len(sys.argv) > 1:\n    path = sys.argv[1]',
    "early": 'if len(sys.argv) == 1:\n    path = "plain.yaml"\nelse:\n    path = sys.argv[1]',
}
PLACED = """
import argparse
import yaml
from transformers import TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("path")
parser.add_argument("--fast", action="store_true")
words = parser.parse_args()
settings = yaml.safe_load(open(words.path))
args = TrainingArguments(output_dir=words.out, learning_rate=settings["lr"])
"""


def rates(folder: Path) -> list[tuple[str, str]]:
    told = [Text("Train with a learning rate of 3e-4.", "brief.md", "brief", 1)]
    report = check([str(folder)], str(folder), told, jobs=1)
    return [(f.site.file, f.got) for f in report.findings if f.slug == "learning-rate-mismatch"]


def written(folder: Path, program: str, launch: str = "") -> Path:
    (folder / "train.py").write_text(program)
    (folder / "plain.yaml").write_text("lr: 0.1\n")
    (folder / "other.yaml").write_text("lr: 0.2\n")
    if launch:
        (folder / "run.sh").write_text(launch + "\n")
    return folder


@pytest.mark.parametrize("chosen", CHOICES.values(), ids=CHOICES)
def test_without_a_launch_there_are_no_words(tmp_path: Path, chosen: str) -> None:
    assert rates(written(tmp_path, READS.format(chosen=chosen))) == [("plain.yaml", "0.1")]


@pytest.mark.parametrize("chosen", CHOICES.values(), ids=CHOICES)
def test_a_launch_gives_its_words(tmp_path: Path, chosen: str) -> None:
    program = READS.format(chosen=chosen)
    assert rates(written(tmp_path, program, "python train.py other.yaml")) == [("other.yaml", "0.2")]


def test_launches_that_differ_leave_both_open(tmp_path: Path) -> None:
    program = READS.format(chosen=CHOICES["expression"])
    launch = "python train.py other.yaml\npython train.py"
    # Neither is sure, so that neither is accused.
    assert rates(written(tmp_path, program, launch)) in ([], [("plain.yaml", "0.1"), ("other.yaml", "0.2")])


def test_an_option_told_by_its_place(tmp_path: Path) -> None:
    launch = "python train.py out other.yaml --fast"
    assert rates(written(tmp_path, PLACED, launch)) == [("other.yaml", "0.2")]

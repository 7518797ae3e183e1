"""The line to fix where a library's own code makes the part that is too small, and calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstcause.fix.apply import apply_diff
from firstcause.fix.propose import propose
from firstcause.fix.site import line_to_fix
from firstcause.source import Project

HEAD = "from transformers import BertConfig, BertForSequenceClassification as B, TrainingArguments, Trainer\n"
TRAIN = 'Trainer(model=model, args=TrainingArguments("out", num_labels=9)).train()\n'
EMBEDDING: dict[str, Any] = {
    "num_embeddings": 20,
    "ids_min": 0,
    "ids_max": 21,
    "offenders": 1,
    "ids_count": 40,
}
TARGET = {"n_classes": 2, "target_min": 0, "target_max": 2, "targets_count": 8}


def project(folder: Path, program: str) -> Project:
    path = folder / "train.py"
    path.write_text(program)
    return Project.of_script(str(path), str(folder))


def line(folder: Path, cause: str, facts: dict[str, Any], program: str, failing: int) -> int | None:
    given = facts | {"file": str(folder / "train.py"), "line": failing}
    site = line_to_fix(cause, given, project(folder, program))
    return site.line if site is not None else None


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        ("config = BertConfig(\n    vocab_size=20,\n)\nmodel = B(config)\n", 3),
        ('model = B.from_pretrained("a/name")\n', 2),
    ],
)
def test_a_vocabulary_is_sized_where_the_library_is_told(tmp_path: Path, program: str, wanted: int) -> None:
    text = HEAD + program + TRAIN
    facts = EMBEDDING | {"module_path": "model.bert.embeddings.word_embeddings"}
    assert line(tmp_path, "embedding-index-out-of-range", facts, text, text.count("\n")) == wanted


def test_a_table_of_positions_is_no_vocabulary(tmp_path: Path) -> None:
    text = HEAD + "model = B(BertConfig(vocab_size=20))\n" + TRAIN
    facts = EMBEDDING | {"module_path": "model.bert.embeddings.position_embeddings"}
    assert line(tmp_path, "embedding-index-out-of-range", facts, text, 3) != 2


def test_a_head_of_the_default_is_told_its_classes(tmp_path: Path) -> None:
    text = HEAD + "model = B(BertConfig(vocab_size=20))\n" + TRAIN
    assert line(tmp_path, "target-out-of-range", TARGET, text, 3) == 2
    given = TARGET | {"file": str(tmp_path / "train.py"), "line": 3}
    fix = propose("target-out-of-range", given, project(tmp_path, text), str(tmp_path))
    assert fix is not None
    apply_diff(fix.diff, str(tmp_path))
    changed = text.replace("vocab_size=20", "vocab_size=20, num_labels=3")
    assert (tmp_path / "train.py").read_text() == changed


def test_two_models_leave_it_open(tmp_path: Path) -> None:
    text = HEAD + "model = B(BertConfig())\nother = B(BertConfig())\n" + TRAIN
    assert line(tmp_path, "target-out-of-range", TARGET, text, 4) not in (2, 3)


def test_targets_are_ignored_where_they_are_set(tmp_path: Path) -> None:
    text = HEAD + "def row(ids, n):\n    ids[:n] = -100\n    return ids\nmodel = B(BertConfig())\n" + TRAIN
    assert line(tmp_path, "all-targets-ignored", {"ignore_index": -100, "count": 4}, text, 6) == 3


def test_a_number_from_the_command_line_is_told_by_its_option(tmp_path: Path) -> None:
    text = (
        "import argparse, timm\n"
        "parser = argparse.ArgumentParser()\n"
        'parser.add_argument("--num-classes", type=int, default=None)\n'
        "args = parser.parse_args()\n"
        'model = timm.create_model("resnet18", num_classes=args.num_classes)\n'
    )
    given = TARGET | {"file": str(tmp_path / "train.py"), "line": 5}

    fix = propose("target-out-of-range", given, project(tmp_path, text), str(tmp_path))

    assert fix is not None
    assert fix.summary.startswith("Give the layer 3 outputs instead of 2")
    assert fix.summary.endswith("`--num-classes 3` on the command line does it without a patch.")

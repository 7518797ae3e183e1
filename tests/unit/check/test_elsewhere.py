"""Code that lies elsewhere than the user is: its own folder is where its programs start, and paths are written whole."""

from __future__ import annotations

from pathlib import Path

from firstcause.check.brief.text import Text
from firstcause.check.pipeline import check

PROGRAM = """
import json
from transformers import TrainingArguments

settings = json.load(open("settings.json"))
args = TrainingArguments(output_dir="out", learning_rate=settings["lr"])
"""


def test_a_file_that_code_elsewhere_opens_is_found_beside_it(tmp_path: Path) -> None:
    home, code = tmp_path / "home", tmp_path / "code"
    for folder in (home, code):
        folder.mkdir()
    (code / "train.py").write_text(PROGRAM)
    (code / "settings.json").write_text('{"lr": 0.1}\n')
    told = [Text("Train with a learning rate of 3e-4.", "brief.md", "brief", 1)]
    found = {}
    for root in (home, code):
        report = check([str(code)], str(root), told, jobs=1)
        (one,) = (f for f in report.findings if f.slug == "learning-rate-mismatch")
        found[root] = one.site.file
    assert found == {home: str(code / "settings.json"), code: "settings.json"}

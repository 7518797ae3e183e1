"""What is installed is not the user's own, by either name that Python's builders give its folder."""

from __future__ import annotations

import pytest

from firstcause.installed import is_installed
from firstcause.lab.places import is_user_file
from firstcause.record.observe.finder import Finder
from firstcause.record.observe.session import Session
from firstcause.record.supervise.conclude import site_of

PATHS = (
    ("/venv/lib/python3.12/site-packages/torch/nn/x.py", True),
    ("/usr/lib/python3/dist-packages/torch/__init__.py", True),
    ("/usr/local/lib/python3.12/dist-packages/transformers/trainer.py", True),
    ("/home/a/pytorch/train.py", False),
)


@pytest.mark.parametrize(("path", "installed"), PATHS)
def test_both_folders_are_known(path: str, installed: bool) -> None:
    assert is_installed(path) is installed
    assert is_user_file(path) is not installed
    assert Finder(Session("/nowhere"), {}).is_project_file(path) is not installed
    frames = [{"file": path, "line": 3, "function": "f", "text": ""}]
    assert (site_of(frames, "/home/a") is None) is installed

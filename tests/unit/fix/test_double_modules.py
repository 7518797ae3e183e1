"""The line at which a layer's parameters are turned to float64, and the patch that leaves them alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstcause.fix.apply import apply_diff
from firstcause.fix.propose import propose
from firstcause.fix.site import line_to_fix
from firstcause.source import Project

CAUSE = "dtype-double-vs-float"
NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 16)
        self.head = HEAD

    def forward(self, x):
        return self.head(self.body(x))


net = Net()
AFTER
print(net(torch.randn(4, 8)))
"""
FAILING = NET.splitlines().index("        return self.head(self.body(x))") + 1
HEAD = NET.splitlines().index("        self.head = HEAD") + 1
AFTER = NET.splitlines().index("AFTER") + 1


def facts(folder: Path) -> dict[str, Any]:
    birth = {
        "kind": "state",
        "path": "head.weight",
        "class_name": "Linear",
        "name": "weight",
        "names": [("Linear", "weight"), ("Linear", "bias")],
        "holders": [("Net", "head")],
    }
    return {"file": str(folder / "train.py"), "line": FAILING, "birth": birth, "frames": []}


@pytest.mark.parametrize(
    ("head", "after", "line", "patched"),
    [
        ("nn.Linear(16, 2).double()", "", HEAD, "nn.Linear(16, 2)"),
        ("nn.Linear(16, 2).to(torch.float64)", "", HEAD, "nn.Linear(16, 2)"),
        ("nn.Linear(16, 2).to(dtype=torch.double)", "", HEAD, "nn.Linear(16, 2)"),
        ("nn.Linear(16, 2, dtype=torch.float64)", "", HEAD, None),
        ("nn.Linear(16, 2)", "net.head.double()", None, None),
        ("nn.Linear(16, 2)", "x = torch.randn(2).double()", None, None),
    ],
)
def test_where_a_module_becomes_double(
    head: str, after: str, line: int | None, patched: str | None, tmp_path: Path
) -> None:
    text = NET.replace("HEAD", head).replace("AFTER", after)
    path = tmp_path / "train.py"
    path.write_text(text)
    project = Project.of_script(str(path), str(tmp_path))
    site = line_to_fix(CAUSE, facts(tmp_path), project)
    assert (site.line if site is not None else None) == line
    fix = propose(CAUSE, facts(tmp_path), project, str(tmp_path))
    assert (fix is not None) is (patched is not None)
    if fix is not None:
        apply_diff(fix.diff, str(tmp_path))
        assert path.read_text() == NET.replace("HEAD", str(patched)).replace("AFTER", after)
        assert "float32" in fix.summary

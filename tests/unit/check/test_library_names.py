"""The names by which calls of libraries are known, and those that rules and facts ask for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import firstcause.check
from firstcause.check.library_names import shortest

ROOT = Path(firstcause.check.__file__).parent
LIBRARIES = frozenset(
    {
        "accelerate",
        "lightning",
        "peft",
        "pytorch_lightning",
        "sklearn",
        "torch",
        "transformers",
        "trl",
        "vllm",
    }
)


@pytest.mark.parametrize("folder", ["facts", "rules", "."])
def test_names_that_are_asked_for_are_written_as_calls_bear_them(folder: str) -> None:
    """A call is known by its library's shortest name: a longer one alone would never be met."""
    missed = []
    for path in (ROOT / folder).glob("*.py" if folder == "." else "**/*.py"):
        written = {n.value for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Constant)}
        dotted = {w for w in written if isinstance(w, str) and w.partition(".")[0] in LIBRARIES}
        whole = {
            w for w in dotted if w.replace(".", "").isidentifier() and w.rpartition(".")[2][:1].isupper()
        }
        missed += [(path.name, w) for w in whole if shortest(w) != w and shortest(w) not in written]
    assert missed == []

"""What the places bring with them when they are loaded: no torch, and a word where a package is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

LOADS = """\
import sys
import {module}
print(sorted({{"torch", "numpy", "IPython", "pytest", "pygls"}} & set(sys.modules)))
"""


def run(text: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", text, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("module", "brings"),
    [
        ("firstcause", []),
        ("firstcause.integrations.testing.plugin", ["pytest"]),
        ("firstcause.integrations.testing.diagnosing", ["pytest"]),
        ("firstcause.integrations.notebook.extension", []),
        ("firstcause.integrations.lsp.documents", []),
        ("firstcause.integrations.lsp.server", ["pygls"]),
    ],
)
def test_a_place_brings_its_own_library_alone(module: str, brings: list[str]) -> None:
    done = run(LOADS.format(module=module))
    assert (done.stdout.strip(), done.stderr) == (str(brings), "")


def test_without_the_extra_the_server_says_what_to_install() -> None:
    text = (
        "import sys; sys.modules['pygls'] = None\n"
        "import importlib.util as u; known = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'pygls' else known(name, *a)\n"
        "from firstcause.cli.main import main; sys.exit(main(['lsp']))\n"
    )
    done = run(text)
    assert done.returncode == 2
    assert "needs the package pygls" in done.stderr
    assert "pip install 'firstcause[lsp]'" in done.stderr

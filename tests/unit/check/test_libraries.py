from __future__ import annotations

import importlib

import pytest

from firstcause.check.brief import Text
from firstcause.check.libraries import versions
from firstcause.check.signatures import argument_standing, last_with
from firstcause.source.project import Project


def known(folder, files, brief=""):
    for name, text in {"train.py": "", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return versions(Project(str(folder), ["train.py"]), [Text(brief)])


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"requirements.txt": "transformers==4.40.1  # pinned\n"}, "4.40.1"),
        ({"requirements-gpu.txt": "-r x.txt\nTransformers[torch] >= 4.40, < 5 ; python_version > '3.9'\n"}, "4.40.0"),
        ({"requirements.txt": "transformers<5\n"}, "4.999.0"),
        ({"requirements.txt": "transformers~=4.40\n"}, "4.40.0"),
        ({"pyproject.toml": '[project]\ndependencies = ["torch", "transformers==4.41.0"]\n'}, "4.41.0"),
        ({"pyproject.toml": '[tool.poetry.dependencies]\ntransformers = "^4.38"\n'}, "4.38.0"),
        ({"environment.yml": "dependencies:\n  - python=3.10\n  - pip:\n    - transformers==4.30.2\n"}, "4.30.2"),
        ({"environment.yml": "dependencies:\n  - conda-forge::transformers=4.31\n"}, "4.31.0"),
        ({"uv.lock": '[[package]]\nname = "transformers"\nversion = "4.44.2"\n', "requirements.txt": "transformers>=4\n"}, "4.44.2"),
        ({"train.py": "# pip install transformers==4.29.0 torch\n"}, "4.29.0"),
        ({".venv/pyvenv.cfg": "", ".venv/lib/python3.11/site-packages/transformers-4.20.0.dist-info/METADATA": ""}, "4.20.0"),
        (
            {
                ".venv/pyvenv.cfg": "",
                ".venv/lib/python3.11/site-packages/transformers-4.20.0.dist-info/METADATA": "",
                "requirements.txt": "transformers>=4.40\n",
            },
            None,
        ),
    ],
)  # fmt: skip
def test_the_version_of_a_library(tmp_path, monkeypatch, files, wanted):
    # Read before the path is emptied: environment.yml is YAML.
    importlib.import_module("yaml")
    monkeypatch.setattr("sys.path", [])
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert known(tmp_path, files).get("transformers") == wanted


@pytest.mark.parametrize(
    ("brief", "wanted"),
    [
        (
            "Environment: transformers 5.24, datasets 5.2, one GPU.",
            {"transformers": "5.24.0", "datasets": "5.2.0"},
        ),
        ("We are on PyTorch 2.3.1 and trl==0.25.0.", {"torch": "2.3.1", "trl": "0.25.0"}),
        ("torch v2.13", {"torch": "2.13.0"}),
        ("peft with dropout 0.1, lr 2.5 times, torch only", {}),
    ],
)
def test_versions_that_the_user_says(tmp_path, monkeypatch, brief, wanted):
    monkeypatch.setattr("sys.path", [])
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    assert known(tmp_path, {}, brief) == wanted


def test_a_pin_beats_the_users_words_and_they_beat_a_range(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [])
    assert known(tmp_path, {"requirements.txt": "trl==0.9.0\npeft<1\n"}, "trl 0.25, peft 0.18") == {
        "trl": "0.9.0",
        "peft": "0.18.0",
    }


@pytest.mark.parametrize(
    ("own", "base", "standing"),
    [("5.1.2", "5.24.0", "removed"), ("6.2.0", "5.24.0", "taken"), ("5.1.2", "4.57.1", "taken")],
)
def test_an_argument_that_a_class_has_of_its_own_again(own: str, base: str, standing: str) -> None:
    """transformers 5 has lost warmup_ratio; sentence-transformers has it of its own since 5.4."""
    name = "SentenceTransformerTrainingArguments"
    versions = {"sentence-transformers": own, "transformers": base}
    assert argument_standing("sentence_transformers", name, "warmup_ratio", versions) == standing
    assert "sentence_transformers" not in last_with("sentence_transformers", name, "warmup_ratio")

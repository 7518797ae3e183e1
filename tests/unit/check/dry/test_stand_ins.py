"""What is replaced in a dry run does what the real one does, as far as a program can tell."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.unit.check.dry.dry_folder import told_of, written
from tests.unit.check.dry.stand_in_programs import HEALTHY, REFUSED


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict]]:
    root = written(tmp_path_factory.mktemp("dry"), HEALTHY | REFUSED)
    header = b'{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'
    content = len(header).to_bytes(8, "little") + header + bytes(48)
    (root / "safetensors" / "real.safetensors").write_bytes(content)
    told = told_of(root)
    left = {p.name for name in HEALTHY | REFUSED for p in (root / name).iterdir()}
    assert left == {"train.py", "real.safetensors"}
    return told


@pytest.mark.parametrize("name", HEALTHY)
def test_a_right_program_comes_to_its_end(told, name: str) -> None:
    assert [e for e in told[name] if e["kind"] == "finding"] == []
    assert told[name][-1]["outcome"] == "finished", told[name]


@pytest.mark.parametrize("name", REFUSED)
def test_what_weights_only_refuses_is_refused_at_its_line(told, name: str) -> None:
    end = told[name][-1]
    assert end["place"][1] == len(REFUSED[name].splitlines()), end
    assert end["why"].startswith("it raises UnpicklingError: Weights only load failed")
    assert "Unsupported" in end["why"]
    assert "firstcause" not in end["why"]


def test_a_relative_name_of_a_compiled_library_is_not_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    from firstcause.check.dry.child.session import Session

    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    session = Session(str(tmp_path), 1, 1.0)
    owned = ["train.py", str(tmp_path / "data.py")]
    assert [f for f in (*owned, "pyarrow/error.pxi", "<string>") if session.owns(f)] == owned


def test_stubs_are_looked_for_without_another_python() -> None:
    pytest.importorskip("torch")
    from firstcause.check.dry.child.libraries import _stubs

    module = SimpleNamespace(get_search_context=lambda **given: given)
    _stubs(module)
    assert module.get_search_context()["search_path"]
    assert module.get_search_context(search_path=[]) == {"search_path": []}
    assert module.get_search_context(python_executable="python3") == {"python_executable": "python3"}


@pytest.mark.parametrize(
    ("given", "epochs", "steps"),
    [
        ({}, 3, None),
        ({"max_epochs": None}, 3, None),
        ({"max_epochs": -1, "max_steps": 5000}, 3, 6),
        ({"max_epochs": 2, "max_steps": -1}, 2, -1),
        ({"max_epochs": 100}, 3, None),
    ],
)
def test_a_trainer_comes_to_an_end(given: dict, epochs: int, steps: int | None) -> None:
    pytest.importorskip("torch")
    from firstcause.check.dry.child.libraries import _trainer

    class Trainer:
        def __init__(self, **options: object) -> None:
            self.options = options

    _trainer(SimpleNamespace(Trainer=Trainer))
    options = Trainer(**given).options
    assert (options["max_epochs"], options.get("max_steps")) == (epochs, steps)

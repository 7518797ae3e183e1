"""[tool.firstcause]: what is read, from where, and what is refused with the file's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.errors import InputError
from firstcause.record.settings import Settings, read, size


def write(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)


def test_the_nearest_file_that_has_settings_counts(tmp_path: Path) -> None:
    write(
        tmp_path, "[tool.firstcause]\nkeep-runs = 3\nkeep-size = '500MB'\nno-data = true\non-nan = 'stop'\n"
    )
    write(tmp_path / "a", "[project]\nname = 'x'\n")
    assert read(str(tmp_path / "a")) == Settings(3, 500_000_000, Settings().snapshot_size, True, "stop")
    write(tmp_path / "a" / "b", "[tool.firstcause]\nsnapshot-size = 1024\n")
    assert read(str(tmp_path / "a" / "b")) == Settings(snapshot_size=1024)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("keep-run = 3", "none of keep-runs"),
        ("keep_runs = 3", "none of keep-runs"),
        ("keep-runs = 0", "must be a number from 1"),
        ("keep-runs = true", "must be a number from 1"),
        ("keep-size = 'much'", "no size"),
        ("no-data = 'yes'", "must be true or false"),
        ("on-nan = 'explode'", "must be one of continue, stop, pause"),
    ],
)
def test_what_is_no_setting_is_refused(tmp_path: Path, line: str, said: str) -> None:
    write(tmp_path, f"[tool.firstcause]\n{line}\n")
    with pytest.raises(InputError, match=said) as raised:
        read(str(tmp_path))
    assert "pyproject.toml" in raised.value.message


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    write(tmp_path, "[tool.firstcause\n")
    with pytest.raises(InputError, match="cannot be read") as raised:
        read(str(tmp_path))
    assert raised.value.slug == "settings-unreadable"


@pytest.mark.parametrize(
    ("text", "count"), [("12", 12), ("1.5kB", 1500), ("2 GiB", 2 << 30), ("3MB", 3_000_000)]
)
def test_sizes(text: str, count: int) -> None:
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "GB", "-1", "1XB", "1e9", "nan"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="no size"):
        size(text)

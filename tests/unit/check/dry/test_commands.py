"""Which programs are run dry, and with what."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.check.dry.commands import commands
from firstcause.errors import InputError

TRAIN = "import model\nfor step in range(3):\n    print(step)\n"


def written(folder: Path, **texts: str) -> list[str]:
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(text)
    return [str(p) for p in sorted(folder.iterdir()) if p.suffix == ".py"]


def shown(folder: Path, files: list[str], given: str = "") -> list[tuple[str, tuple[str, ...], bool]]:
    return [(Path(c.script).name, c.arguments, c.ranks) for c in commands(str(folder), files, given)]


def test_scripts_that_start_something_and_are_imported_by_none(tmp_path: Path) -> None:
    files = written(
        tmp_path, train__py=TRAIN, model__py="class Net:\n    pass\n", test_it__py="for i in range(3): pass\n"
    )
    assert shown(tmp_path, files) == [("train.py", (), False)]


def test_the_launch_line_beside_it_gives_the_arguments(tmp_path: Path) -> None:
    files = written(
        tmp_path,
        train__py=TRAIN,
        run__sh="set -e\ntorchrun --nproc_per_node=2 train.py \\\n  --lr 0.1 # fast\n",
    )
    assert shown(tmp_path, files) == [("train.py", ("--lr", "0.1"), True)]


def test_a_line_with_variables_of_the_shell_is_not_guessed_at(tmp_path: Path) -> None:
    files = written(tmp_path, train__py=TRAIN, run__sh="python train.py --lr $LR\n")
    assert shown(tmp_path, files) == [("train.py", (), False)]


@pytest.mark.parametrize(
    ("given", "ranks"),
    [
        ("python train.py a", False),
        ("CUDA_VISIBLE_DEVICES=0 python3.11 train.py a", False),
        ("python -m torch.distributed.run --standalone train.py a", True),
        ("accelerate launch train.py a", False),
        ("accelerate launch --multi_gpu train.py a", True),
    ],
)
def test_a_given_command(tmp_path: Path, given: str, ranks: bool) -> None:
    files = written(tmp_path, train__py=TRAIN)
    assert shown(tmp_path, files, given) == [("train.py", ("a",), ranks)]


@pytest.mark.parametrize("given", ["rm -rf /", "python missing.py", "python -c 'print(1)'", "'"])
def test_a_command_that_starts_no_script_is_refused(tmp_path: Path, given: str) -> None:
    with pytest.raises(InputError) as refused:
        commands(str(tmp_path), [], given)
    assert refused.value.slug == "dry-command"

from __future__ import annotations

import argparse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstcause.cli.command import parse_before_command


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="firstcause run", allow_abbrev=False)
    made.add_argument("-o", "--output")
    made.add_argument("--json")
    made.add_argument("-q", "--quiet", action="store_true")
    made.add_argument("command", nargs=argparse.REMAINDER)
    return made


@pytest.mark.parametrize(
    ("words", "output", "quiet", "command"),
    [
        ("-o X python train.py -o Y", "X", False, "python train.py -o Y"),
        ("-oX -q python -q", "X", True, "python -q"),
        ("--output=X python --json a", "X", False, "python --json a"),
        ("--output X --quiet ./train.sh", "X", True, "./train.sh"),
        ("python -m pkg.train --lr -1", None, False, "python -m pkg.train --lr -1"),
        ("-- python train.py -- x", None, False, "python train.py -- x"),
        ("-o X -- -odd-name -o Y", "X", False, "-odd-name -o Y"),
        ("-q python --help", None, True, "python --help"),
        ("-o -q python", "-q", False, "python"),
        ("- x", None, False, "- x"),
    ],
)
def test_options_end_where_the_command_begins(
    words: str, output: str | None, quiet: bool, command: str
) -> None:
    if words.startswith("-o -q"):
        # argparse takes no option for a value; "-o=-q" would be the way to say it.
        with pytest.raises(SystemExit):
            parse_before_command(parser(), words.split())
        return
    args = parse_before_command(parser(), words.split())
    assert (args.output, args.quiet, args.command) == (output, quiet, command.split())


@given(st.lists(st.text(max_size=5), max_size=8))
def test_every_word_of_the_command_is_kept(rest: list[str]) -> None:
    args = parse_before_command(parser(), ["-o", "X", "-q", "python", *rest])
    assert args.command == ["python", *rest]
    assert (args.output, args.quiet, args.json) == ("X", True, None)


@pytest.mark.parametrize(
    "words", [[], ["-q"], ["-o", "X"], ["--"], ["-o"], ["--unknown", "python"], ["--outp", "X", "python"]]
)
def test_missing_command_and_unknown_options_are_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as raised:
        parse_before_command(parser(), words)
    assert raised.value.code == 2
    assert "usage: firstcause run [options] COMMAND" in capsys.readouterr().err

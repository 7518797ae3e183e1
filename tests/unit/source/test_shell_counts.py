"""Words of a shell script that stand for several, or for a number that the script counts."""

from __future__ import annotations

import pytest

from firstcause.source.shell import commands, text_of


def words(text: str) -> list[str]:
    return [text_of(word) for word in list(commands(text))[-1][1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('python t.py --warm 200 "$@"', ["python", "t.py", "--warm", "200"]),
        ("python t.py c.json $*", ["python", "t.py", "c.json"]),
        ('python t.py --lr 1e-4 "${@:2}"', ["python", "t.py", "--lr", "1e-4"]),
        ("python t.py --n ${1:-7} --w ${FOO%.*}", ["python", "t.py", "--n", "7", "--w", "{}"]),
        ('A=(--lr 3e-4\n  --seed 3)\nA+=(--bf16)\npython t.py "${A[@]}"', ["python", "t.py", "--lr", "3e-4", "--seed", "3", "--bf16"]),
        ("if true; then\n  declare -a A=(--lr 1)\n  python t.py ${A[@]}", ["python", "t.py", "--lr", "1"]),
        ('python t.py "${NO[@]}"', ["python", "t.py", "{}"]),
        ("python t.py --out runs/$(date +%F)", ["python", "t.py", "--out", "runs/{}"]),
        ('cd "$(dirname "$0")"', ["cd", "{}"]),
        ("python t.py --x $((2 * UNKNOWN))", ["python", "t.py", "--x", "{}"]),
    ],
)  # fmt: skip
def test_words_that_are_no_value(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("count", "number"),
    [
        (r"$(tr ',' '\n' <<< \"$G\" | wc -l)".replace("\\\"", '"'), "3"),
        (r"$(echo $G | tr ',' '\n' | wc -l)", "3"),
        ("$(awk -F, '{print NF}' <<< \"$G\")", "3"),
        ("${#L[@]}", "2"),
        ("$(nvidia-smi -L | wc -l)", "{}"),
        (r"$(tr ',' '\n' <<< \"$UNKNOWN\" | wc -l)".replace("\\\"", '"'), "{}"),
        ("${#UNKNOWN[@]}", "{}"),
    ],
)  # fmt: skip
def test_cards_that_a_script_counts(count: str, number: str) -> None:
    assert words(f'G="${{G:-0,1,2}}"\nL=(0 1)\nN={count}\nrun --tp "$N"')[-1] == number


@pytest.mark.parametrize(
    ("before", "branch", "expected"),
    [
        ("B=16", 'if [ "$DEBUG" = 1 ]; then\n  B=2\nfi', "{}"),
        ("B=16", 'if [ "$DEBUG" = 1 ]; then B=2; fi', "{}"),
        ("B=16", 'if [ "$DEBUG" = 1 ]; then C=2; fi', "16"),
        ("", "if x; then\n  B=2\nelse\n  B=4\nfi", "{}"),
        ("B=4", "for i in 1 2 3; do\n  B=$((B * 2))\ndone", "{}"),
        ("B=4", "case $1 in\n  a) B=8;;\n  b) C=9;;\nesac", "{}"),
        ("B=4", "for a in 1 2; do if x; then B=8; fi; done", "{}"),
        ("B=(4)", "if x; then\n  B=(8)\nfi", "{}"),
        ("B=(4)", "if x; then\n  B+=(--debug)\nfi", "4 {}"),
        ("B=4", "fi; done; esac", "4"),
    ],
)
def test_what_a_branch_sets_is_unknown_behind_it(before: str, branch: str, expected: str) -> None:
    use = "${B[@]}" if "(" in before else "$B"
    assert " ".join(words(f"{before}\n{branch}\nrun {use}\n")[1:]) == expected


def test_what_a_branch_sets_holds_in_it_and_not_in_the_next() -> None:
    script = (
        "B=4\nif x; then\n  B=8\n  run $B\nelse\n  run $B\nfi\ncase $1 in\n  a) B=6;;\n  b) run $B;;\nesac"
    )
    assert [text_of(w[-1]) for _, w in commands(script) if "run" in map(text_of, w)] == ["8", "4", "{}"]

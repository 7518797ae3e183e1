"""Tracebacks as they are met: chained, grouped, from workers and notebooks, interleaved, cut off."""

from __future__ import annotations

import io
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from firstcause.triage.frames import is_own
from firstcause.triage.read import read
from firstcause.triage.reading import Raised


def raised(text: str) -> list[Raised]:
    return list(read(io.BytesIO(textwrap.dedent(text).encode())).raised)


def of_program(folder: Path, source: str) -> list[Raised]:
    """What a real Python prints when the program fails."""
    (folder / "prog.py").write_text(textwrap.dedent(source))
    done = subprocess.run(
        [sys.executable, "prog.py"], cwd=folder, capture_output=True, check=False, timeout=120
    )
    return list(read(io.BytesIO(done.stderr)).raised)


def test_the_first_exception_of_a_chain_is_the_innermost(tmp_path: Path) -> None:
    found = of_program(
        tmp_path,
        """
        def load():
            return {}["weights"]
        def main():
            try:
                load()
            except KeyError as error:
                raise RuntimeError("no model") from error
        try:
            main()
        except RuntimeError:
            raise ValueError("cannot start\\n  and more")
        """,
    )
    assert [(one.exception, one.cause) for one in found] == [
        ("KeyError", 0),
        ("RuntimeError", 1),
        ("ValueError", 2),
    ]
    innermost = found[0].frames[-1]
    assert (innermost.line, innermost.function, innermost.source, innermost.own) == (
        3,
        "load",
        'return {}["weights"]',
        True,
    )
    assert found[2].message == "cannot start\nand more"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups came with Python 3.11")
def test_the_members_of_a_group_stand_before_it(tmp_path: Path) -> None:
    found = of_program(
        tmp_path,
        """
        def fail():
            raise TypeError("inner")
        try:
            fail()
        except TypeError as error:
            raise ExceptionGroup("several", [ValueError("first"), error])
        """,
    )
    by_name = {one.exception: one for one in found}
    assert by_name["TypeError"].frames[-1].function == "fail"
    assert max(found, key=lambda one: one.cause).exception == "ExceptionGroup"
    assert min(one.cause for one in found) == 0


def test_a_worker_of_a_loader_is_the_cause_of_its_wrapper(tmp_path: Path) -> None:
    found = of_program(
        tmp_path,
        """
        import torch.utils.data as data
        class Words(data.Dataset):
            def __len__(self):
                return 8
            def __getitem__(self, at):
                return {}["word"]
        if __name__ == "__main__":
            for batch in data.DataLoader(Words(), num_workers=1):
                pass
        """,
    )
    inner = next(one for one in found if one.cause == 0)
    assert (inner.exception, inner.worker, inner.frames[-1].function) == ("KeyError", 0, "__getitem__")
    assert [one.exception for one in found if one.cause == 1] == ["KeyError"]


def test_a_notebook_and_rich_tell_their_frames() -> None:
    found = raised(
        """
        ---------------------------------------------------------------------------
        IndexError                                Traceback (most recent call last)
        Cell In[12], line 2
              1 for x in loader:
        ----> 2     model(x)

        File /opt/lib/python3.11/site-packages/torch/nn/modules/module.py:1751, in Module._wrapped_call_impl(self, *args)
           1750 else:
        -> 1751     return self._call_impl(*args, **kwargs)

        File ~/proj/net.py:31, in Net.forward(self, x)
             30 y = self.a(x)
        ---> 31 return y[5]

        IndexError: index 5 is out of bounds for dimension 0 with size 3

        ╭─────────────── Traceback (most recent call last) ───────────────╮
        │ /home/me/fit.py:12 in main                                       │
        │                                                                  │
        │    9 def main():                                                 │
        │ ❱ 12     step(model)                                             │
        ╰──────────────────────────────────────────────────────────────────╯
        ValueError: empty batch
        """
    )
    assert [(one.exception, one.cause) for one in found] == [("IndexError", 0), ("ValueError", 0)]
    assert [(f.file, f.line, f.source, f.own) for f in found[0].frames if f.own] == [
        ("Cell In[12]", 2, "model(x)", True),
        ("~/proj/net.py", 31, "return y[5]", True),
    ]
    assert [(f.file, f.line, f.source) for f in found[1].frames] == [("/home/me/fit.py", 12, "step(model)")]


def test_interleaved_ranks_are_told_apart() -> None:
    found = raised(
        """
        [rank1]: Traceback (most recent call last):
        [rank0]: Traceback (most recent call last):
        [rank1]:   File "a.py", line 3, in f
        [rank0]:   File "a.py", line 9, in g
        [rank1]:     one()
        [rank0]:     zero()
        [rank0]: ValueError: zero
        [rank1]: KeyError: 'one'
        """
    )
    assert [(one.rank, one.exception, one.frames[0].line, one.frames[0].source) for one in found] == [
        (0, "ValueError", 9, "zero()"),
        (1, "KeyError", 3, "one()"),
    ]


def test_a_traceback_without_head_or_without_end_is_one() -> None:
    found = raised('  File "a.py", line 3, in f\n    run(x)\nValueError: bad\n\nwhat is that?\n')
    assert [(one.exception, one.frames[0].line) for one in found] == [("ValueError", 3)]
    found = raised('Traceback (most recent call last):\n  File "a.py", line 3, in f\n    run(x)\n')
    assert [(one.exception, one.frames[0].source) for one in found] == [("", "run(x)")]


def test_prose_behind_an_error_is_none_of_its_message() -> None:
    reading = read(io.BytesIO(b"ValueError: too few samples\nI have 3 files. How do I solve it?\n"))
    assert reading.raised[0].message == "too few samples"
    assert reading.prose == "I have 3 files. How do I solve it?"


@pytest.mark.parametrize(
    ("file", "own"),
    [
        ("train.py", True),
        ("/home/me/torch-project/models/net.py", True),
        ("/home/me/lib/net.py", True),
        ("<stdin>", True),
        ("C:\\work\\train.py", True),
        ("/opt/conda/lib/python3.10/site-packages/torch/nn/functional.py", False),
        ("/usr/lib/python3.12/threading.py", False),
        ("C:\\Python310\\lib\\site-packages\\torch\\serialization.py", False),
        ("<frozen importlib._bootstrap>", False),
        ("torch/_dynamo/convert_frame.py", False),
        ("/root/.pyenv/versions/3.11.7/lib/python3.11/runpy.py", False),
    ],
)
def test_own_frames_are_told_from_library_frames(file: str, own: bool) -> None:
    assert is_own(file) is own

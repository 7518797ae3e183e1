"""Which bodies are marked, and that marked code without an observer runs as the plain code does."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from firstcause.record.observe.marks import CANDIDATES, compile_marked
from firstcause.record.observe.reach import Reach


def marked(folder: Path, source: str, **files: str) -> list[tuple[int, str]]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    path = folder / "train.py"
    path.write_text(textwrap.dedent(source))
    before = set(CANDIDATES)
    compile_marked(str(path), Reach(str(path), [str(folder)]))
    return sorted((c.line, c.kind) for k, c in CANDIDATES.items() if k not in before)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("for x in xs:\n    opt.step()\n", [(1, "loop")]),
        ("for e in es:\n    for x in xs:\n        opt.step()\n", [(1, "loop"), (2, "loop")]),
        ("for x in xs:\n    print(x)\nopt.step\n", []),
        ("def fit(x):\n    opt.step()\nfor x in xs:\n    fit(x)\n", [(1, "function"), (3, "loop")]),
        (
            "class T:\n    def __call__(self, x):\n        self.o.step()\nt = T()\nfor x in xs:\n    t(x)\n",
            [(2, "function"), (5, "loop")],
        ),
        # A function that only holds the loop is no candidate of its own.
        ("def main():\n    for x in xs:\n        opt.step()\n", [(2, "loop")]),
        # What is compiled by torch is left alone: a try statement would break its graph.
        ("@torch.compile\ndef fit(x):\n    opt.step()\n", []),
        ("def fit(x):\n    opt.step()\nfit = torch.compile(fit)\n", []),
        ("def batches():\n    opt.step()\n    yield 1\n", []),
        ("while True:\n    opt.step()\n", [(1, "loop")]),
        ("async def main():\n    async for x in xs:\n        opt.step()\n", [(2, "loop")]),
    ],
)
def test_candidates(tmp_path: Path, source: str, expected: list[tuple[int, str]]) -> None:
    assert marked(tmp_path, source) == expected


def test_a_step_in_another_file_is_found(tmp_path: Path) -> None:
    main = "from engine import Engine\nfor x in xs:\n    Engine().advance(x)\n# step\n"
    assert marked(
        tmp_path, main, engine="class Engine:\n    def advance(self, x):\n        self.opt.step()\n"
    ) == [(2, "loop")]


PROGRAM = """
    import sys
    class Step:
        def __init__(self): self.__n = 0
        def step(self): self.__n += 1; return self.__n
    class Sub(Step):
        def run(self, xs):
            "doc"
            total = 0
            for i, x in enumerate(xs):
                if x == 3: continue
                if x == 7: break
                total += super().step() * x
                last = next(iter([x]))
            else:
                total = -1
            return total, last, sorted(locals())
    def fit(x, *, k=2):
        "A docstring."
        s = Step()
        s.step()
        return x * k
    print(Sub().run(range(10)), Sub().run([1, 2]), fit(3), fit.__doc__, Sub.run.__doc__)
    for o in [Step()]:
        try:
            o.step(); raise KeyError("inside")
        except KeyError as e:
            print(repr(e), sys.exc_info()[0].__name__)
        finally:
            print("finally", o.step())
    print(sorted(k for k in globals() if not k.startswith("__")))
"""


def test_marked_code_without_an_observer_is_the_plain_program(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(PROGRAM))
    runner = (
        "import sys; from firstcause.record.observe.marks import compile_marked; from firstcause.record.observe.reach import Reach\n"
        "code = compile_marked(sys.argv[1], Reach(sys.argv[1], []))\n"
        "assert code is not None\n"
        "exec(code, {'__name__': '__main__', '__builtins__': __builtins__})\n"
    )
    plain = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    recorded = subprocess.run(
        [sys.executable, "-c", runner, str(path)], capture_output=True, text=True, check=True
    )
    assert recorded.stdout == plain.stdout
    assert "[1, " not in plain.stderr

"""Which calls of models are marked, and that marked code without an observer runs as the plain code does."""

from __future__ import annotations

import contextlib
import io
import textwrap
from pathlib import Path

import pytest

from firstcause.record.observe.call_sites import SITES
from firstcause.record.observe.marks import compile_marked
from firstcause.record.observe.reach import Reach


def marked(folder: Path, source: str) -> list[int]:
    path = folder / "serve.py"
    path.write_text(textwrap.dedent(source))
    before = set(SITES)
    compile_marked(str(path), Reach(str(path), [str(folder)]), main=True)
    return sorted(c.line for s, c in SITES.items() if s not in before)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        # Under no_grad, what a variable holds may be a model; functions and imported names are none.
        ("def ask(net, x):\n    with torch.no_grad():\n        return net(x)\n", [3]),
        ("@torch.inference_mode()\ndef ask(net, x):\n    return helper(net(x))\ndef helper(y):\n    return y\n", [3]),
        ("import torch\nwith torch.no_grad():\n    y = torch.zeros(3)\n", []),
        ("with torch.no_grad():\n    print(len(x))\n", []),
        # Elsewhere, what is known to be a model, by how it was made.
        ("class Net(nn.Module):\n    pass\nnet = Net()\ny = net(x)\n", [4]),
        ("class Net(Base):\n    pass\nclass Base(nn.Module):\n    pass\nclass S:\n"
         "    def __init__(self):\n        self.m = Net().eval()\n    def ask(self, x):\n        return self.m(x)\n", [9]),
        ("net = AutoModel.from_pretrained('x').to('cpu')\ny = net.generate(x)\n", [2]),
        ("def build():\n    return nn.Sequential(a, b)\nnet = build()\nfor x in xs:\n    ys.append(net(x))\n", [5]),
        ("y = net(x)\n", []),
        # Training is none of it, and what is compiled is left alone.
        ("def fit(net, x):\n    loss = net(x)\n    loss.backward()\nnet.eval()\n", []),
        ("net.eval()\nfor x in xs:\n    loss = net(x)\n    opt.step()\n", []),
        ("class Net(nn.Module):\n    def forward(self, x):\n        return self.layer(x)\n", []),
        ("net = torch.compile(Net())\n@torch.no_grad()\ndef ask(x):\n    return net(x)\nf = torch.compile(ask)\n", []),
    ],
)  # fmt: skip
def test_sites(tmp_path: Path, source: str, expected: list[int]) -> None:
    assert marked(tmp_path, source) == expected


PROGRAM = """
    import traceback
    class no_grad:
        def __enter__(self): return self
        def __exit__(self, *error): return False
    class Net:
        def eval(self): return self
        def __call__(self, *given, **more): return given, more
    def fails(*given): raise KeyError(given)
    net, once = Net().eval(), iter([1, 2])
    print(net(1, *once, k=3, **{"l": 4}), list(once))
    with no_grad():
        print([net(i) for i in range(2)], net(net(5)), (lambda: net(6))())
        if (found := net(7)): print(found)
        net = fails
        try:
            net(1,
                2)
        except KeyError:
            traceback.print_exc(limit=-1, file=__import__("sys").stdout)
"""


def test_the_plain_program_and_the_marked_one_print_the_same(tmp_path: Path) -> None:
    path = tmp_path / "serve.py"
    path.write_text(textwrap.dedent(PROGRAM))
    printed = []
    for code in (
        compile(path.read_text(), str(path), "exec"),
        compile_marked(str(path), Reach(str(path), [str(tmp_path)]), main=True),
    ):
        assert code is not None
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(code, {"__name__": "serve"})
        printed.append(out.getvalue())
    assert printed[0] == printed[1]
    assert "KeyError" in printed[0]

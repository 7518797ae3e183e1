"""Trainings that are slow in one place, each beside the same without it, for each class that a CPU can show; four healthy ones.

The slow line ends in ``# slow``. ``fixed`` is made from the slow program by replacing the pieces of text.
"""

from __future__ import annotations

from typing import NamedTuple

from speed_texts import (
    AUGMENTED,
    COMPILED,
    COUNTED,
    FEATURES,
    GUARDED,
    LARGE,
    LOGGED,
    MASK,
    OPTIMIZER,
    PAIRS,
    PIXELS,
    RECURRENT,
    REPARSED,
    SELDOM,
    SORTED,
    WORDS,
)


class Slow(NamedTuple):
    """A program, its cause (empty for a healthy one), and what is replaced to mend it."""

    name: str
    text: str
    cause: str
    mended: tuple[tuple[str, str], ...] = ()

    @property
    def fixed(self) -> str:
        text = self.text
        for old, new in self.mended:
            assert old in text, (self.name, old)
            text = text.replace(old, new)
        return text


PROGRAMS = (
    Slow(
        "file parsed for each sample",
        REPARSED,
        "data-bound-getitem",
        (("row = table()[n]", "row = TABLE[n]"), ("class Rows", "TABLE = table()\n\n\nclass Rows")),
    ),
    Slow(
        "features of a sample computed in each epoch",
        FEATURES,
        "data-bound-getitem",
        (
            (
                "        features = torch.linalg.svdvals(window)[:32]",
                "        if n not in KEPT:\n            KEPT[n] = torch.linalg.svdvals(window)[:32]\n        features = KEPT[n]",
            ),
            ("class Spectra", "KEPT = {}\n\n\nclass Spectra"),
        ),
    ),
    Slow(
        "vocabulary made for each text",
        WORDS,
        "data-bound-getitem",
        (
            ("def encoded(text):\n    numbers = {}\n    for one", "numbers = {}\nif True:\n    for one"),
            (
                "            numbers.setdefault(word, len(numbers))\n",
                "            numbers.setdefault(word, len(numbers))\n\n\ndef encoded(text):\n",
            ),
        ),
    ),
    Slow(
        "order of all rows in each step",
        SORTED,
        "rebuilt-every-step",
        (
            ("    order = sorted(range(len(rows)), key=lambda n: float(wanted[n]))", "    pass"),
            (
                "for step in range(60)",
                "order = sorted(range(len(rows)), key=lambda n: float(wanted[n]))\nfor step in range(60)",
            ),
        ),
    ),
    Slow(
        "mask made in each step",
        MASK,
        "rebuilt-every-step",
        (
            (
                "    near = torch.tensor([[1.0 if abs(i - j) < 4 else 0.0 for j in range(96)] for i in range(96)])",
                "    pass",
            ),
            (
                "rows, wanted = torch.randn(20000",
                "near = torch.tensor([[1.0 if abs(i - j) < 4 else 0.0 for j in range(96)] for i in range(96)])\n"
                "rows, wanted = torch.randn(20000",
            ),
        ),
    ),
    Slow(
        "table of angles made in each step",
        OPTIMIZER,
        "rebuilt-every-step",
        (
            ("places = Table(128)", "places = Table(128).angles().sin()"),
            ("places.angles().sin()", "places"),
        ),
    ),
    Slow(
        "each value cut off by itself",
        PIXELS,
        "python-loop-over-elements",
        (
            (
                "    for i in range(x.shape[0]):  # slow\n        for j in range(x.shape[1]):\n"
                "            clipped[i, j] = max(min(float(x[i, j]), 1.0), -1.0)\n",
                "    clipped = x.clamp(-1.0, 1.0)\n",
            ),
        ),
    ),
    Slow(
        "each pair by itself",
        PAIRS,
        "python-loop-over-elements",
        (
            (
                "    terms = []\n    for i in range(len(out)):  # slow\n        for j in range(len(out)):\n"
                "            terms.append((out[i] - out[j] - y[i] + y[j]) ** 2)\n    loss = torch.stack(terms).mean()\n",
                "    left = out - y\n    loss = (left[:, None] - left[None, :]).square().mean()\n",
            ),
        ),
    ),
    Slow(
        "all weights written in each step",
        LOGGED,
        "sync-every-step",
        (("    print(step, [w", "    if step % 50 == 0:\n        print(step, [w"),),
    ),
    Slow(
        "all weights kept as numbers in each step",
        COUNTED,
        "sync-every-step",
        (("    history.append(", "    if step % 50 == 0:\n        history.append("),),
    ),
    Slow(
        "compiled anew in each step",
        COMPILED,
        "recompiles-every-step",
        (
            (
                'torch.compile(lambda v: net(v).squeeze(1).tanh() * (step + 1), backend="eager")',
                "lambda v: net(v).squeeze(1).tanh() * (step + 1)",
            ),
        ),
    ),
    Slow(
        "compiled for each value of a counter",
        GUARDED,
        "recompiles-every-step",
        (('quick = torch.compile(net, backend="eager", dynamic=False)', "quick = net"),),
    ),
    Slow("large layers", LARGE, ""),
    Slow("a recurrent cell", RECURRENT, ""),
    Slow("features of noisy samples", AUGMENTED, ""),
    Slow("a log at one step of fifty", SELDOM, ""),
)

"""Draw docs/demo.svg from what demo/demo.py really prints.

    python docs/picture.py [FILE]

FILE holds such output, made before with FORCE_COLOR=1 COLUMNS=80; without it the demonstration is played.
Stretches are left out where the picture shows three dots; nothing else is changed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).resolve().parent
COLUMNS = 80
# Width of a character and height of a line, in pixels.
ACROSS, DOWN, MARGIN = 7.8, 17, 18
FIRST, LAST = "$ firstcause run", "next: firstcause case close"
# From the line that begins with the one text up to the line that begins with the other.
LEFT_OUT = (
    ("step  75", "right on"),
    ("Why This Happens", "Proposed Fix"),
    ("What This Fix Will Change", "Hypotheses"),
    ("case 2", "3. Afterwards"),
)
CLASSES = {"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c"}
LIGHT = {"text": "#1f2328", "d": "#59636e", "r": "#c1121f", "g": "#1a7f37", "y": "#8a5d00", "c": "#0759b3"}
DARK = {"text": "#e6edf3", "d": "#9198a1", "r": "#ff7b72", "g": "#3fb950", "y": "#d9a520", "c": "#6cb6ff"}
FONT = '13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'

# A stretch of one line and its classes.
Span = tuple[str, str]


def played() -> str:
    """What the demonstration prints at a terminal with colours."""
    done = subprocess.run(
        [sys.executable, str(HERE.parent / "demo" / "demo.py"), "nan"],
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def shown(text: str) -> list[str]:
    """The lines of the picture: without what lies before, behind, and in the stretches to leave out."""
    lines = [line.rstrip() for line in text.split("\n")]
    plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]

    def find(beginning: str, start: int) -> int:
        return next(n for n in range(start, len(plain)) if plain[n].startswith(beginning))

    at, result = find(FIRST, 0), []
    for beginning, end in LEFT_OUT:
        start = find(beginning, at)
        result += [*lines[at:start], "\x1b[2m  ⋮\x1b[0m"]
        at = find(end, start)
        if not plain[at - 1]:
            result.append("")
    return result + lines[at : find(LAST, at) + 1]


def spans(line: str) -> list[Span]:
    """A line with escape sequences as stretches with their classes."""
    result: list[Span] = []
    on: list[str] = []
    for part in re.split(r"(\x1b\[[\d;]*m)", line):
        if part.startswith("\x1b"):
            on = [] if part == "\x1b[0m" else [*on, CLASSES[part[2:-1]]]
        elif part:
            result.append((part, " ".join(on)))
    if line.startswith("$ "):
        return [(line, "b")]
    marked = "[scripted answer]"
    return [
        (piece, "y" if piece == marked else kind) for text, kind in result for piece in _split(text, marked)
    ]


def _split(text: str, word: str) -> list[str]:
    before, found, after = text.partition(word)
    return [piece for piece in (before, found, after) if piece]


def rows(line: list[Span]) -> list[list[Span]]:
    """A line cut where a terminal of 80 columns would go on below."""
    result: list[list[Span]] = [[]]
    left = COLUMNS
    for text, kind in line:
        while text:
            if not left:
                result.append([])
                left = COLUMNS
            result[-1].append((text[:left], kind))
            text, left = text[left:], max(0, left - len(text))
    return result


def style() -> str:
    """The style sheet: light, and dark where the reader's scheme is."""

    def rules(page: str, edge: str, colors: dict[str, str]) -> str:
        fills = [
            f"{name if name == 'text' else '.' + name} {{ fill: {color}; }}" for name, color in colors.items()
        ]
        return " ".join([f"rect {{ fill: {page}; stroke: {edge}; }}", *fills])

    light, dark = rules("#ffffff", "#d1d9e0", LIGHT), rules("#0d1117", "#30363d", DARK)
    return f"text {{ font: {FONT}; }}\n.b {{ font-weight: 700; }}\n{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}"


def drawn(lines: list[str]) -> str:
    """The lines as an SVG that follows the reader's light or dark scheme."""
    grid = [row for line in lines for row in rows(spans(line))]
    width, height = round(COLUMNS * ACROSS + 2 * MARGIN), len(grid) * DOWN + 2 * MARGIN
    body = []
    for number, row in enumerate(grid):
        y, column, pieces = MARGIN + number * DOWN + 13, 0, []
        for text, kind in row:
            stripped = text.strip()
            if stripped:
                # Each stretch has its place and length, so that columns hold in whatever font there is.
                x = MARGIN + (column + len(text) - len(text.lstrip())) * ACROSS
                length = f'textLength="{len(stripped) * ACROSS:.1f}"'
                kind = f' class="{kind}"' if kind else ""
                # SVG would fold spaces into one.
                solid = escape(stripped).replace(" ", "\N{NO-BREAK SPACE}")
                pieces.append(f'<tspan x="{x:.1f}" {length}{kind}>{solid}</tspan>')
            column += len(text)
        if pieces:
            body.append(f'<text y="{y}">{"".join(pieces)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img">\n<title>A NaN, from the failing command to the verified fix</title>\n<style>\n{style()}\n</style>\n'
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text(encoding="utf-8") if len(sys.argv) > 1 else played()
    (HERE / "demo.svg").write_text(drawn(shown(text)), encoding="utf-8")

"""A notebook as one module: its code cells in order, each line with its place in the file on disk."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from firstcause.source.configs.json_text import parse
from firstcause.source.configs.literal import NotRead
from firstcause.source.module import Module

# Outputs are kept in the file: pictures make it large while the code is short.
MAX_NOTEBOOK_BYTES = 30_000_000
# Cell magics whose cell is Python all the same.
_PYTHON_CELLS = ("time", "timeit", "capture", "prun", "memit", "mprun", "lprun", "python", "python3")
_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.()\[\], ]+\?{1,2}\s*)$")
_ASSIGNED_MAGIC = re.compile(r"^(\s*)([\w, ]+?)\s*=\s*[%!].*$")
_QUOTED = re.compile(r"#[^\n]*|\"\"\"|'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[(\[{]|[)\]}]")
_BOUND = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)|(\w+)\s*(?::[^=]+)?=(?!=)")


@dataclass(frozen=True)
class Broken:
    """A cell that is not Python: its number, the line in it, the line of the file, and what the parser said."""

    cell: int
    cell_line: int
    line: int
    message: str
    text: str


class Notebook(Module):
    """The code cells of a notebook; raises ``NotRead`` where the file is none.

    A cell that is not Python is one of ``broken``; the names that it would bind stay known, and the others go on.
    """

    def __init__(self, path: str, name: str, raw: bytes) -> None:
        self.broken: list[Broken] = []
        # For each line of the text: the line of the file, the cell, the line in the cell.
        self._lines: list[tuple[int, int, int]] = []
        text: list[str] = []
        root = parse(raw.decode("utf-8-sig", errors="replace"))
        for number, (lines, places) in enumerate(_cells(root), 1):
            text += self._read(number, lines, places)
            self._lines += [(raw_line, number, i) for i, raw_line in enumerate(places, 1)]
        whole = "".join(f"{line}\n" for line in text)
        self._hold(path, name, whole, ast.parse(whole, filename=path))

    def raw_line(self, number: int) -> int:
        return self._lines[number - 1][0] if 1 <= number <= len(self._lines) else number

    def cell(self, number: int) -> tuple[int, int]:
        return self._lines[number - 1][1:] if 1 <= number <= len(self._lines) else (0, 0)

    def _read(self, number: int, lines: list[str], places: list[int]) -> list[str]:
        """A cell's lines as Python: as they are, without magics, or only what they bind."""
        plain = lines
        error = _error(plain)
        if error is not None:
            plain = _without_magics(lines)
            error = _error(plain)
        if error is None:
            return plain
        at = min(max(error.lineno or 1, 1), len(lines))
        self.broken.append(
            Broken(number, at, places[at - 1], error.msg or "invalid syntax", lines[at - 1].strip())
        )
        return [_bound(line) for line in lines]


def _cells(root: ast.expr) -> list[tuple[list[str], list[int]]]:
    """The lines of each code cell, and the line of the file that each stands on."""
    cells = _item(root, "cells")
    if cells is None:
        # Version 3 kept its cells in worksheets.
        sheets = _item(root, "worksheets")
        first = sheets.elts[0] if isinstance(sheets, ast.List) and sheets.elts else None
        cells = _item(first, "cells") if first is not None else None
    if not isinstance(cells, ast.List):
        raise NotRead(1, "no notebook: it has no list of cells")
    found = []
    for cell in cells.elts:
        kind = _item(cell, "cell_type")
        source = _item(cell, "source") or _item(cell, "input")
        if isinstance(kind, ast.Constant) and kind.value == "code" and source is not None:
            found.append(_source(source))
    return found


def _source(source: ast.expr) -> tuple[list[str], list[int]]:
    pieces = source.elts if isinstance(source, ast.List) else [source]
    lines: list[str] = []
    places: list[int] = []
    is_open = False
    for piece in pieces:
        if not isinstance(piece, ast.Constant) or not isinstance(piece.value, str):
            continue
        for part in re.split(r"(?<=\n)", piece.value.replace("\r\n", "\n").replace("\r", "\n")):
            if not part:
                continue
            if is_open:
                lines[-1] += part.rstrip("\n")
            else:
                lines.append(part.rstrip("\n"))
                places.append(piece.lineno)
            is_open = not part.endswith("\n")
    return lines, places


def _item(node: ast.expr, name: str) -> ast.expr | None:
    if not isinstance(node, ast.Dict):
        return None
    pairs = zip(node.keys, node.values, strict=True)
    return next((v for k, v in pairs if isinstance(k, ast.Constant) and k.value == name), None)


def _error(lines: list[str]) -> SyntaxError | None:
    try:
        ast.parse("".join(f"{line}\n" for line in lines))
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or type(error).__name__)
    return None


def _without_magics(lines: list[str]) -> list[str]:
    """Magics and shell lines as ``pass`` with a comment, so that a block of nothing else stays a block."""
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and first[2:].split(" ")[0] not in _PYTHON_CELLS:
        return [f"# {line}" for line in lines]
    found: list[str] = []
    state = ("", 0)
    continued = False
    before = ""
    for line in lines:
        inside = bool(state[0]) or state[1] > 0 or (not continued and before.endswith("\\"))
        before = line.rstrip()
        assigned = _ASSIGNED_MAGIC.match(line)
        if continued:
            found.append(f"# {line}")
        elif inside or not (_MAGIC.match(line) or assigned):
            found.append(line)
            state = _after(line, state)
            continue
        elif assigned:
            found.append(f"{assigned[1]}{assigned[2]} = ...  # {line.strip()}")
        else:
            found.append(f"{line[: len(line) - len(line.lstrip())]}pass  # {line.strip()}")
        continued = line.rstrip().endswith("\\")
    return found


def _after(line: str, state: tuple[str, int]) -> tuple[str, int]:
    """The quotes and the number of brackets that are open after a line."""
    quotes, brackets = state
    for token in _QUOTED.findall(line):
        if quotes:
            quotes = "" if token == quotes else quotes
        elif token in ('"""', "'''"):
            quotes = token
        elif token in "([{":
            brackets += 1
        elif token in ")]}":
            brackets = max(brackets - 1, 0)
    return quotes, brackets


def _bound(line: str) -> str:
    """A line of a cell that is not Python: an import as it is, else the name that it binds, else a comment."""
    if line.startswith(("import ", "from ")) and _error([line]) is None:
        return line
    match = _BOUND.match(line)
    name = (match[1] or match[2]) if match else ""
    return f"{name} = ...  # {line}" if name.isidentifier() else f"# {line}"

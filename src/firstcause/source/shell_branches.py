"""What a shell script's variables hold where some are set in a branch or a loop: unknown behind it, for it may not be taken."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

_OPENS = frozenset({"if", "for", "while", "until", "case", "select"})
_TURNS = frozenset({"else", "elif"})
_CLOSES = frozenset({"fi", "done", "esac"})
# What may stand before a command.
_LEADS = frozenset({"then", "do", "{", "!"}) | _TURNS


@dataclass
class Variables:
    """Single values and arrays by name, as a script sets them line by line."""

    known: dict[str, ast.expr] = field(default_factory=dict)
    arrays: dict[str, list[ast.expr]] = field(default_factory=dict)
    _before: list[tuple[dict[str, ast.expr], dict[str, list[ast.expr]]]] = field(default_factory=list)
    _changed: list[set[str]] = field(default_factory=list)

    def sets(self, name: str, value: ast.expr) -> None:
        self.known[name] = value
        self._note(name)

    def fills(self, name: str, words: list[ast.expr], adds: bool) -> None:
        self.arrays[name] = [*(self.arrays.get(name, []) if adds else []), *words]
        self._note(name)

    def meets(self, words: list[str]) -> int:
        """Takes notice of the keywords that a command begins with; returns how many stand before the command."""
        lead = 0
        for word in words:
            if word in _OPENS:
                self._before.append((dict(self.known), dict(self.arrays)))
                self._changed.append(set())
            elif word in _TURNS:
                self.turns()
            elif word in _CLOSES:
                self._closes()
            if word not in _LEADS:
                break
            lead += 1
        return lead

    def turns(self) -> None:
        """Another branch begins: what the last one set does not hold in it."""
        if self._before:
            known, arrays = self._before[-1]
            self.known, self.arrays = dict(known), dict(arrays)

    def _closes(self) -> None:
        if not self._before:
            return
        changed = self._changed.pop()
        known, arrays = self._before.pop()
        grown = {n for n in changed & arrays.keys() if _goes_on(self.arrays.get(n, []), arrays[n])}
        unknown: ast.expr = ast.Constant("{}")
        self.known = {n: v for n, v in known.items() if n not in changed}
        self.arrays = {n: v for n, v in arrays.items() if n not in changed}
        for name in grown:
            # What a branch adds may stand there or not.
            self.arrays[name] = [*arrays[name], ast.copy_location(unknown, arrays[name][-1])]
        for name in changed:
            self._note(name)

    def _note(self, name: str) -> None:
        if self._changed:
            self._changed[-1].add(name)


def _goes_on(now: list[ast.expr], before: list[ast.expr]) -> bool:
    return bool(before) and len(now) >= len(before) and all(a is b for a, b in zip(before, now, strict=False))

"""JSON with the place of every value."""

from __future__ import annotations

import ast
import json
import re

from firstcause.source.configs.literal import MAX_DEPTH, NotRead, Places, Refused

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_NUMBER = re.compile(r"-?(?:Infinity|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)|NaN")
_WORDS = {"true": True, "false": False, "null": None}


def parse(text: str) -> ast.expr:
    """The one value of a JSON text; raises ``NotRead`` at the place where it ends to be JSON."""
    reader = _Reader(text)
    found, end = reader.value(reader.skip(0), 0)
    if reader.skip(end) != len(text):
        raise reader.error(reader.skip(end), "text after the end of the value")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.places = Places(text)

    def skip(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def error(self, at: int, message: str) -> NotRead:
        return NotRead(self.places.line(at), message)

    def value(self, at: int, depth: int) -> tuple[ast.expr, int]:
        if depth > MAX_DEPTH:
            raise Refused(self.places.line(at), f"nested deeper than {MAX_DEPTH}")
        first = self.text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first == '"':
            return self._string(at)
        word = re.compile(r"true|false|null").match(self.text, at)
        if word:
            return self.places.constant(_WORDS[word[0]], at, word.end()), word.end()
        number = _NUMBER.match(self.text, at)
        if number:
            return self._number(number)
        raise self.error(at, "expected a value" if first else "the text ends before the value does")

    def _number(self, match: re.Match[str]) -> tuple[ast.expr, int]:
        written = match[0]
        whole = written.lstrip("-").isdecimal() and len(written) < 400
        return self.places.constant(
            int(written) if whole else float(written), match.start(), match.end()
        ), match.end()

    def _string(self, at: int) -> tuple[ast.expr, int]:
        match = _STRING.match(self.text, at)
        if match is None:
            raise self.error(at, "a text without its closing quote")
        content = match[1]
        if "\\" in content:
            try:
                content = json.loads(match[0], strict=False)
            except ValueError as error:
                raise self.error(at, f"a text with a wrong escape: {error}") from None
            # Halves of a character that stand alone can be written nowhere.
            content = content.encode(errors="replace").decode()
        return self.places.constant(content, at, match.end()), match.end()

    def _array(self, start: int, depth: int) -> tuple[ast.expr, int]:
        items: list[ast.expr] = []
        at = self.skip(start + 1)
        while self.text[at : at + 1] != "]":
            if items:
                at = self._comma(at, "]")
            item, at = self.value(at, depth + 1)
            items.append(item)
            at = self.skip(at)
        return self.places.sequence(items, start, at + 1), at + 1

    def _object(self, start: int, depth: int) -> tuple[ast.expr, int]:
        items: list[tuple[ast.expr, ast.expr]] = []
        at = self.skip(start + 1)
        while self.text[at : at + 1] != "}":
            if items:
                at = self._comma(at, "}")
            if self.text[at : at + 1] != '"':
                raise self.error(at, "expected a name in double quotes")
            key, at = self._string(at)
            at = self.skip(at)
            if self.text[at : at + 1] != ":":
                raise self.error(at, "expected a colon after the name")
            item, at = self.value(self.skip(at + 1), depth + 1)
            items.append((key, item))
            at = self.skip(at)
        return self.places.mapping(items, start, at + 1), at + 1

    def _comma(self, at: int, closing: str) -> int:
        if self.text[at : at + 1] != ",":
            raise self.error(at, f"expected a comma or {closing}")
        return self.skip(at + 1)

"""Pickles of builtin containers, read without running anything: every other operation of a pickle is refused."""

from __future__ import annotations

import struct
from typing import Any

# A dump of a rank's last thousands of collectives is a few megabytes, and lists of sizes lie five deep.
OPERATIONS = 6_000_000
DEPTH = 24

_MARK = object()
_FIXED = {"K": "<B", "M": "<H", "J": "<i", "G": ">d"}
_CONSTANTS: dict[str, Any] = {"N": None, "\x88": True, "\x89": False}
_TEXTS = {"X": "<I", "\x8c": "<B", "\x8d": "<Q"}
_BYTES = {"C": "<B", "B": "<I", "\x8e": "<Q"}
_EMPTY = {"}": dict, "]": list, ")": tuple}
_TUPLES = {"\x85": 1, "\x86": 2, "\x87": 3}


class PickleError(ValueError):
    """A pickle that is damaged, too large, or that asks for more than builtin containers."""


def loads(data: bytes) -> Any:
    """The value of a pickle; raises ``PickleError`` where it is damaged or holds anything but plain values."""
    try:
        return _Machine(data).run()
    except (IndexError, struct.error, KeyError, TypeError, AttributeError, UnicodeError) as error:
        raise PickleError(f"damaged: {type(error).__name__}") from None


class _Machine:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.stack: list[Any] = []
        # Of each value on the stack and in the memo: how deep it is nested.
        self.depths: list[int] = []
        self.memo: dict[int, tuple[Any, int]] = {}

    def run(self) -> Any:
        for _ in range(OPERATIONS):
            operation = chr(self.data[self.at])
            self.at += 1
            if operation == ".":
                return self.stack.pop()
            self._do(operation)
        raise PickleError(f"more than {OPERATIONS} operations")

    def _take(self, size: int) -> bytes:
        if size < 0 or self.at + size > len(self.data):
            raise PickleError("damaged: it ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def _number(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _push(self, value: Any, depth: int = 0) -> None:
        if depth > DEPTH:
            raise PickleError(f"nested more than {DEPTH} deep")
        self.stack.append(value)
        self.depths.append(depth)

    def _do(self, operation: str) -> None:
        if operation in _FIXED:
            self._push(self._number(_FIXED[operation]))
        elif operation in _TEXTS:
            self._push(self._take(self._number(_TEXTS[operation])).decode("utf-8", "replace"))
        elif operation in _BYTES:
            self._push(self._take(self._number(_BYTES[operation])))
        elif operation == "\x8a":
            self._push(int.from_bytes(self._take(self._number("<B")), "little", signed=True))
        elif operation in _CONSTANTS:
            self._push(_CONSTANTS[operation])
        elif operation in _EMPTY:
            self._push(_EMPTY[operation](), 1)
        elif operation == "(":
            self._push(_MARK)
        elif operation in "qr\x94hj":
            self._remember(operation)
        elif operation in "ae":
            self._append(self._popped(1) if operation == "a" else self._since_mark())
        elif operation in "su":
            self._set(self._popped(2) if operation == "s" else self._since_mark())
        elif operation in _TUPLES or operation == "t":
            values, depth = self._popped(_TUPLES[operation]) if operation != "t" else self._since_mark()
            self._push(tuple(values), depth + 1)
        elif operation == "\x80":
            self._take(1)
        elif operation == "\x95":
            self._take(8)
        elif operation == "0":
            self._popped(1)
        else:
            raise PickleError(f"operation {operation!r} makes something else than builtin containers")

    def _remember(self, operation: str) -> None:
        if operation == "\x94":
            self.memo[len(self.memo)] = self.stack[-1], self.depths[-1]
        elif operation in "qr":
            self.memo[self._number("<B" if operation == "q" else "<I")] = self.stack[-1], self.depths[-1]
        else:
            self._push(*self.memo[self._number("<B" if operation == "h" else "<I")])

    def _popped(self, count: int) -> tuple[list[Any], int]:
        if len(self.stack) < count:
            raise PickleError("damaged: it takes more than it has")
        values, depths = self.stack[-count:], self.depths[-count:]
        del self.stack[-count:], self.depths[-count:]
        if any(value is _MARK for value in values):
            raise PickleError("damaged: a mark stands where a value must")
        return values, max(depths)

    def _since_mark(self) -> tuple[list[Any], int]:
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
        values, depth = self.stack[at + 1 :], max(self.depths[at + 1 :], default=0)
        del self.stack[at:], self.depths[at:]
        return values, depth

    def _append(self, items: tuple[list[Any], int]) -> None:
        values, depth = items
        if type(self.stack[-1]) is not list:
            raise PickleError("damaged: it appends to what is no list")
        self._deepen(depth)
        self.stack[-1].extend(values)

    def _set(self, items: tuple[list[Any], int]) -> None:
        values, depth = items
        if type(self.stack[-1]) is not dict or len(values) % 2:
            raise PickleError("damaged: it sets items of what is no dict")
        self._deepen(depth)
        for key, value in zip(values[::2], values[1::2], strict=True):
            # Hashing nested tuples would recurse; keys of dumps are names and numbers.
            if not isinstance(key, str | int | float):
                raise PickleError("a key is neither text nor a number")
            self.stack[-1][key] = value

    def _deepen(self, depth: int) -> None:
        self.depths[-1] = max(self.depths[-1], depth + 1)
        if self.depths[-1] > DEPTH:
            raise PickleError(f"nested more than {DEPTH} deep")

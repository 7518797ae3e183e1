"""What happens to a file on its way: bytes cut, flipped, doubled and mixed; values in it replaced by odd ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

# What readers trip over: other types, ends of ranges, names that lead elsewhere, text that a terminal obeys.
ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        2**31,
        2**63,
        -(2**63),
        10**40,
        0.5,
        -0.0,
        float("nan"),
        float("inf"),
        1e308,
    ),
    *(
        "",
        " ",
        "\x1b[31mred\x1b[0m",
        "\u202ertl",
        "../../etc/passwd",
        "/dev/null",
        "a" * 5000,
        "1e999",
        "\0",
        "\ud800",
    ),
    *([], {}, [[]], [None], {"": None}, {"file": "x.py", "line": -3}, [[[[[[[[]]]]]]]]),
)
TOKENS = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\r\n", b"\n\n\n", b"\t", b"\x1b[31m", b"\x1b]0;x\x07"),
    *(b"{", b"}", b"[" * 300, b"(" * 300, b'"', b"'", b"\\", b"`", b"$(", b"%", b"&a", b"*a", b"<<: ", b"---", b": ", b"- "),
    *(b"-1", b"1e999", b"NaN", b"99999999999999999999", b"null", b"nan", b"inf", b"0x", b"\\ud800", "İ".encode(), "\u202e".encode()),
    *(b"\x80\x04", b"\x1f\x8b", b"PK\x03\x04", b"Traceback (most recent call last):\n", b"[rank3]: ", b"RuntimeError: ", b"@@ -1,9999 +0,0 @@\n"),
    *(b"--- a/train.py\n", b"+++ /dev/null\n", b"+++ b/../../x\n", b"lambda", b"async ", b"def f(", b"*", b"**", b":=", b"#", b"@", b"__import__"),
)  # fmt: skip
_PART = st.floats(0, 1, exclude_max=True)


@st.composite
def damaged_bytes(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds after up to six kinds of damage, or bytes of no kind."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=400))
    data = bytearray(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 6))):
        at = int(draw(_PART) * (len(data) + 1))
        size = draw(st.sampled_from((1, 2, 7, 60, 900)))
        kind = draw(st.sampled_from(("cut", "drop", "flip", "token", "double", "move", "splice")))
        if kind == "cut":
            del data[at:]
        elif kind == "drop":
            del data[at : at + size]
        elif kind == "flip" and at < len(data):
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "token":
            data[at:at] = draw(st.sampled_from(TOKENS)) * draw(st.sampled_from((1, 1, 1, 40)))
        elif kind == "double":
            data[at:at] = data[at : at + size] * draw(st.sampled_from((1, 1, 30)))
        elif kind == "move":
            part = data[at : at + size]
            del data[at : at + size]
            to = int(draw(_PART) * (len(data) + 1))
            data[to:to] = part
        elif kind == "splice":
            other = draw(st.sampled_from(seeds))
            begin = int(draw(_PART) * len(other))
            data[at : at + size] = other[begin : begin + size]
    return bytes(data)


@st.composite
def damaged_value(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value in which up to four parts are replaced by odd ones, removed, or given another name."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 4))):
        places = list(_places(value))
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        how = draw(st.sampled_from(("odd", "odd", "odd", "remove", "rename", "double")))
        if how == "odd":
            holder[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
        elif how == "remove":
            del holder[key]
        elif isinstance(holder, dict):
            holder[draw(st.sampled_from(("", "x", "line", "file", "kind", "\x1b[31m")))] = holder[key]
        else:
            holder.insert(0, copy.deepcopy(holder[key]))
    return value


def as_bytes(write: Callable[[Any], str] = json.dumps) -> Callable[[Any], bytes]:
    """Write a value as text and that as bytes, lone surrogates and all."""
    return lambda value: write(value).encode("utf-8", "surrogatepass")


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    left = [value]
    while left:
        holder = left.pop()
        keys = (
            list(holder)
            if isinstance(holder, dict)
            else range(len(holder))
            if isinstance(holder, list)
            else ()
        )
        for key in keys:
            found.append((holder, key))
            left.append(holder[key])
    return found

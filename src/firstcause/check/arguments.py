"""The calls of libraries whose arguments are known by version."""

from __future__ import annotations

from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.signatures import table

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate", "lightning", "vllm", "sglang")


def known_calls(code: Code) -> Iterator[tuple[Call, str, str]]:
    """Each call with its library and the name of the class that is filed in the library's table."""
    for library in LIBRARIES:
        known = table(library) if code.imports(library) or library == "lightning" else None
        for name in (*known.calls, *_ENGINES.get(library, ())) if known is not None else ():
            yield from ((call, library, name) for call in code.calls(f"{library}.{name}"))


_ENGINES = {"sglang": ("Engine", "Runtime")}

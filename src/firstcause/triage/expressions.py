"""Regular expressions that are compiled when they are first used: a pasted line needs few of them."""

from __future__ import annotations

import re
from typing import Any, cast


class _Later:
    def __init__(self, pattern: str, flags: int) -> None:
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._pattern, self._flags)
        # From now on the methods are those of the compiled expression, at no further cost.
        self.match, self.search, self.sub = compiled.match, compiled.search, compiled.sub
        self.finditer, self.findall = compiled.finditer, compiled.findall
        return getattr(compiled, name)


def expression(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """An expression for ``match``, ``search``, ``sub``, ``finditer`` and ``findall``."""
    return cast("re.Pattern[str]", _Later(pattern, flags))

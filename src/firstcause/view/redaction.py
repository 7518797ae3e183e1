"""What of a record does not leave the machine in a report, and the list that says so."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from firstcause.record import redact

_SHORTEST_HOME = 3


class Redaction:
    """Replaces the home folder's path and known secrets in text; ``left_out`` is what the report says of it."""

    def __init__(self, home: str | None = None) -> None:
        self._home = os.path.expanduser("~") if home is None else home
        self._held = redact.held()
        self._homes = 0
        self.left_out: list[str] = []

    def text(self, text: str) -> str:
        if len(self._home) >= _SHORTEST_HOME and self._home in text:
            self._homes += text.count(self._home)
            text = text.replace(self._home, "~")
        return redact.text(text, self._held)

    def value(self, data: Any) -> Any:
        """JSON-ready data with every string in it redacted, keys among them."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, Mapping):
            return {self.text(str(key)): self.value(value) for key, value in data.items()}
        if isinstance(data, (list, tuple)):
            return [self.value(one) for one in data]
        return data

    def without_rows(self, facts: Any) -> Any:
        """What was found out about a failing step without the rows of its batch, wherever they stand in it."""
        if isinstance(facts, list):
            return [self.without_rows(one) for one in facts]
        if not isinstance(facts, Mapping):
            return facts
        if facts.get("batch_rows"):
            self.leave("the rows of the failing batch")
            facts = {**facts, "batch_rows": []}
        return {key: self.without_rows(value) for key, value in facts.items()}

    def mentions_home(self, content: bytes) -> bool:
        return len(self._home) >= _SHORTEST_HOME and self._home.encode() in content

    def leave(self, what: str) -> None:
        if what not in self.left_out:
            self.left_out.append(what)

    def said(self) -> list[str]:
        """Everything that is not in the report, a line each."""
        if self._homes:
            return [*self.left_out, f"the path of the home folder, replaced by ~ in {self._homes} places"]
        return list(self.left_out)

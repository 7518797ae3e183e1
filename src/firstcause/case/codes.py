"""The codes that a process shows to a person who approves a fix away from the terminal."""

from __future__ import annotations

import secrets

from firstcause.case.gate import approval_code, require_ready
from firstcause.case.progress import Progress


class Codes:
    """Bound to what is shown and to this point of the history: one more event, and it is another code.

    The secret is of this process alone: what another server has shown is worth nothing here.
    """

    def __init__(self) -> None:
        self._secret = secrets.token_hex(16)

    def shown(self, progress: Progress) -> str:
        """The code to type; raises ``GateError`` where the diagnosis may not be approved."""
        return approval_code(require_ready(progress.case.diagnosis), f"{self._secret}:{progress.events}")

    def typed(self, text: str, progress: Progress) -> bool:
        """Whether a person typed the code, in letters of either size."""
        return text.strip().upper() == self.shown(progress)

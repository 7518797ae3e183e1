"""How often ``torch.compile`` has compiled, at which step, for which line of the program, why again, and what it cost."""

from __future__ import annotations

import re
import sys
import time
from typing import Any

from firstcause.lab import places

MOST, SHOWN = 200, 160
REASONS = "get_and_maybe_log_recompilation_reasons"
# "... # return x * self.scale  # train.py:20 in forward": how Dynamo ends the text of a guard.
PLACE = re.compile(r"#\s+([^#]*?):(\d+) in (\w+)")


class Compilations:
    """Follows Dynamo's own entry for one frame, in a sealed child; nothing where the program does not compile."""

    def __init__(self) -> None:
        self.step = 0
        self.seen: list[dict[str, Any]] = []
        self.reasons: list[str] = []
        self.followed = False

    def start(self) -> None:
        self._follow()

    def stepped(self, step: int) -> None:
        self.step = step
        self._follow()

    def _follow(self) -> None:
        if self.followed or "torch._dynamo.convert_frame" not in sys.modules:
            return
        self.followed = True
        frames: Any = sys.modules["torch._dynamo.convert_frame"]
        # Dynamo's own names; where another release has none of them, no compilation is seen.
        original = getattr(frames, "_compile", None)
        reasons_of = getattr(frames, REASONS, None)
        if original is None:
            return

        def asked(*args: Any, **kwargs: Any) -> Any:
            found = reasons_of(*args, **kwargs) if reasons_of is not None else []
            self.reasons = [str(r) for r in found or []]
            return found

        def compiled(code: Any, *args: Any, **kwargs: Any) -> Any:
            at = time.process_time()
            site = places.of_frame(sys._getframe(1))
            self.reasons = []
            try:
                return original(code, *args, **kwargs)
            finally:
                if len(self.seen) < MOST:
                    name, file, line = code.co_name, code.co_filename, code.co_firstlineno
                    row = {"step": self.step, "name": name, "file": file, "line": line, "site": site}
                    told = [_told(r, file) for r in self.reasons]
                    self.seen.append(row | {"seconds": time.process_time() - at, "reasons": told})

        frames._compile = compiled
        if reasons_of is not None:
            setattr(frames, REASONS, asked)

    def facts(self) -> list[dict[str, Any]]:
        """A row a compilation."""
        return self.seen


def _told(reason: str, file: str) -> dict[str, Any]:
    """A guard that failed, and the line of the program that it stands for."""
    found = PLACE.search(reason)
    text = reason.partition("#")[0].strip().splitlines()[-1] if reason.strip() else ""
    place = {"file": file, "line": int(found[2]), "function": found[3]} if found is not None else {}
    return {"text": text[:SHOWN], **place}

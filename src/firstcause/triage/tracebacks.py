"""Tracebacks in the lines of one writer: chained, grouped, from workers, from notebooks, cut off at either end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from firstcause.triage.exceptions import exception_in
from firstcause.triage.expressions import expression
from firstcause.triage.frames import frame_in, pointed
from firstcause.triage.lines import Line
from firstcause.triage.reading import Frame, Raised

# The innermost and outermost frames tell; a million in between only fill the memory.
FRAMES = 400
MESSAGE_LINES = 40

_HEADER = expression(r"(?:Exception Group )?Traceback \(most recent call last\)")
_IPYTHON_HEADER = expression(r"\s*([A-Za-z_][\w.]{0,120})\s{2,}Traceback \(most recent call last\)")
_LINKS = (
    "During handling of the above exception, another exception occurred",
    "The above exception was the direct cause of the following exception",
)
_WORKER = expression(
    r"Caught (\w[\w.]{0,120}) in (?:DataLoader worker process|pin memory thread|replica) ?(\d{1,6})?"
)
_MARKERS = expression(
    r"[\s|+]{0,200}[~^]{1,400}[~^ ]{0,400}$|[\s|+]{0,60}\[Previous line repeated \d{1,9} more times?\]"
)
_RULE = expression(r"[-=─━╭╰╯╮+| ]{20,}")
_GROUP_RULE = expression(r"[\s|]{0,200}\+(?:-\+)?-{4,}")
_BOX = expression(r"[│|╭╰]")


class Tracebacks:
    """Reads lines one by one; ``raised`` is what they tell, ``used`` the numbers of the lines that tell it."""

    def __init__(self, rank: int | None = None) -> None:
        self.rank = rank
        self.raised: list[Raised] = []
        self.used: set[int] = set()
        self._frames: list[Frame] = []
        self._dropped = 0
        self._chain: list[Raised] = []
        self._linked = False
        self._open = False
        self._source_due = False
        self._message_of: int | None = None
        self._blank = 0
        self._worker: int | None = None
        self._boxed = False
        self._awaited = ""

    def read(self, lines: Sequence[Line]) -> Tracebacks:
        for line in lines:
            self._line(line)
        self._end_chain()
        return self

    def _line(self, line: Line) -> None:
        text = line.text
        stripped = text.strip()
        if not stripped:
            self._blank += 1
            self._source_due = False
            if self._blank > 1 and self._message_of is not None:
                self._message_of = None
            return
        if "(most recent call last)" in text and _HEADER.search(text):
            self._header(line)
        elif any(link in text for link in _LINKS):
            self._linked, self._message_of = True, None
            self.used.add(line.number)
        elif (frame := frame_in(text)) is not None:
            self._frame(frame, line)
        elif self._frames and (at := pointed(text)):
            self._point(*at)
            self.used.add(line.number)
        else:
            self._other(line, text, stripped)
        self._blank = 0

    def _header(self, line: Line) -> None:
        if not self._linked and "Original Traceback" not in line.text and not self._is_inner(line.text):
            self._end_chain()
        self._linked = False
        self._frames, self._dropped = [], 0
        self._open, self._source_due, self._message_of = True, False, None
        self._boxed = bool(_BOX.match(line.text.lstrip("+ "))) and "─" in line.text
        match = _IPYTHON_HEADER.match(line.text)
        self._awaited = match[1] if match else ""
        self.used.add(line.number)

    def _is_inner(self, text: str) -> bool:
        # The exceptions of a group stand indented behind the group's own.
        return bool(self._chain) and text.lstrip(" +").startswith("|") and "Group" not in text

    def _frame(self, frame: Frame, line: Line) -> None:
        if not self._open:
            if not self._linked:
                self._end_chain()
            self._frames, self._open, self._linked = [], True, False
        self._message_of = None
        if len(self._frames) < FRAMES:
            self._frames.append(frame)
        else:
            del self._frames[FRAMES // 2]
            self._frames.append(frame)
        self._source_due = True
        self.used.add(line.number)

    def _point(self, number: int, source: str) -> None:
        last = self._frames[-1]
        self._frames[-1] = replace(last, line=last.line or number, source=source)

    def _other(self, line: Line, text: str, stripped: str) -> None:
        indented = text[:1].isspace() or (text[:1] in "|+│" and self._open)
        if self._blank and not indented:
            # What begins anew behind a blank line, such as pasted code, is no part of the message above it.
            self._message_of = None
        if (self._open or self._chain) and (_MARKERS.match(text) or _GROUP_RULE.match(text)):
            self._message_of = None
            self.used.add(line.number)
        elif self._open and self._source_due and (indented or not self._ends(text)):
            if not self._frames[-1].source and not self._boxed:
                self._frames[-1] = replace(self._frames[-1], source=stripped.lstrip("| ")[:400])
            self._source_due = False
            self.used.add(line.number)
        elif self._open and self._boxed and _BOX.match(stripped):
            self.used.add(line.number)
            if stripped.startswith("╰"):
                self._boxed = False
        elif (self._open and indented and not self._ends(stripped.lstrip("| +"))) or (
            self._open and self._awaited and not self._ends(text)
        ):
            self.used.add(line.number)
        elif found := exception_in(self._bare(text), self._open):
            self._exception(found, line)
        elif self._message_of is not None and self._continues(text):
            self._continue(stripped, line)
        elif self._open and not _RULE.match(stripped):
            # Prose or another program's words: the traceback was cut off before its exception.
            self._cut_off(line)

    def _bare(self, text: str) -> str:
        if text.startswith("E   "):
            return text[4:].lstrip()
        return text.lstrip("|+ ") if text[:1] in "|+ " and (self._open or text.lstrip()[:1] == "|") else text

    def _ends(self, text: str) -> bool:
        found = exception_in(self._bare(text), after_frames=True)
        return found is not None and (
            not self._awaited or found[0].endswith(self._awaited.rsplit(".", 1)[-1])
        )

    def _exception(self, found: tuple[str, str], line: Line) -> None:
        name, message = found
        worker = _WORKER.match(message)
        if not self._open and not self._linked and self._message_of is None and not self._is_inner(line.text):
            self._end_chain()
        if worker and worker[2]:
            self._worker = int(worker[2])
        raised = Raised(name, message, tuple(self._frames), line.number, 0, self.rank, self._worker)
        self._chain.append(raised)
        self._frames, self._open, self._source_due, self._awaited = [], False, False, ""
        self._message_of = len(self._chain) - 1
        self.used.add(line.number)

    def _continues(self, text: str) -> bool:
        last = self._chain[self._message_of or 0]
        return (text[:1].isspace() or not last.message) and last.message.count("\n") < MESSAGE_LINES

    def _continue(self, stripped: str, line: Line) -> None:
        at = self._message_of or 0
        last = self._chain[at]
        message = f"{last.message}\n{stripped[:1000]}" if last.message else ""
        if message:
            self._chain[at] = replace(last, message=message)
            self.used.add(line.number)
        else:
            self._message_of = None

    def _cut_off(self, line: Line) -> None:
        if self._frames:
            self._chain.append(Raised("", "", tuple(self._frames), line.number, 0, self.rank, self._worker))
        self._frames, self._open, self._source_due, self._awaited = [], False, False, ""
        self._message_of = None

    def _end_chain(self) -> None:
        if self._open and self._frames:
            self._chain.append(Raised("", "", tuple(self._frames), 0, 0, self.rank, self._worker))
        # Printed first is what happened first; what a loader's worker sent is printed after its wrapper.
        chain = sorted(self._chain, key=_wraps)
        self.raised += [replace(raised, cause=cause) for cause, raised in enumerate(chain)]
        self._chain, self._frames, self._open, self._linked = [], [], False, False
        self._message_of, self._worker, self._source_due = None, None, False


def _wraps(raised: Raised) -> bool:
    return bool(_WORKER.match(raised.message)) or raised.exception.endswith("ExceptionGroup")

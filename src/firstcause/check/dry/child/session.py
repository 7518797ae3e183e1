"""One dry run: what was found, what was looked at and found in order, and what had to be made up on the way."""

from __future__ import annotations

import ast
import json
import linecache
import os
import sys
import time
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from firstcause.check.dry.child.watcher import overridden
from firstcause.installed import is_installed

if TYPE_CHECKING:
    from firstcause.check.dry.child.loops import Loop
    from firstcause.check.dry.child.watcher import Watcher

Place = tuple[str, int]
NOWHERE: Place = ("", 0)
# Looks at a line after which it is known to be in order.
AT_LEAST = 2


@dataclass
class Session:
    """What the watchers share; findings leave by the descriptor ``channel``, a JSON object a line, as they are made."""

    folder: str
    channel: int
    seconds: float
    # How many times as long as usual the loops run before they are shortened.
    patience: int = 1
    watchers: list[Watcher] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    steps: dict[int, int] = field(default_factory=dict)
    # Where a tensor of this size was last changed in place.
    changes: dict[tuple[int, ...], Place] = field(default_factory=dict)
    # Loops that ran backward to their end without a step.
    gathering: set[Place] = field(default_factory=set)
    # Loops that only compute, and were shortened.
    computing: set[Place] = field(default_factory=set)
    forwards: int = 0
    # Of modules, within one another too.
    calls: int = 0
    backwards: int = 0
    # Runs of autograd's engine, by backward() and by grad().
    gradients: int = 0
    # Batches that DataLoaders have given out.
    batches: int = 0
    made_up_sizes: bool = False
    was_cut: bool = False
    # Whether what ended the program may come from a loop that was shortened.
    ended_by_cut: bool = False
    data_were_cut: bool = False
    world: int = 1
    started: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        self._said: set[str] = set()
        self._found: set[str] = set()
        self._fine: dict[tuple[str, Place], int] = {}
        self._owned: dict[str, bool] = {}
        self._listening: dict[str, list[Watcher]] = {}
        # Statements that a made-up value decided: file, first line, last line.
        self._decided: set[tuple[str, int, int]] = set()
        self._trees: dict[str, list[ast.AST]] = {}

    # ------------------------------------------------------------------ what is told

    def find(
        self,
        slug: str,
        category: str,
        message: str,
        place: Place | None = None,
        related: tuple[Place, ...] = (),
    ) -> None:
        """Tell a finding, once a place; one behind a branch that a made-up value decided is a suggestion."""
        place = place or self.place()
        if not place[1]:
            return
        self._found.add(slug)
        behind = self._behind(place)
        if behind:
            category = "suggestion"
            message += f"; less sure: line {behind} decided by a value that a dry run does not have"
        self._tell("finding", slug=slug, category=category, message=message, place=place, related=related)

    def fine(self, slug: str, *places: Place) -> None:
        """Remember that a watcher looked at these lines and found them in order."""
        for place in places:
            if place[1]:
                self._fine[slug, place] = self._fine.get((slug, place), 0) + 1

    def absent(self, slug: str, place: Place) -> None:
        """Remember that what a fault leaves out was done: one look is proof."""
        if place[1]:
            self._fine[slug, place] = AT_LEAST

    def settle(self) -> None:
        """Tell where a fault was looked for often enough to know that it is absent; not if it is found anywhere."""
        for (slug, place), times in self._fine.items():
            if times >= AT_LEAST and slug not in self._found:
                self._tell("judged", slug=slug, place=place)

    def note(self, text: str) -> None:
        self._tell("note", text=text)

    def end(self, outcome: str, place: Place = NOWHERE, why: str = "") -> None:
        self._tell(
            "end",
            outcome=outcome,
            place=place,
            why=why,
            cut=self.ended_by_cut,
            forwards=self.forwards,
            backwards=self.backwards,
            steps=sum(self.steps.values()),
        )

    def _tell(self, kind: str, **what: Any) -> None:
        text = json.dumps({"kind": kind, **what})
        about = json.dumps([kind, what.get("slug"), what.get("place"), what.get("text")])
        if about not in self._said:
            self._said.add(about)
            os.write(self.channel, text.encode() + b"\n")

    # ------------------------------------------------------------------ watchers

    def emit(self, event: str, *arguments: Any) -> None:
        """Ask every watcher; one that fails is left out from then on, and the program goes on."""
        listening = self._listening.get(event)
        if listening is None:
            listening = self._listening[event] = [w for w in self.watchers if event in overridden(w)]
        if not listening:
            return
        with torch._C.DisableTorchFunction():
            self._ask(listening, event, arguments)

    def _ask(self, listening: list[Watcher], event: str, arguments: tuple[Any, ...]) -> None:
        for watcher in list(listening):
            try:
                getattr(watcher, event)(*arguments)
            except Exception as error:  # noqa: BLE001 - ours, never the program's
                self.watchers.remove(watcher)
                self._listening.clear()
                self.note(
                    f"the watcher {watcher.SLUG} failed and was left out: {type(error).__name__}: {error}"
                )

    # ------------------------------------------------------------------ places

    def owns(self, file: str) -> bool:
        """Whether a file is the user's: beneath their folder, and no installed library."""
        if file not in self._owned:
            # Compiled libraries name their sources by a relative path of the machine that built them.
            path = os.path.abspath(file) if os.path.isabs(file) or os.path.exists(file) else ""
            installed = is_installed(path) or path.startswith(
                (sys.prefix + os.sep, os.path.dirname(os.__file__))
            )
            self._owned[file] = path.startswith(self.folder + os.sep) and not installed
        return self._owned[file]

    def frames(self, frame: FrameType | None = None) -> list[FrameType]:
        """The user's frames, innermost first."""
        frame, found = frame or sys._getframe(1), []
        while frame is not None:
            if self.owns(frame.f_code.co_filename):
                found.append(frame)
            frame = frame.f_back
        return found

    def places(self) -> list[Place]:
        """The lines of the user's code that are being run, innermost first."""
        return [(f.f_code.co_filename, f.f_lineno) for f in self.frames()]

    def place(self) -> Place:
        """The innermost line of the user's code that is being run; line 0 where there is none."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self.owns(frame.f_code.co_filename):
                return frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back
        return NOWHERE

    def line(self, place: Place) -> str:
        return linecache.getline(*place).strip()

    def elapsed(self) -> float:
        """The part of the run's time that has gone by."""
        return (time.process_time() - self.started) / self.seconds

    def loop(self) -> Loop | None:
        """The innermost loop of the user's code that is running."""
        return self.loops[-1] if self.loops else None

    # ------------------------------------------------------------------ values that were made up

    def made_up(self) -> None:
        """A value was asked for that there is none of; remembered where it decides a branch."""
        file, line = self.place()
        if line:
            for node in self._branches(file):
                test = getattr(node, "test", None)
                if test is not None and test.lineno <= line <= (test.end_lineno or test.lineno):
                    self._decided.add((file, node.lineno, node.end_lineno or node.lineno))  # type: ignore[attr-defined]

    def _branches(self, file: str) -> list[ast.AST]:
        if file not in self._trees:
            try:
                tree = ast.parse("".join(linecache.getlines(file)))
            except SyntaxError:
                tree = ast.Module([], [])
            self._trees[file] = [n for n in ast.walk(tree) if isinstance(n, (ast.If, ast.While, ast.IfExp))]
        return self._trees[file]

    def _behind(self, place: Place) -> int:
        places = [place, *((f.f_code.co_filename, f.f_lineno) for f in self.frames())]
        for file, first, last in self._decided:
            if any(f == file and first < line <= last for f, line in places):
                return first
        return 0

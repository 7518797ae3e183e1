"""``%load_ext firstcause``: the magics ``%%firstcause`` and ``%triage``, and the memory of the cells that ran."""

from __future__ import annotations

import importlib
import io
import os
import sys
import traceback
from typing import Any

from firstcause.errors import FirstcauseError, InputError
from firstcause.integrations.notebook.cells import Cell
from firstcause.integrations.notebook.diagnosing import answer, options


class Extension:
    """The magics of one IPython shell; nothing is watched outside of a cell under ``%%firstcause``."""

    def __init__(self, shell: Any) -> None:
        self.shell, self.folder = shell, os.getcwd()
        # What ran before us is taken as it stands; from here on what failed is left out.
        ran = list(enumerate(shell.history_manager.input_hist_raw))[1:]
        self.cells = [Cell(n, text) for n, text in ran if "%load_ext firstcause" not in text and text.strip()]

    def load(self) -> None:
        self.shell.register_magic_function(self.firstcause, "cell", "firstcause")
        self.shell.register_magic_function(self.triage, "line_cell", "triage")
        self.shell.events.register("post_run_cell", self.ran)

    def unload(self) -> None:
        self.shell.events.unregister("post_run_cell", self.ran)
        for kind, name in (("cell", "firstcause"), ("line", "triage"), ("cell", "triage")):
            self.shell.magics_manager.magics[kind].pop(name, None)

    def ran(self, result: Any) -> None:
        """Keep a cell that ended well and is one of the history's own."""
        if result.success and result.info.store_history and result.execution_count is not None:
            self.cells.append(Cell(result.execution_count, result.info.raw_cell))

    def firstcause(self, line: str, cell: str) -> None:
        """Run this cell, and where it fails, or its loss or a gradient is not finite, find the first cause.

        With --audit also where nothing is seen. For that the cells so far are run once more from their start, as a script
        in a process of its own.
        """
        # Our frame is none of the cell's.
        __tracebackhide__ = True
        try:
            asked = options(line)
        except InputError as refused:
            print(f"firstcause: {refused}", file=sys.stderr)
            return
        watch, error = self._run(cell)
        bad = watch.bad if watch else ""
        if error is None and not asked.audit and not bad:
            seen = watch.told() if watch else "torch is not installed here, and nothing was watched"
            print(f"firstcause: {seen}")
            return
        cells = [*self.cells, Cell(self._count(), f"# %%firstcause\n{cell}")]
        try:
            print(answer(cells, self.folder, asked, error, bad))
        except FirstcauseError as failure:
            print(f"firstcause: {failure}", file=sys.stderr)
        if error is not None:
            raise error

    def triage(self, line: str, cell: str | None = None) -> None:
        """Say where an error belongs: the kernel's last one, or the text behind the magic."""
        from firstcause.report.triage import render_triage
        from firstcause.triage.conclude import conclude
        from firstcause.triage.read import read

        text = "\n".join(part for part in (line, cell) if part)
        if not text:
            last = getattr(sys, "last_value", None)
            if last is None:
                print(
                    "firstcause: no cell has failed so far; next: %triage and the text of an error",
                    file=sys.stderr,
                )
                return
            text = "".join(traceback.format_exception(last))
        out = io.StringIO()
        try:
            render_triage(conclude(read(io.BytesIO(text.encode()), "the error")), out)
        except FirstcauseError as failure:
            print(f"firstcause: {failure}", file=sys.stderr)
            return
        print(out.getvalue().rstrip())

    def _count(self) -> int:
        # The shell's own counter is raised before a cell in some versions, and after it in others.
        return len(self.shell.history_manager.input_hist_raw) - 1

    def _run(self, cell: str) -> tuple[Any, BaseException | None]:
        """The cell in the kernel, as it would run without us, and what it raised, not shown yet."""
        watch: Any = None
        try:
            # By name: the extension is loaded where torch may not be installed.
            watch = importlib.import_module("firstcause.integrations.notebook.watching").Watch()
        except ImportError:
            # Nothing is to be watched without torch.
            result = self._run_silently(cell)
        else:
            with watch:
                result = self._run_silently(cell)
        return watch, result.error_before_exec or result.error_in_exec

    def _run_silently(self, cell: str) -> Any:
        shown = self.shell.__dict__.get("showtraceback")
        self.shell.showtraceback = lambda *args, **kwargs: None
        try:
            # The outer cell, with our magic, stands in the history.
            return self.shell.run_cell(cell, store_history=False)
        finally:
            if shown is None:
                del self.shell.showtraceback
            else:
                self.shell.showtraceback = shown


_loaded: dict[int, Extension] = {}


def load(shell: Any) -> None:
    """Give a shell the magics; a second time changes nothing."""
    if id(shell) not in _loaded:
        _loaded[id(shell)] = Extension(shell)
        _loaded[id(shell)].load()


def unload(shell: Any) -> None:
    """Take the magics out of a shell."""
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.unload()

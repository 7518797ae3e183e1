"""A failing test is run again by itself, recorded, and what the diagnosis says stands in the test's report."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Sequence

import pytest

from firstcause.integrations.again import diagnosed, recorded

# A process diagnoses so many failing tests: with more of them the first ones say what is wrong.
MOST = 3
# A test that is run alone may take so many times what it took among the others, and its imports besides.
SLOWER, IMPORTS = 10.0, 60.0
TITLE = "firstcause"
TOLD = ("PYTEST_XDIST", "PYTEST_CURRENT_TEST", "PYTEST_VERSION")


class Diagnosing:
    """Adds a section to the report of each failing test that uses torch, for the first ``MOST`` of a process."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.budget = float(config.getoption("--firstcause-budget"))
        self.count = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.failed and report.when != "teardown" and "torch" in sys.modules:
            self.count += 1
            hooks = item.config.hook
            if hasattr(hooks, "pytest_timeout_cancel_timer"):
                # The limit is the test's: what is done about its failure does not count.
                hooks.pytest_timeout_cancel_timer(item=item)
            report.sections.append((TITLE, self._told(item, call.duration)))
        return report

    def _told(self, item: pytest.Item, took: float) -> str:
        words = self._again(item)
        if self.count > MOST:
            alone = " ".join(["pytest", "--firstcause", words[0]])
            return f"not diagnosed: {MOST} failing tests were before it; next: {alone}"
        cwd = str(self.config.invocation_params.dir)
        command = [sys.executable, "-m", "pytest", *words]
        # What xdist and pytest tell the process of a test is not for a new pytest.
        environment = {k: v for k, v in os.environ.items() if not k.startswith(TOLD)}
        limit = IMPORTS + SLOWER * took
        try:
            run = recorded(command, cwd, environment, limit)
        except subprocess.TimeoutExpired:
            return f"not diagnosed: among the others the test took {took:.1f} s, and alone more than {limit:.0f} s"
        if run is None:
            return "not diagnosed: the test could not be recorded; next: " + " ".join(
                ["firstcause", "run", *command]
            )
        if run["exit_code"] == 0:
            return "not diagnosed: run alone, the test passes; it fails by what other tests leave behind, or by chance"
        if run["exit_code"] not in (1, None):
            return f"not diagnosed: run alone, pytest ended with code {run['exit_code']}; next: {' '.join(command)}"
        return diagnosed(run["id"], cwd, environment, self.budget)

    def _again(self, item: pytest.Item) -> list[str]:
        """The words that select this test alone, in this process, and its file compiled as Python compiles it."""
        given = [*getattr(self.config, "workerinput", {}).get("mainargv", ())[1:]]
        given = given or [str(word) for word in self.config.invocation_params.args]
        path = os.path.relpath(item.path, self.config.invocation_params.dir)
        name = "::".join([path, *item.nodeid.split("::")[1:]])
        # pytest's rewritten assertions would be compiled without our marks.
        words = [name, *_options(given, self.config.args), "-s", "--assert=plain"]
        plugins = self.config.pluginmanager
        if plugins.has_plugin("xdist"):
            words += ["-n", "0"]
        if plugins.has_plugin("timeout"):
            # Recorded and replayed it takes longer; that has a limit of ours.
            words += ["--timeout", "0"]
        if plugins.has_plugin("_cov"):
            words.append("--no-cov")
        return words


def _options(given: Sequence[str], positional: Sequence[str]) -> list[str]:
    """What was typed without our own options and without the files; an option's value comes before them."""
    words: list[str] = []
    skip = False
    for word in given:
        # A debugger would wait for a person.
        if skip or word in ("--firstcause", "--pdb", "--trace") or word.startswith("--firstcause-budget"):
            skip = not skip and word == "--firstcause-budget"
            continue
        words.append(word)
    for name in positional:
        if name in words:
            del words[len(words) - 1 - words[::-1].index(name)]
    return words

from __future__ import annotations

# Some programs have the names of test files: pytest itself is one of the launchers.
collect_ignore = ["programs"]

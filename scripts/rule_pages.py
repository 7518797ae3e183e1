"""Write docs/rules from the rules themselves: a page a rule, and an index by family; run it after a rule has changed."""

from __future__ import annotations

from pathlib import Path

from firstcause.check.pages import index, name_of, page
from firstcause.check.rules import rules

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "rules"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = {f"{name_of(rule)}.md": page(rule) for rule in rules()}
    wanted["README.md"] = index()
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

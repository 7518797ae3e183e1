"""Files that hold settings, and no data: "the settings may live in ner.json"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line
from firstcause.check.brief.vocabulary import word_set

_SETTINGS = word_set("settings_files", "settings")
_BETWEEN = word_set("settings_files", "between")
_REACH = 9


def settings_files(line: Line) -> None:
    """Leave such a file: what is read from it is no data set."""
    for at, token in enumerate(line.tokens):
        if token.kind == "path" and not token.claimed and token.text.endswith((".json", ".py")):
            place = at - 1
            while place >= max(0, at - _REACH) and line.tokens[place].text in _BETWEEN:
                place -= 1
            if place >= 0 and line.tokens[place].text in _SETTINGS:
                token.claimed = True

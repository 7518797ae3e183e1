"""The form to which an engine shall hold what it writes: "one of the four words, enforced by the engine"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in

_ENFORCES = ("enforc", "constrain", "guarantee", "guided", "restrict", "structured", "forced", "forces")
_WRITTEN = (
    "answer",
    "output",
    "repl",
    "respon",
    "label",
    "completion",
    "decod",
    "generat",
    "categor",
    "word",
)
_CARDS = frozenset({"gpu", "gpus", "card", "cards", "machine", "machines", "servers", "server", "nodes"})
# What a form is called, and the value that stands for it.
_FORMS = {
    "regex": "regex",
    "regexp": "regex",
    "pattern": "regex",
    "grammar": "grammar",
    "ebnf": "grammar",
    "choices": "choice",
    "options": "choice",
}


def held_to_form(line: Line) -> None:
    """Claim a choice, a pattern or a grammar where the sentence says that the engine enforces it."""
    if line.scene.training or any(r.key == "structured_output" for r in line.readings):
        return
    words = words_in(line.tokens)
    if not any(w.startswith(_ENFORCES) for w in words) or not any(w.startswith(_WRITTEN) for w in words):
        return
    for at, token in enumerate(line.tokens):
        form = _FORMS.get(token.text, "")
        if token.text == "one of" or line.words(at, at + 2) == ["one", "of"]:
            form = "choice"
        if form == "choice" and any(
            t.kind == "card" or t.key or t.text in _CARDS for t in line.tokens[at : at + 5]
        ):
            # "On one of our cards".
            continue
        if form and not token.claimed:
            line.claim(Reading("structured_output", form, at, at))
            return

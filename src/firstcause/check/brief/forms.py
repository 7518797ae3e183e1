"""The form to which an engine shall hold what it writes: "one of the four words, enforced by the engine"."""

from __future__ import annotations

import re
from itertools import pairwise

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
_SCHEMA = re.compile(r"schema[^/]*\.json\Z")
_KEEPS_TO = ("follow", "match", "conform", "obey", "compl", "adher", "satisf", "valid", "respect", "fit")
_READ = ("input", "request", "record", "payload", "source")
_REACH = 7
_IS = frozenset({"be", "is", "are", "as", "in", "plain", "pure", "only", "valid", "become"})
# A form that fails: "where the answer did not become valid JSON", "if it isn't valid JSON".
_WHERE = frozenset({"where", "when", "whenever", "if", "unless", "case"})
_BECOMES = frozenset({"become", "parse", "parses", "yield", "produce", "turn"})
_NOT_SO = frozenset(
    {"isnt", "wasnt", "didnt", "doesnt", "arent", "not", "invalid", "fails", "cannot", "cant"}
)
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


def _is_schema(line: Line, at: int) -> bool:
    """Whether a file of a schema stands where what is written has to keep to it: "conform to ticket.schema.json"."""
    token = line.tokens[at]
    if token.kind != "path" or token.claimed or not _SCHEMA.search(token.text):
        return False
    if any(t.has("not") or t.has("not_needed") for t in line.tokens):
        return False
    before = words_in(t for t in line.tokens[max(0, at - 8) : at] if t.segment == token.segment)
    read = any(w.startswith(_READ) for w in before)
    held = any(w.startswith((*_KEEPS_TO, *_ENFORCES)) for w in before)
    return not read and (held or _decodes_so(line, at))


def _decodes_so(line: Line, at: int) -> bool:
    """Whether decoding is said to be constrained before: "it can do guided decoding, give it the schema in x.json"."""
    said = words_in(line.tokens[:at])
    return any(
        a.startswith(_ENFORCES) and b in ("decoding", "generation", "sampling") for a, b in pairwise(said)
    )


def held_to_form(line: Line) -> None:
    """Claim a choice, a pattern or a grammar where the sentence says that the engine enforces it."""
    if line.scene.training:
        return
    _of_faults(line)
    if any(r.key == "structured_output" for r in line.readings):
        return
    _bare_json(line)
    words = words_in(line.tokens)
    if not any(w.startswith(_ENFORCES) for w in words) or not any(w.startswith(_WRITTEN) for w in words):
        return
    if any(r.key == "structured_output" for r in line.readings):
        return
    schema = next((n for n in range(len(line.tokens)) if _is_schema(line, n)), None)
    if schema is not None:
        line.claim(Reading("structured_output", "json_schema", schema, schema))
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
        own = [t for t in line.tokens[max(0, at - 4) : at] if t.segment == token.segment]
        if form and form != "choice" and any(t.has("not") or t.text in ("no", "without") for t in own):
            # "I do not want any regex on the answers".
            continue
        if form and not token.claimed:
            line.claim(Reading("structured_output", form, at, at))
            return


def _bare_json(line: Line) -> None:
    """Claim "the reply must be JSON" and "the engine guarantees JSON"; where a schema is enforced, that."""
    tokens = line.tokens
    for at, token in enumerate(tokens):
        if token.text != "json" or token.claimed:
            continue
        before = words_in(t for t in tokens[max(0, at - _REACH) : at] if t.segment == token.segment)
        after = words_in(t for t in tokens[at + 1 : at + 3] if t.segment == token.segment)
        written = any(w.startswith((*_WRITTEN, "it")) for w in before) and bool(set(before[-2:]) & _IS)
        enforced = any(w.startswith(_ENFORCES) for w in (*before, *after)) or after[:1] == ["only"]
        refused = bool(before) and before[-1] in ("no", "without") and after[:1] != ["schema"]
        schema = any(t.text.split()[-1] == "schema" for t in tokens) and any(
            w.startswith(_ENFORCES) for w in words_in(tokens)
        )
        later = [t for t in tokens if t.start > token.start]
        # "Take JSON as the answer, enforced by the server through a schema".
        enforced = enforced or (
            schema
            and any(w.startswith(_ENFORCES) for w in words_in(later))
            and any(w.startswith(_WRITTEN) for w in words_in(tokens))
            and not any(t.has("not") for t in tokens)
        )
        if not (written or enforced or refused):
            continue
        line.claim(Reading("structured_output", "json_schema" if schema else "json", at, at))
        return


def _of_faults(line: Line) -> None:
    """Leave "null where the answer did not become valid JSON": it says what happens when it fails."""
    tokens = line.tokens
    for reading in [r for r in line.readings if r.key == "structured_output"]:
        own = [t for t in tokens[: reading.first] if t.segment == tokens[reading.first].segment]
        words = words_in(own)
        if "anything" in words and {"that", "which"} & set(words):
            # "Never return anything that is not valid JSON" asks for it.
            reading.settled = True
            continue
        denied = any(t.has("not") for t in own) or bool(_NOT_SO & set(words))
        if denied and (_WHERE & set(words) or _BECOMES & set(words[-2:])):
            line.readings.remove(reading)

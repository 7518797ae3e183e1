"""The modules that get adapters: names, letters ("q, k and v"), all linear layers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import word_set


def target_modules(line: Line, typed: str, heard: Sequence[Reading] = ()) -> None:
    """Claim the modules that get adapters: names, letters ("q, k and v"), or all linear layers; ``typed`` is the text."""
    parts: list[tuple[int, str]] = []
    written = list(_written(line, typed)) if _about_adapters(line) else []
    names = [(places[0], name) for places, name in written]
    covered = {n for places, _ in written for n in places}
    for at, token in enumerate(line.tokens):
        if at in covered:
            continue
        part = next((cue for cue in _BLOCKS if token.has(cue)), "")
        if part and not token.claimed:
            parts.append((at, part))
        if token.entry is not None and not token.claimed:
            for key, value in token.entry.values:
                if key == "lora_target_modules":
                    if value in ("all-linear", "attention"):
                        if value == "all-linear" or _about_adapters(line):
                            line.claim(Reading(key, value, at, at))
                    else:
                        names.append((at, value))
        elif (
            token.kind == "word" and token.text in _LETTERS and _in_a_list(line, at) and _about_adapters(line)
        ):
            names.append((at, _LETTERS[token.text]))
    names.sort(key=lambda named: named[0])
    _parts_of_blocks(line, parts, names, heard)
    if not names and not any(r.key == "lora_target_modules" for r in line.readings):
        _every_linear(line)
    if names:
        # "The attention projections q and v" names them.
        line.readings[:] = [
            r for r in line.readings if (r.key, r.value) != ("lora_target_modules", "attention")
        ]
    if names and not any(r.key == "lora_target_modules" for r in line.readings):
        _of_adapters(line, names[0][0])
        own = [value for _, value in names]
        known = next((r.value for r in reversed(heard) if r.key == "lora_target_modules"), None)
        if isinstance(known, list) and any(t.text in _ADDS for t in line.tokens[: names[0][0]]):
            # "Add k_proj to the two modules".
            own = [*known, *own]
        values = list(dict.fromkeys(own))
        line.claim(
            Reading("lora_target_modules", values, names[0][0], names[-1][0]),
            *(at for at, _ in names),
            *covered,
        )


def _written(line: Line, typed: str) -> Iterator[tuple[list[int], str]]:
    """The modules that are written as code has them, with their places: "to_q to_k to_out.0", "in_proj"."""
    for match in _AS_IN_CODE.finditer(typed, line.tokens[0].start, line.tokens[-1].end):
        own = [n for n, t in enumerate(line.tokens) if match.start() <= t.start < match.end()]
        if own and not any(line.tokens[n].claimed for n in own):
            yield own, match[0]


def _of_adapters(line: Line, at: int) -> None:
    """Add the method where rank, alpha and modules are named together: "r/alpha 8/32 on q and v"."""
    keys = {r.key for r in line.readings}
    if {"lora_r", "lora_alpha"} <= keys and not any(t.gives("method") for t in line.tokens):
        line.readings.append(Reading("method", "lora", at, at))


# A transformer's projections as models name them; other names with an underscore may be of anything.
_AS_IN_CODE = re.compile(
    r"(?<![\w./-])(?:to_(?:q|k|v|kv|qkv|out(?:\.\d)?)|(?:[a-z]{1,8}_){1,3}proj|w[qkvo]|qkv)(?![\w/-])"
)
# Words for a part of a block, which count where adapters are put there: "LoRA on attention + MLP".
_PART, _BLOCK = "attention_part", "mlp_part"
_INTO = frozenset(
    {"on", "in", "into", "to", "for", "over", "every", "each", "at", "inside", "within", "around", "of"}
)
_ADAPTERS = frozenset({"lora", "qlora", "dora", "adapter", "adapters", "peft"})
_BLOCKS = {_PART: ("q_proj", "k_proj", "v_proj", "o_proj"), _BLOCK: ("gate_proj", "up_proj", "down_proj")}
# Models whose blocks have these seven; what others call them is not known here.
_GATED = word_set("modules", "gated")


def _parts_of_blocks(
    line: Line, parts: list[tuple[int, str]], names: list[tuple[int, str]], heard: Sequence[Reading]
) -> None:
    """Claim the attention, or add the projections of attention and MLP to the names where both are meant."""
    parts = [(at, value) for at, value in parts if _put_there(line, at)]
    if not parts or any(r.key == "lora_target_modules" for r in line.readings) or not _names_adapters(line):
        return
    values = {value for _, value in parts}
    if values == {_PART} and not names:
        line.claim(Reading("lora_target_modules", "attention", parts[0][0], parts[0][0]))
        return
    models = [
        str(r.value).lower() for r in (*heard, *line.readings) if r.key == "model" and r.polarity == "require"
    ]
    if models and not any(family in model for model in models for family in _GATED):
        return
    own = {at: value for at, value in parts if value == _BLOCK or not names}
    for at, value in own.items():
        names += [(at, name) for name in _BLOCKS[value]]
    names.sort(key=lambda named: named[0])


def _every_linear(line: Line) -> None:
    """Claim "in every linear layer", whose first words are those of a pace too."""
    for at in range(1, len(line.tokens) - 1):
        layer = line.words(at, at + 2) in (["linear", "layer"], ["linear", "module"])
        if layer and line.tokens[at - 1].has("every") and _names_adapters(line):
            line.claim(Reading("lora_target_modules", "all-linear", at, at + 1))
            return


def _put_there(line: Line, at: int) -> bool:
    """Whether something is put into a part: "on the attention layers", "attention + MLP", "lora: attention"."""
    tokens = line.tokens
    before = [
        t
        for t in tokens[max(0, at - 5) : at]
        if t.statement == tokens[at].statement and t.text not in ("the", "all")
    ]
    words = {w for t in before for w in t.text.split()}
    if " " not in tokens[at].text and not any(
        _ADAPTERS & set(t.text.split()) or t.key == "lora_r" for t in tokens[:at]
    ):
        # "Our paper on attention: train LoRA of rank 8".
        return False
    if words & _INTO or (
        before[-1:] and before[-1].text in (":", "=", "+", "plus", "and", "&", ",", "only", "just")
    ):
        return True
    return at + 1 < len(tokens) and tokens[at + 1].text in ("only", "+", "alone")


_LETTERS = {
    "q": "q_proj",
    "k": "k_proj",
    "v": "v_proj",
    "o": "o_proj",
    "query": "q_proj",
    "key": "k_proj",
    "value": "v_proj",
    "gate": "gate_proj",
    "up": "up_proj",
    "down": "down_proj",
}
_ADDS = frozenset({"add", "also", "additionally", "include", "plus"})
_LISTED = word_set("modules", "listed")


def _in_a_list(line: Line, at: int) -> bool:
    """Whether another such name stands beside this one, with a comma or "and" between."""
    for step in (-2, 2, -1, 1, -3, 3):
        other = at + step
        if 0 <= other < len(line.tokens) and (
            line.tokens[other].text in _LETTERS or line.tokens[other].text.endswith(" proj")
        ):
            between = line.words(min(at, other) + 1, max(at, other))
            if between and all(w in _LISTED for w in between):
                return True
    return False


def _about_adapters(line: Line) -> bool:
    """Whether the sentence speaks of adapters or of modules."""
    if "lora_target_modules" in line.topic:
        return True
    texts = {t.text for t in line.tokens} | {w for t in line.tokens for w in t.text.split()} - {"layers"}
    named = {t.key for t in line.tokens if t.key}
    return bool(
        texts
        & {
            "lora",
            "qlora",
            "adapters",
            "adapter",
            "modules",
            "projections",
            "target modules",
            "layers",
            "matrices",
            "dora",
            "peft",
        }
        or named & {"lora_r", "lora_alpha", "lora_target_modules"}
    )


def _names_adapters(line: Line) -> bool:
    """Whether adapters are named, or their rank; "layers" alone are those of any model."""
    words = {w for t in line.tokens for w in t.text.split()}
    named = {t.key for t in line.tokens if t.key}
    return bool(words & _ADAPTERS or named & {"lora_r", "lora_alpha"})

"""The modules that get adapters: names, letters ("q, k and v"), all linear layers."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.vocabulary import word_set


def target_modules(line: Line, heard: Sequence[Reading] = ()) -> None:
    """Claim the modules that get adapters: names, letters ("q, k and v"), or all linear layers."""
    names: list[tuple[int, str]] = []
    for at, token in enumerate(line.tokens):
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
    if names:
        # "The attention projections q and v" names them.
        line.readings[:] = [
            r for r in line.readings if (r.key, r.value) != ("lora_target_modules", "attention")
        ]
    if names and not any(r.key == "lora_target_modules" for r in line.readings):
        own = [value for _, value in names]
        known = next((r.value for r in reversed(heard) if r.key == "lora_target_modules"), None)
        if isinstance(known, list) and any(t.text in _ADDS for t in line.tokens[: names[0][0]]):
            # "Add k_proj to the two modules".
            own = [*known, *own]
        values = list(dict.fromkeys(own))
        line.claim(
            Reading("lora_target_modules", values, names[0][0], names[-1][0]), *(at for at, _ in names)
        )


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
    texts = {t.text for t in line.tokens}
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

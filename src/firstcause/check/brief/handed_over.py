"""What was handed over to the user holds now: "IT gave me a machine with 2 L40S and said I should use vLLM"."""

from __future__ import annotations

from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.vocabulary import word_set

_GIVEN = word_set("handed_over", "given")
_SPEAKERS = word_set("handed_over", "speakers")
_DUTIES = frozenset({"should", "must", "shall", "have", "need"})
_SELF = frozenset({"i", "we", "me", "us"})
_SAID = frozenset({"said", "told", "says", "tells"})
_HARDWARE = frozenset({"gpu", "num_gpus", "gpu_memory_gb"})
_STANDS = frozenset(
    {"rack", "box", "machine", "server", "workstation", "node", "lab", "cluster", "room", "building"}
)
_OVER = frozenset({"last", "previous", "former", "earlier"})
_REACH = 5


def is_handed_over(line: Line, reading: Reading) -> bool:
    """Whether it is hardware that the user was given, or what those who may say so told the user to use."""
    return (reading.key in _HARDWARE and _was_given(line, reading)) or _was_told_to(line, reading)


def of_a_place(line: Line, at: int) -> bool:
    """Whether what is told at a place only says where the hardware stands: "the two A6000 in the old rack"."""
    after = line.words(at + 1, at + 2)
    return line.tokens[at].text in ("the old", "our old") and bool(after) and after[0] in _STANDS


def _was_given(line: Line, reading: Reading) -> bool:
    """Whether a verb of giving is all that is told before it: "they gave me 2 L40S", "I was given four A100"."""
    tokens = line.tokens
    before = [t for t in tokens[: reading.first] if t.statement == tokens[reading.first].statement]
    words = words_in(before)
    place = next((n for n in range(len(words) - 1, -1, -1) if words[n] in _GIVEN), -1)
    if place < 0 or not _SELF & set(words[max(0, place - 4) : place + 2]):
        return False
    if _OVER & set(words_in(t for t in tokens if t.statement == tokens[reading.first].statement)):
        # "I got 8 A100 for last year's project".
        return False
    told = [t for t in before if t.has("told") or t.has("judged")]
    return all(
        _GIVEN & set(t.text.split()) or t.text in ("was", "were", "have been", "has been") for t in told
    )


def _was_told_to(line: Line, reading: Reading) -> bool:
    """Whether a duty of the user's stands before it: "IT said I should use vLLM", "my boss told us to use LoRA"."""
    tokens = line.tokens
    words = words_in(t for t in tokens[: reading.first] if t.statement == tokens[reading.first].statement)
    said = next((n for n in range(len(words) - 1, -1, -1) if words[n] in _SAID), -1)
    if said < 0 or not _SPEAKERS & set(words[:said]):
        return False
    rest = [w for w in words[said + 1 : said + 1 + _REACH] if w != "that"]
    duty = rest[:1] and rest[0] in _SELF and (rest[1:2] and (rest[1] in _DUTIES or rest[1] == "to"))
    return bool(duty)

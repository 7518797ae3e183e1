"""How many samples a step has, by what they are: "one picture per step", "512 sequences of 2048 tokens per update"."""

from __future__ import annotations

from firstcause.check.brief.limits import limit
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.values import accepts, in_normal_form
from firstcause.check.brief.vocabulary import vocabulary, word_set

_NOUNS = word_set("samples", "nouns")
_FRAMES = word_set("samples", "frames")
_TAKES = word_set("samples", "takes")
_TOGETHER = word_set("samples", "together")
_ACROSS = frozenset({"over", "across", "summed", "counting"})
_DEVICES = word_set("samples", "devices")
_STEPS = frozenset({"step", "iteration", "forward pass"})
_ONE = frozenset({"a", "an"})
_BATCHES = frozenset({"batch_size", "effective_batch_size"})
_UPDATES = word_set("updates", "updates") - {"weights", "optimizer"}
_COVERS = word_set("updates", "sees")
_HAS = frozenset({"has", "contains", "consists", "holds", "comes"})
_REACH = 8


def sample_counts(line: Line) -> None:
    """Claim counts of samples that a step, or an update, has."""
    for at, token in enumerate(line.tokens):
        if token.claimed:
            continue
        if token.kind == "number":
            _on_cards(line, at)
            _on_each_device(line, at)
            _of_length(line, at)
        frame = _frame(line, at)
        if frame:
            _counted(line, at, frame)
        elif token.text in _STEPS:
            _taken(line, at)


def together(line: Line, at: int) -> bool:
    """Whether all devices are counted in what stands from here on: "over all cards together"."""
    if line.words(at, at + 1) == [","]:
        following = words_in(line.tokens[at + 1 : at + 5])
        all_of_them = following[:1] in (["all"], ["both"]) and following[-1:] == ["together"]
        if (
            set(line.words(at + 1, at + 2)) & (_ACROSS | _TOGETHER)
            or all_of_them
            or following[:2] == ["all", "gpus"]
        ):
            at += 1
    segment = line.tokens[at].segment if at < len(line.tokens) else -1
    across = False
    for token in line.tokens[at : at + _REACH]:
        if token.segment != segment or token.kind == "break":
            return False
        words = token.text.split()
        if token.text in _TOGETHER or " ".join(words[:2]) in _TOGETHER:
            return True
        across = across or words[0] in _ACROSS
        if across and (token.kind == "card" or _DEVICES & set(words)):
            return True
    return False


def _together_before(line: Line, number: int) -> bool:
    """Whether "in total" stands before a count."""
    before = line.words(number - 2, number)
    return " ".join(before) in _TOGETHER or (before[-1:] != [] and before[-1] in _TOGETHER)


def _frame(line: Line, at: int) -> int:
    """The place of "per step" after a noun of samples, which may be one token with it; 0 where there is none."""
    words = line.tokens[at].text.split()
    if words[0] not in _NOUNS or not at:
        return 0
    if " ".join(words[1:]) in _FRAMES:
        return at
    following = at + 1 < len(line.tokens) and line.tokens[at + 1].text in _FRAMES
    return at + 1 if len(words) == 1 and following else 0


def _counted(line: Line, noun: int, frame: int) -> None:
    """Claim the count before a noun where the frame has none of its own, or counts all devices."""
    if noun > 1 and line.tokens[noun - 1].kind == "word" and line.tokens[noun - 1].text not in _ONE:
        # "One molecule graph per step".
        noun -= line.tokens[noun - 1].entry is None
    before = line.tokens[noun - 1]
    one = before.text in _ONE or (before.kind == "number" and before.value == 1)
    whole_count = before.kind == "number" and not before.unit and before.value == int(before.value)
    fits = any("fit" in t.text.split() for t in line.tokens[max(0, noun - 4) : noun - 1])
    if before.claimed or fits or not (one or whole_count):
        return
    everywhere = together(line, frame + 1) or _together_before(line, noun - 1)
    entry = line.tokens[frame].entry
    named = entry.named if entry is not None else None
    other = line.tokens[noun].key not in ("", *_BATCHES)
    if named is None or not (one or everywhere or other):
        return
    key = "effective_batch_size" if everywhere else named.key.name
    value = 1 if one else whole(before.value)
    relation = limit(line, noun - 1, frame, noun - 1)
    scope = "" if everywhere else named.scope
    line.claim(Reading(key, value, noun - 1, frame, relation, scope), *{noun - 1, noun, frame})


def _taken(line: Line, at: int) -> None:
    """Claim the one in "each step takes one pair"; of several it is not said whether they are accumulated."""
    tokens = line.tokens
    if (
        not at
        or not tokens[at - 1].has("every")
        or at + 3 >= len(tokens)
        or tokens[at + 1].text not in _TAKES
    ):
        return
    number, noun = tokens[at + 2], tokens[at + 3]
    one = number.text in (*_ONE, "one") or (number.kind == "number" and number.value == 1)
    if one and noun.text in _NOUNS and not number.claimed:
        line.claim(Reading("batch_size", 1, at - 1, at + 3))


def _of_length(line: Line, at: int) -> None:
    """Claim both numbers of "512 sequences of 2048 tokens per update"; without a frame the first counts the data."""
    tokens = line.tokens
    length = _length_after(line, at)
    if not length or not _counts(tokens[at]) or not accepts(vocabulary().keys["max_length"], tokens[length]):
        return
    after = tokens[length + 1] if length + 1 < len(tokens) else None
    has = any(t.text in _HAS and t.statement == tokens[at].statement for t in tokens[:at])
    counts_tokens = after is not None and after.key == "max_length"
    frame = length + 1 + counts_tokens
    entry = tokens[frame].entry if frame < len(tokens) else None
    named = entry.named if entry is not None else None
    framed = named is not None and named.key.name in _BATCHES
    if not counts_tokens and not framed:
        return
    if has and not framed:
        # "The corpus has 512 sequences of 2048 tokens" tells of the data.
        for place in (at, at + 1, length, length + 1):
            tokens[place].claimed = True
        return
    value = in_normal_form(vocabulary().keys["max_length"], tokens[length])
    line.claim(Reading("max_length", value, at + 1, length + counts_tokens))
    if framed and named is not None:
        everywhere = together(line, frame + 1)
        key = "effective_batch_size" if everywhere else named.key.name
        scope = "" if everywhere else named.scope
        line.claim(Reading(key, whole(tokens[at].value), at, frame, "eq", scope), at, frame)
    elif any(t.text in _UPDATES for t in tokens[:at]) and tokens[at - 1].text in _COVERS:
        # "Each update covers 1024 sequences of 512 tokens".
        line.claim(Reading("effective_batch_size", whole(tokens[at].value), at, at, settled=True))
    elif not at or tokens[at - 1].key not in _BATCHES:
        tokens[at].claimed = True


def _on_cards(line: Line, at: int) -> None:
    """Claim both numbers of "16 images x 8 GPUs"."""
    tokens = line.tokens
    own = tokens[at : at + 5]
    if len(own) < 4 or not _counts(own[0]) or own[0].claimed or own[1].text not in _NOUNS:
        return
    crossed = own[2].text in ("x", "times", "*") and len(own) == 5
    number, card = (own[3], own[4]) if crossed else (own[2], own[3])
    counts = number.kind == "number" and number.unit in ("", "x") and number.value == int(number.value)
    if (
        not counts
        or not (crossed or number.unit == "x")
        or not (card.kind == "card" or card.key == "num_gpus")
    ):
        return
    second = at + 2 + crossed
    line.claim(Reading("batch_size", whole(own[0].value), at, at + 1, scope="per_device"))
    if card.kind != "card":
        line.claim(Reading("num_gpus", whole(number.value), second, second + 1))


def _on_each_device(line: Line, at: int) -> None:
    """Claim both numbers of "every GPU takes 4096 rows, so 16,384 per step"."""
    tokens = line.tokens
    if at < 3 or at + 1 >= len(tokens) or not _counts(tokens[at]) or tokens[at].claimed:
        return
    each, device, verb = tokens[at - 3 : at]
    taken = verb.text in _TAKES and (each.has("every") or each.text in ("each", "every"))
    if not taken or device.key != "num_gpus" or tokens[at + 1].text not in _NOUNS:
        return
    line.claim(Reading("batch_size", whole(tokens[at].value), at, at + 1, scope="per_device"))
    for place in range(at + 2, len(tokens) - 1):
        entry = tokens[place + 1].entry
        named = entry.named if entry is not None else None
        of_step = named is not None and named.key.name in _BATCHES
        if _counts(tokens[place]) and tokens[place].kind == "number" and of_step:
            if tokens[place].value > tokens[at].value and tokens[place].value % tokens[at].value == 0:
                value = whole(tokens[place].value)
                line.claim(Reading("effective_batch_size", value, place, place + 1, settled=True))
            return


def _length_after(line: Line, at: int) -> int:
    """The place of the length in "16 sequences of 2048", or 0."""
    tokens = line.tokens
    if at + 2 >= len(tokens):
        return 0
    noun = tokens[at + 1].text.split()
    if noun[0] in _NOUNS and noun[-1] == "of" and tokens[at + 2].kind == "number":
        return at + 2
    plain = noun[0] in _NOUNS and len(noun) == 1 and tokens[at + 2].text == "of"
    return at + 3 if plain and at + 3 < len(tokens) and tokens[at + 3].kind == "number" else 0


def _counts(token: Token) -> bool:
    return not token.unit and token.value == int(token.value) and token.value >= 1

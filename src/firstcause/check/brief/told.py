"""What is no wish although it names values: questions, the past, what others do, what is judged."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.handed_over import is_handed_over
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.unwished import concluded, is_unwished, is_why
from firstcause.check.brief.vocabulary import vocabulary, word_set

_ASKS_FOR = tuple(sorted(word_set("told", "asks_for")))
_OPENERS = word_set("told", "openers")
_ONLY_ASKS = word_set("told", "only_asks")
_SPEAKS_OF_SELF = word_set("told", "speaks_of_self")
# A wish even where something is told before it in the same breath.
_SURELY = word_set("told", "surely")
_PAST = frozenset({"was", "were", "had been"})
# Who says it is not the user: "the finder suggested 1e-3".
_SAYS = _PAST | {
    "suggested",
    "suggests",
    "said",
    "says",
    "reported",
    "reports",
    "recommended",
    "recommends",
    "gave",
}
_CONSUMES = word_set("told", "consumes")
_EXPLAINS = (
    "explain",
    "tell me",
    "describe the",
    "clarify",
    "help me understand",
    "remind me",
    "let me know",
    "teach me",
)
_ASKS_WHY = ("why ", "does ", "did ", "how come ", "should i ", "should we ", "is there ", "are there ")
# What one waits for: its condition is the wish itself.
_WAITED_FOR = frozenset({
    "early_stopping", "early_stopping_patience", "metric_for_best", "save_strategy", "eval_strategy", "save_rank",
})  # fmt: skip
# "After 200 steps" is when something happens, unless it is the end.
_ENDS = ("stop", "end", "halt", "quit", "finish", "terminat", "done", "abort", "over", "cut", "train", "kill")
_HAS = frozenset({"has", "have", "uses", "contains", "consists", "comes with"})
_IFS = frozenset({"if", "unless", "where", "when"})
# The assistant's advice is what it proposes.
_ADVISES = word_set("told", "advises")
_OTHERS = word_set("told", "others")
_MODALS = word_set("told", "modals")
_FORMER = word_set("told", "former")
_TEXTS = word_set("told", "texts")
_SAYS_SO = word_set("told", "says_so")
_MEASURED = word_set("told", "measured")
_TIMES = word_set("told", "times")
_TERMS = word_set("told", "terms")
_DOUBTS = frozenset({"whether", "wonder", "wondering", "ask", "asked"})
_OF_A_SERIES = (["step"], ["steps"], ["point"], ["points"], ["index"], ["frame"])
_SINCE = frozenset({"after", "since", "from", "following"})
_HAPPENED = frozenset({"tried", "was", "were", "made", "did", "had"})
_NOT_WANTED = frozenset(
    {
        "diverged",
        "failed",
        "crashed",
        "baseline",
        "comparison",
        "reference",
        "broke",
        "overfitted",
        "exploded",
        "worse",
    }
)
_VALUES = frozenset(
    {"numbers", "settings", "values", "hyperparameters", "hyperparams", "parameters", "hparams", "config"}
)
_CHANGES = frozenset({"change", "changes", "update", "updates", "correction", "corrections", "adjustments"})
_HARDWARE = frozenset({"gpu", "num_gpus", "gpu_memory_gb"})
_ENOUGH = ("are plenty", "is plenty", "are enough", "is enough", "suffice", "will do", "should do")


def asks(line: Line) -> bool:
    """Whether a sentence only asks: "Is 64 better?", but not "Could you set the batch size to 8?"."""
    if line.sentence.proposes:
        return False
    words = words_in(t for t in line.tokens[:14] if t.kind == "word")
    while words and words[0] in _OPENERS:
        words.pop(0)
    text = " ".join(words)
    if text.removeprefix("please ").startswith(_EXPLAINS):
        return True
    if not line.sentence.asks:
        return text.startswith(_ASKS_WHY)
    return not text.startswith(_ASKS_FOR) or any(w in _ONLY_ASKS for w in words[:8])


def is_told(line: Line, reading: Reading) -> bool:
    """Whether what is said is past, reported or judged, by the words of its statement."""
    tokens = line.tokens
    if reading.settled and reading.value == "plateau":
        # "When the loss has not dropped" is what is waited for.
        return False
    if _taken_over(line, reading) or concluded(line, reading) or is_handed_over(line, reading):
        return False
    if _when(line, reading) or _of_a_model(line, reading) or _in_doubt(line, reading):
        return True
    if _would_fit(tokens, reading) or is_unwished(line, reading):
        return True
    if _in_told_parenthesis(line, reading) or _of_others(line, reading) or _of_a_text(line, reading):
        return True
    statement, segment = tokens[reading.first].statement, tokens[reading.first].segment
    if line.words(reading.first + 1, reading.last) == [":"]:  # "Rank: 64 is overkill".
        segment = tokens[reading.last].segment
    if reading.key not in _HARDWARE and _measures(line, reading):
        return True
    for at, token in enumerate(tokens):
        if token.statement != statement:
            continue
        if token.text in ("if", "when", "unless") and _in_condition(tokens, at, reading):
            return True
        if token.entry is None or (token.text == "loss is" and reading.key in ("loss", "completion_only")):
            continue
        if reading.first <= at <= reading.last:
            # "The seed was 1".
            if (
                token.text in _SAYS
                and not _wished(tokens, reading.first, segment)
                and not _wish_between(tokens, at, reading.last)
            ):
                return True
            continue
        near = token.segment == segment or (token.segment == segment - 1 and at < reading.first)
        judged = token.has("judged") and near and reading.key not in _HARDWARE
        if judged and _has_object(line, at, reading):
            continue
        if judged and not _wish_between(tokens, at, reading.first):
            return True
        if not token.has("told") or (line.sentence.proposes and token.text in _ADVISES):
            continue
        if token.text == "last time" and line.words(at + 1, at + 2)[:1] in _OF_A_SERIES:
            # "The last time steps of a window" tell of no earlier run.
            continue
        if token.text in ("reached", "reaches") and _at_the_peak(line, at):
            continue
        if is_why(line, at):
            continue
        if at < reading.first and token.segment < segment and _is_enough(tokens, reading):
            continue
        if at < reading.first:
            if _introduces_changes(tokens, at, reading.first) or _hands_over(tokens, at, reading.first):
                continue
            if not _wish_between(tokens, at, reading.first) and not _aside(tokens, at, reading.first):
                return True
        elif token.segment == segment and not _wished(tokens, reading.first, segment):
            return True
    return False


def _taken_over(line: Line, reading: Reading) -> bool:
    """Whether what others do is then asked for: "the paper has lr 6e-4, take that one"."""
    after = line.tokens[reading.last + 1 :]
    said = " ".join(words_in(after[:6]))
    for phrase in (", take that one", ", take that", ", use that", ", take it", ", use it", ", go with that"):
        if said.startswith(phrase):
            # "Take it with a grain of salt" takes nothing.
            rest = words_in(after)[len(phrase.split()) :]
            return not rest or rest[0] in (".", ",", ";", ")", "please")
    return False


def _is_enough(tokens: list[Token], reading: Reading) -> bool:
    """Whether a value is what is drawn from what was seen: "had a look at the lengths, 384 tokens are plenty"."""
    segment = tokens[reading.first].segment
    after = " ".join(words_in(t for t in tokens[reading.last + 1 : reading.last + 4] if t.segment == segment))
    return after.startswith(_ENOUGH)


def _would_fit(tokens: list[Token], reading: Reading) -> bool:
    """Whether it is what comes of doing otherwise: "otherwise only 2 sequences fit"."""
    own = [t for t in tokens if t.statement == tokens[reading.first].statement and t.kind != "break"]
    return own[0].text == "otherwise" and any(t.text.startswith("fit") for t in tokens[reading.last :])


def _introduces_changes(tokens: list[Token], at: int, reading: int) -> bool:
    """Whether what is told only leads up to changes: "Two changes after looking at the old runs: lr 3e-4"."""
    colon = next((n for n in range(at, reading) if tokens[n].text == ":"), 0)
    start = next((n for n in range(at, -1, -1) if tokens[n].statement != tokens[at].statement), -1) + 1
    before = words_in(tokens[start:at])
    names = next((n for n, w in enumerate(before) if w in _CHANGES), -1)
    since = names >= 0 and bool(_SINCE & set(before[names:]))
    return bool(colon) and since and not _HAPPENED & set(words_in(tokens[start:colon]))


def _hands_over(tokens: list[Token], at: int, reading: int) -> bool:
    """Whether it says only where the values come from: "Numbers from Jan's last run: AdamW at 1e-4, …"."""
    start = next((n for n in range(at, -1, -1) if tokens[n].statement != tokens[at].statement), -1) + 1
    colon = next((n for n in range(at, reading) if tokens[n].text == ":"), 0)
    opening = [w for w in words_in(tokens[start:colon]) if w not in ("the", "same", "all")]
    named = bool(opening) and opening[0] in _VALUES and opening[1:2] in (["from"], ["of"], ["as"], ["like"])
    measured = any(t.text in _MEASURED for t in tokens[colon:])
    return named and not measured and not (_HAPPENED | _NOT_WANTED) & {w for o in opening for w in o.split()}


def _at_the_peak(line: Line, at: int) -> bool:
    """Whether it is the rate that is reached: "3e-4, reached after 2k warmup steps"."""
    named = any(t.key.startswith("warmup") or t.text == "peak" for t in line.tokens[at + 1 : at + 5])
    return named and any(r.key == "learning_rate" and r.first < at for r in line.readings)


def _aside(tokens: list[Token], at: int, reading: int) -> bool:
    """Whether what is told stands in parentheses that close before a reading: "top-k 20 (as they recommend), top-p 0.9"."""
    depth = 0
    for place in range(at + 1, reading):
        depth += (tokens[place].text == "(") - (tokens[place].text == ")")
        if depth < 0:
            opening = next((n for n in range(at, -1, -1) if tokens[n].text == "("), 0)
            # "The last model (they used Adam), lr 1e-4": what the parenthesis is about may be told too.
            return opening > 0 and not any(t.has("told") for t in tokens[:opening])
    return False


def _has_object(line: Line, judge: int, reading: Reading) -> bool:
    """Whether another value of the key is judged: "the T4 cannot do bf16, fp16 then", "fp16 only if bf16 is not there"."""
    tokens = line.tokens
    beside = reading.key == "max_length" and "memory" in tokens[judge].text
    if beside and line.words(reading.first - 1, reading.first) in (["with"], ["at"]):
        return True  # "Otherwise I run out of memory with 512 tokens" judges the batch.
    own = tokens[judge].segment == tokens[reading.first].segment
    return any(
        other.key == reading.key
        and other is not reading
        and tokens[other.first].segment == tokens[judge].segment
        and (
            not own or (reading.last < other.first and _IFS & set(line.words(reading.last + 1, other.first)))
        )
        for other in line.readings
    )


def _when(line: Line, reading: Reading) -> bool:
    """Whether a count is only when something happens: "the bug appears after 200 steps", but not "stop after 200"."""
    if reading.key == "max_steps" and _per_epoch(line, reading.last + 1):
        return True
    own = line.tokens[reading.first].segment
    if reading.key == "epochs" and any(t.segment == own and "freez" in t.text for t in line.tokens):
        return True  # "Freeze the backbone for 3 epochs".
    if reading.key not in ("epochs", "max_steps") or line.words(reading.first - 1, reading.first) != [
        "after"
    ]:
        return False
    stated = [t for t in line.tokens if t.statement == line.tokens[reading.first].statement]
    counted = any(r.key == reading.key and r.first < reading.first for r in line.readings)
    return not any(w.startswith(_ENDS) for w in words_in(stated if counted else line.tokens))


def _per_epoch(line: Line, at: int) -> bool:
    """Whether "per epoch" stands here: "200 iterations per epoch" counts the data."""
    return (
        at + 1 < len(line.tokens)
        and line.tokens[at].has("every")
        and line.tokens[at + 1].text in ("epoch", "pass", "round")
    )


def _of_a_model(line: Line, reading: Reading) -> bool:
    """Whether a known model is described: "BERT has 12 layers"."""
    at = reading.first
    while at > 0 and line.tokens[at].text not in _HAS:
        at -= 1
    owners = line.tokens[max(0, at - 2) : at]
    return any(
        (t.kind in ("model", "hub") or t.text in vocabulary().families)
        and t.segment == line.tokens[reading.first].segment
        for t in owners
    )


def _of_others(line: Line, reading: Reading) -> bool:
    """Whether others do it: "they freeze the encoder", but not "they should be saved"."""
    tokens = line.tokens
    for at in range(reading.first - 1, -1, -1):
        if tokens[at].statement != tokens[reading.first].statement or tokens[at].text in ("i", "we", "you"):
            return False
        if tokens[at].text in _OTHERS and not _aside(tokens, at, reading.first):
            return tokens[at + 1].kind == "word" and tokens[at + 1].text.split()[0] not in _MODALS
    return False


def _in_told_parenthesis(line: Line, reading: Reading) -> bool:
    """Whether it describes what was: "the last model (lr 3e-4, no warmup) was unstable"."""
    tokens = line.tokens
    if reading.key in _HARDWARE:
        return False
    opened = next((n for n in range(reading.first, -1, -1) if tokens[n].text in ("(", ")")), -1)
    closed = next((n for n in range(reading.last, len(tokens)) if tokens[n].text in ("(", ")")), -1)
    if opened < 1 or closed < 0 or tokens[opened].text != "(" or tokens[closed].text != ")":
        return False
    before = set(words_in(tokens[max(0, opened - 4) : opened]))
    after = tokens[closed + 1] if closed + 1 < len(tokens) else None
    return bool(before & _FORMER) or (
        after is not None and after.text in _PAST | {"had", "got", "gave", "diverged"}
    )


def _of_a_text(line: Line, reading: Reading) -> bool:
    """Whether something written by others says so: "the vendor's notebook uses lr 1e-3"."""
    tokens = line.tokens
    for at in range(reading.first - 1, 0, -1):
        token, before = tokens[at], tokens[at - 1]
        if token.statement != tokens[reading.first].statement:
            return False
        verb = token.text.split()[0] in _SAYS_SO
        if verb and any(t.text in _TEXTS for t in tokens[max(0, at - 3) : at]) and before.text not in _MODALS:
            return True
    return False


def is_logged(line: Line) -> bool:
    """Whether the sentence is a line of a log, or an error: "lr=0.001 epoch=3 loss=0.52"."""
    tokens = line.tokens
    if any(
        t.text.endswith("error") and n + 1 < len(tokens) and tokens[n + 1].text == ":"
        for n, t in enumerate(tokens)
    ):
        return True
    if any(t.has("wish") for t in tokens):
        return False
    for at, token in enumerate(tokens[:-1]):
        following = at + 2 if tokens[at + 1].text in ("=", ":") and at + 2 < len(tokens) else at + 1
        measured = tokens[following].kind == "number" and tokens[following].value != int(
            tokens[following].value
        )
        if (
            token.text in _MEASURED
            and measured
            and not (tokens[following].claimed or _weighs(line, following))
        ):
            return True
    return False


def _weighs(line: Line, at: int) -> bool:
    """Whether a number is the weight of a term: "loss: 0.7 x KL + 0.3 x cross entropy" is no line of a log."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    return line.tokens[at].unit == "x" or (
        after is not None and (after.text in _TERMS or after.gives("loss") or after.text.endswith(" loss"))
    )


def _in_doubt(line: Line, reading: Reading) -> bool:
    """Whether "whether" comes before it: "they asked whether 10 epochs are enough"."""
    statement = line.tokens[reading.first].statement
    before = [t for t in line.tokens[: reading.first] if t.statement == statement]
    doubts = [n for n, t in enumerate(before) if t.text in _DOUBTS and not _requests(before, n)]
    return bool(doubts) and not any(t.has("wish") for t in before[doubts[-1] :])


def _requests(tokens: Sequence[Token], at: int) -> bool:
    """Whether to ask is what is to be done: "ask the adapter, greedy"; somebody who asks is named before."""
    begins = at == 0 or tokens[at - 1].text in (",", ":", ";", "and", "then", "->")
    return tokens[at].text == "ask" and begins and [t.text for t in tokens[at + 1 : at + 2]] != ["whether"]


def _in_condition(tokens: list[Token], at: int, reading: Reading) -> bool:
    """Whether a value is a part of a condition, as in "if bf16 is not possible use fp16"."""
    if (
        reading.key in _WAITED_FOR
        or reading.value == "plateau"
        or not at < reading.first
        or tokens[at].segment != tokens[reading.first].segment
    ):
        return False
    return not any(t.has("wish") for t in tokens[at + 1 : reading.first])


def _measures(line: Line, reading: Reading) -> bool:
    """Whether the sentence says what a setting takes: "it needs 14 GB at batch size 8"."""
    return any(
        token.kind == "number"
        and any(w in _CONSUMES for w in line.words(at - 2, at))
        and (token.unit == "gb" or (at > reading.last and _TIMES & set(line.words(at + 1, at + 2))))
        for at, token in enumerate(line.tokens)
        if token.statement == line.tokens[reading.first].statement
    )


def _wish_between(tokens: list[Token], first: int, last: int) -> bool:
    after = (t for t in tokens[last : last + 4] if t.segment == tokens[last].segment)
    return any(t.text in _SURELY for t in (*tokens[first + 1 : last], *after))


def _wished(tokens: list[Token], before: int, segment: int) -> bool:
    own = (t for t in tokens[:before] if t.segment == segment and not (t.has("told") or t.has("not")))
    return any(t.text.split()[-1] in _SPEAKS_OF_SELF for t in own)

"""Words as they are compared: folded to one form, so that "the LR is too large" meets "learning rate too high"."""

from __future__ import annotations

import re
from collections.abc import Iterable


def word_set(text: str) -> frozenset[str]:
    """The words of a text that stand between spaces."""
    return frozenset(text.split())


# A number keeps its point, "isn't" is two words, and a full stop ends a sentence only before a space.
_TOKENS = re.compile(r"no_grad|\d+\.\d+|[a-z0-9]+?(?=n't)|n't|[a-z0-9]+|[,;:!?]|\.(?=\s|$)")
SENTENCE_ENDS = frozenset(".!?;")
CLAUSE_ENDS = frozenset(",:") | SENTENCE_ENDS
CONJUNCTIONS = word_set("but so because since although though while after whereas hence therefore")

NEGATIONS = word_set("not no never cannot nor neither without hardly unlikely")
# A negation before one of these denies a doubt: "I am not sure that", "not only", "cannot rule out".
UNSURE = word_set("sure certain only know clear exclude rule whether")
CLEARED = word_set("fine ok okay correct innocent healthy good normal excluded")
BLAME = word_set("problem cause culprit reason issue fault guilty it responsible blame")
# What an attempt changed nothing about has been answered by whoever writes it.
UNCHANGED = word_set("same unchanged identical")
# "The same batch" tells where, not that nothing changed.
PLACES = word_set("batch iteration step place sample epoch line point file row time way")
NO_EFFECT = word_set("difference effect help helps change changes changed helped")
QUESTIONS = word_set("how what which where when who why")

_STOP = word_set(
    "a an the my our your this that these those it its is are was were be been being am i we you of in on at to for "
    "from with by as and or if then than too so very much quite rather bit little more most some any there here may "
    "might could can would should will shall do does did has have had just also even really still me us they he she "
    "perhaps maybe probably possibly somehow something about into one not no cannot never"
)
_SAME = {
    "lr": "learningrate",
    "oom": "memoryout",
    "bn": "batchnorm",
    "large": "high",
    "big": "high",
    "huge": "high",
    "great": "high",
    "small": "low",
    "tiny": "low",
    "smaller": "reduce",
    "lower": "reduce",
    "lowered": "reduce",
    "lowering": "reduce",
    "decrease": "reduce",
    "decreasing": "reduce",
    "higher": "increase",
    "larger": "increase",
    "bigger": "increase",
    "raise": "increase",
    "raising": "increase",
    "grad": "gradient",
    "grads": "gradient",
    "wrong": "broken",
    "bad": "broken",
    "faulty": "broken",
    "buggy": "broken",
    "corrupt": "broken",
    "corrupted": "broken",
    "damaged": "broken",
    "broke": "broken",
    "breaks": "broken",
    "defective": "broken",
    "garbage": "broken",
    "shifted": "shift",
    "forgot": "missing",
    "forgotten": "missing",
    "lacks": "missing",
    "lack": "missing",
    "need": "missing",
    "needs": "missing",
    "dataset": "data",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "log": "logarithm",
}
_PAIRS = {
    ("learning", "rate"): "learningrate",
    ("learn", "rate"): "learningrate",
    ("step", "size"): "learningrate",
    ("batch", "norm"): "batchnorm",
    ("batch", "normalization"): "batchnorm",
    ("layer", "norm"): "layernorm",
    ("layer", "normalization"): "layernorm",
    ("group", "norm"): "groupnorm",
    ("group", "normalization"): "groupnorm",
    ("drop", "out"): "dropout",
    ("data", "loader"): "dataloader",
    ("data", "set"): "data",
    ("blow", "up"): "explode",
    ("blows", "up"): "explode",
    ("blowing", "up"): "explode",
    ("half", "precision"): "float16",
    ("mixed", "precision"): "autocast",
    ("out", "memory"): "memoryout",
}
_NORMS = re.compile(r"(batch|layer|group|instance)norm\w{0,12}")


class Token(str):
    """A word or a mark of punctuation in lower case, with the places in the text between which it stands."""

    begin: int
    end: int


def tokens(text: str) -> list[Token]:
    """The words and the punctuation of a text in order."""
    result = []
    for match in _TOKENS.finditer(text.lower().replace("\u2019", "'")):
        token = Token("not" if match[0] == "n't" else match[0])
        token.begin, token.end = match.span()
        result.append(token)
    return result


def folded(words: Iterable[Token]) -> list[tuple[str, int]]:
    """The words that carry meaning in the one form in which they are compared, each with its index."""
    result: list[tuple[str, int]] = []
    before, before_at = "", -1
    for at, token in enumerate(words):
        word = token.replace("isation", "ization").replace("ising", "izing").replace("ised", "ized")
        if word in _STOP or not word[0].isalnum():
            continue
        pair = _PAIRS.get((before, word))
        before, previous_at, before_at = word, before_at, at
        if pair is not None and result and result[-1][1] == previous_at:
            result[-1] = (stem(pair), previous_at)
        else:
            norm = _NORMS.fullmatch(word)
            result.append((stem(norm[1] + "norm" if norm else _SAME.get(word, word)), at))
    return result


def stem(word: str) -> str:
    """A word without the endings of plural, participle and past; no dictionary, the same for both sides."""
    for ending in ("ings", "ing", "ed", "es", "s", "e"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and not (ending == "s" and rest.endswith("s")):
            doubled = len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word

"""What a sentence seems to say of one key, and the setting in which it is said."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from firstcause.check.brief.sentences import Sentence
from firstcause.check.brief.tokens import Token
from firstcause.schema.instruction import Polarity, Relation, Scope, Strength


@dataclass
class Reading:
    """A key and a value with the place of the words; ``first`` and ``last`` count the tokens of the sentence.

    ``told`` marks what is reported, asked or judged: it is no wish, yet a later word may refer to it.
    """

    key: str
    value: Any
    first: int
    last: int
    relation: Relation = "eq"
    scope: Scope = ""
    polarity: Polarity = "require"
    strength: Strength = "must"
    status: Literal["active", "superseded"] = "active"
    condition: str = ""
    told: bool = False
    corrects: bool = False
    # Said by the assistant first, so what the user says in the same message is later.
    accepted: bool = False
    # What the hardware allows: it holds, however it is told.
    measured: bool = False
    # Where mood has been settled by the form of words, such as "not 2e-5".
    settled: bool = False


@dataclass(frozen=True)
class Scene:
    """What the whole text is about, which decides what ambiguous words mean."""

    training: bool = False
    inference: bool = False
    serving: bool = False


@dataclass
class Line:
    """A sentence being read: its tokens, what was understood so far, the scene, and what the last question was about."""

    sentence: Sentence
    scene: Scene
    readings: list[Reading]
    topic: tuple[str, ...] = ()

    @property
    def tokens(self) -> list[Token]:
        return self.sentence.tokens

    def claim(self, reading: Reading, *places: int) -> None:
        """Keep a reading; the tokens at these places mean nothing else."""
        self.readings.append(reading)
        for at in places or range(reading.first, reading.last + 1):
            self.tokens[at].claimed = True

    def words(self, first: int, last: int) -> list[str]:
        return [t.text for t in self.tokens[max(0, first) : last]]

    def same_segment(self, a: int, b: int) -> bool:
        return self.tokens[a].segment == self.tokens[b].segment


_TRAINS = re.compile(
    r"\b(?:fine-? ?tun\w*|train(?:s|ed|ing)?|epochs?|learning rate|lr|optimi[sz]er|adamw?|lora|qlora|sft|pre-?train\w*|loss)\b"
)
_INFERS = re.compile(
    r"\b(?:inference|vllm|sglang|generate|generation|decod(?:e|ing)|greedy|prompts?|sampling|temperature|top[-_ ]p|"
    r"top[-_ ]k|new tokens|beams?|serve|answer|llamacpp|tgi)\b"
)
_SERVES = re.compile(r"\b(?:vllm|sglang|tgi)\b")
_GIVEN = re.compile(r"\b(?:our|the|my|this|its|existing)\s+(?:[\w-]+\s+){0,2}(?:adapter|checkpoint)s?\b")
_MADE_BEFORE = frozenset({"lora", "qlora", "fine-tuned", "fine tuned", "finetuned", "trained"})
_DENIED = re.compile(
    r"\b(?:no|not|without|nor|never|instead of|(?:can'?t|cannot|could ?n[o']t)\s+(?:install|use|run|have))\s+(?:\w+\s+)?"
    r"(?:vllm|sglang|tgi)\b"
)


# "It is finished, nothing is trained!"
_UNTRAINED = re.compile(
    r"\b(?:nothing (?:is|gets|will be|has to be|is to be) (?:\w+ )?(?:fine-? ?tuned|trained)|(?:there is )?no training "
    r"(?:here|at all|involved|needed|takes place)|(?:is|are|will be) not (?:re)?trained(?= ?[.,;!)]))"
)


def scene_of(text: str) -> Scene:
    """The scene of a text in lower case."""
    text = _UNTRAINED.sub(" ", text)
    said = {m[0] for m in _TRAINS.finditer(text)}
    # What is served may have been trained before: "a vLLM server with our LoRA adapter".
    made = _SERVES.search(_DENIED.sub(" ", text)) and _GIVEN.search(text)
    training = bool(said - _MADE_BEFORE if made else said)
    inference = bool(_INFERS.search(text)) and not training
    return Scene(training, inference, bool(_SERVES.search(_DENIED.sub(" ", text))) and inference)

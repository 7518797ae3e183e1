"""What a question says in plain words: symptoms, topics, complaints, scope; of claims only where nothing else is said."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from firstcause.catalog.wording import word_set
from firstcause.catalog.words import NONE, Feature, Features, load_words
from firstcause.triage.clauses import Clause, clauses
from firstcause.triage.hand import LINES, by_hand
from firstcause.triage.series import series
from firstcause.triage.signs import Sign, signs, weights
from firstcause.triage.told import Told, asks_for_the_usual, opens_a_question, told

# A label is claimed from here on; measured over questions that the words were not written for (benchmarks/triage.md).
ENOUGH = 3.0
# Code is searched up to here; what tells stands near its top or in the part that somebody pasted.
CODE = 40_000

Weighed = Mapping[str, tuple[float, Sequence[Sign]]]


@dataclass(frozen=True)
class Understood:
    """What the words tell: for each label its weight and the signs that were counted, by group.

    ``groups`` has pattern, cause, about, context, complaint, lost, ambiguous and scope, from what was observed alone;
    worry; howto and topic, from what is asked for.
    ``claimed`` and ``claimed_scope`` are what only theories, wishes and other people's words name. ``named`` says whether
    PyTorch or one of its libraries is named, ``generic`` whether a training or its parts are spoken of, ``speaks_of_a_training``
    whether a model, a run or a script is.
    """

    told: Told
    groups: Mapping[str, Weighed] = field(default_factory=dict)
    claimed: Weighed = field(default_factory=dict)
    claimed_scope: Weighed = field(default_factory=dict)
    named: bool = False
    generic: bool = False
    words: int = 0
    speaks_of_a_training: bool = False

    def labels(self, group: str) -> tuple[str, ...]:
        """The labels of a group that reach the threshold, the heaviest first."""
        found = [(total, label) for label, total in self.weights(group).items() if total >= ENOUGH]
        return tuple(label for _, label in sorted(found, key=lambda row: -row[0]))

    def weights(self, group: str) -> dict[str, float]:
        """What each label of a group weighs, enough or not."""
        return {label: total for label, (total, _) in self.groups.get(group, {}).items()}

    def shown(self) -> dict[str, str]:
        """The patterns that a series of numbers shows, each with its numbers."""
        signs = [sign for _, counted in self.groups.get("pattern", {}).values() for sign in counted]
        return {sign.label: sign.phrase for sign in signs if sign.source == "figures"}

    def only_in_words(self, pattern: str) -> bool:
        """Whether neither code nor figures tell of a pattern."""
        return all(
            sign.source == "words" for sign in self.groups.get("pattern", {}).get(pattern, (0.0, ()))[1]
        )

    def is_well(self) -> bool:
        """Whether somebody asks if a thing is harmless, of a training that does well by words or numbers."""
        return self.says("worry", "harmless") and self.says("context", "well")

    def shows_well(self) -> bool:
        """Whether numbers, and not words alone, show a training that does well."""
        return any(sign.source == "figures" for sign in self.groups["context"].get("well", (0.0, ()))[1])

    def says(self, group: str, label: str) -> bool:
        """Whether a label of a group reaches the threshold."""
        return label in self.labels(group)


_NAMES = word_set(
    """torch pytorch lightning accelerate huggingface transformers ddp fsdp deepspeed nccl vllm sglang peft
    lora torchrun torchvision cudnn gradscaler dataloader cuda autograd"""
)
# In a question these ask whether something is a fault at all.
_HARMLESS = word_set(
    """bad worry worried concerned problem ignore ok okay normal healthy expected leak bug broken wrong dangerous harmful
    alarm right correct true
    suspicious noise strange odd off fine anything worrying stop act roll sign schlimm sorgen normal grave 正常 问题 处理"""
)

# "Is it?" and "or not?" ask that as well.
_IS_IT = word_set("is isnt or does")
BARE = 3


def understand(prose: str, code: str = "", messages: Collection[str] = (), metrics: str = "") -> Understood:
    """Read the words of a question, beside its code, the patterns whose messages it holds, and printed metrics.

    Linear in its length.
    """
    words = load_words()
    written, log = by_hand(prose)
    cut = clauses(written, words.vocabulary)
    parts = told(cut, words)
    # Lines that hold nothing but claims: numbers that stand there are somebody else's.
    claims = set(map(id, parts.claimed))
    claimed = {c.line for c in parts.claimed} - {c.line for c in cut if id(c) not in claims}
    own = "\n".join("" if at in claimed else line for at, line in enumerate(prose.split("\n"), 1))
    numbers = series(f"{own}\n{metrics}" if metrics else own)
    if log or metrics.count("\n") > LINES:
        # In a log a row of numbers is ordinary, and only what is not finite tells by itself.
        numbers = [sign for sign in numbers if sign.label == "nan-loss"]
    present = Clause(
        -1,
        0,
        items=[
            (at, at + 1, term)
            for at, term in enumerate([*(f"@{m}" for m in messages), *(["CODE"] if code.strip() else [])])
        ],
    )
    observed = (*parts.observed, present)
    telling = [c for c in parts.observed if not asks_for_the_usual(c)] + [present]
    groups: dict[str, Weighed] = {
        group: weights(
            signs(
                words.features.get(group, NONE),
                telling if group in ("pattern", "cause") else observed,
                denials=group != "lost",
            )
        )
        for group in ("pattern", "cause", "about", "context", "complaint", "lost", "ambiguous", "scope")
    }
    in_code = [*_in_code(words.code, _with_fragments(code, written)), *numbers]
    if in_code:
        groups["pattern"] = weights(
            [*_all(groups["pattern"]), *(s for s in in_code if not s.label.startswith("context:"))]
        )
        contexts = [
            Sign(s.label[8:], s.weight, s.phrase, s.line, s.text, s.places, s.source)
            for s in in_code
            if s.label.startswith("context:")
        ]
        groups["context"] = weights([*_all(groups["context"]), *contexts])
    # "That is not the problem" asks nothing.
    wondering = [c for c in parts.claimed if c.asks or opens_a_question(c)]
    groups["worry"] = _worries((*parts.observed, *wondering), words.features.get("worry", NONE))
    groups.update(
        _know_how(cut, parts.observed, words.features.get("howto", NONE), words.features.get("topic", NONE))
    )
    groups["calm"] = weights(signs(words.features.get("complaint", NONE), parts.calm))
    items = [item for clause in parts.observed for item in clause.items]
    return Understood(
        parts,
        groups,
        _claimed(parts, words.features.get("pattern", NONE)),
        weights(signs(words.features.get("scope", NONE), (*parts.claimed, *parts.ornament))),
        named=any(term in _NAMES for _, _, term in items),
        generic=any(term in ("FRAMEWORK", "TRAINING", "LOSS", "OOM", "GRADIENT") for _, _, term in items),
        words=sum(len(clause.words) for clause in parts.spoken),
        speaks_of_a_training=any(
            term == "TRAINING" for clause in parts.observed for _, _, term in clause.items
        ),
    )


def _know_how(
    clauses: Sequence[Clause], observed: Sequence[Clause], how: Features, topics: Features
) -> dict[str, Weighed]:
    """Whether it is asked how something is done, and of what field the sentences are that ask it.

    Such a sentence is a wish, and what other sentences name says nothing of it. Beside anything that was observed it is
    a remedy, and tells nothing.
    """
    asked = list(signs(how, clauses, denials=False))
    sentences = {clauses[at].sentence for sign in asked for at, _ in sign.places}
    own = [clause for clause in clauses if clause.sentence in sentences]
    if any(clause.words and clause.sentence not in sentences for clause in observed):
        return {"howto": {}, "topic": {}}
    return {"howto": weights(asked), "topic": weights(signs(topics, own, denials=False))}


def _claimed(parts: Told, patterns: Features) -> Weighed:
    """What claims name: somebody else's only where the writer's own name nothing."""
    own = weights(signs(patterns, parts.own))
    if any(total >= ENOUGH for total, _ in own.values()):
        return own
    return weights(signs(patterns, parts.asserted))


def _worries(clauses: Sequence[Clause], features: Features) -> dict[str, tuple[float, list[Sign]]]:
    """Whether somebody asks if a thing is harmless, in a phrase or in a word with a question mark."""
    asked = [
        Sign("harmless", ENOUGH, word, clause.line, clause.text, frozenset({(at, place)}))
        for at, clause in enumerate(clauses)
        for place, word in enumerate(clause.words)
        # "retain_graph=True?" asks for a setting.
        if clause.asks
        and f"={word}" not in clause.text
        and (word in _HARMLESS or (len(clause.words) <= BARE and word in _IS_IT))
    ]
    return weights([*signs(features, clauses, denials=False), *asked[:1]])


def _with_fragments(code: str, prose: str) -> str:
    """The code of a text, and the lines of its prose in which somebody quotes a piece of code."""
    quoted = [line for line in prose.split("\n") if "self." in line or "nn." in line]
    return "\n".join([code[:CODE], *quoted])[: 2 * CODE]


def _all(group: Weighed) -> list[Sign]:
    return [sign for _, counted in group.values() for sign in counted]


def _in_code(features: Sequence[Feature], code: str) -> list[Sign]:
    found = []
    for at, feature in enumerate(features):
        match = re.search(feature.text, code)
        if match:
            line = code.count("\n", 0, match.start()) + 1
            text = code.split("\n")[line - 1].strip()
            found.append(
                Sign(
                    feature.label, feature.weight, feature.text, line, text, frozenset({(-1 - at, 0)}), "code"
                )
            )
    return found

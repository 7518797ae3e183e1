"""Who says what in a text: what was observed, what is only claimed or asked for, and what puts pressure on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firstcause.catalog.wording import word_set
from firstcause.catalog.words import NONE, Features, Words
from firstcause.triage.clauses import Clause
from firstcause.triage.signs import Sign, signs, weights

# A question that begins so asks for a yes to a theory or a remedy.
_ASKS_FOR_A_YES = word_set(
    """is isnt are was were can could may might should shall would will do does did has have must ist sind
    kann soll darf muss es puedo debo debería est dois puis-je posso devo é может можно стоит"""
)
_OPEN = word_set(
    """why how what where when which who whose warum wie was wo por qué cómo pourquoi comment como почему
    как что"""
)
# A question that begins so leaves out "should I": "resume from 41000?", "halve the eval batch?".
_PROPOSES = word_set(
    """resume halve double downgrade upgrade reinstall go raise reduce decrease switch swap replace use set add skip
    clip restart retry wrap disable enable turn move buy rent kill reboot revert roll cast unfreeze convert change
    try merge rewrite patch pin delete remove rebuild retrain maybe"""
)
# What is usual is asked for, and nothing told: "what do people normally do wrong there".
_USUAL = word_set(
    "usually normally typically mostly generally commonly usual normal typical common people others"
)
# A theory or a remedy in few words with a question mark: "gpu broken?", "temperature bug?".
_SHORT = 4
# Claims that say nothing about what happens.
_NOT_SAID = frozenset({"remedy", "certainty", "stakes"})
# Claims of somebody else: what stands behind a colon or in a quote after them is theirs.
_REPORTED = frozenset({"authority", "social-proof", "theory"})
_OTHERS = frozenset({"authority", "social-proof"})
# With one of these a clause goes on with what the clause before it claims.
_GOES_ON = word_set("and or that which because since so as he she they then who")


@dataclass(frozen=True)
class Told:
    """The clauses of a text apart: observations, and claims (theories, remedies, what others say).

    ``spoken`` are the observations of sentences that speak of a training or its parts, without mere talk. ``calm`` are
    the observations of sentences without pressure, ``asserted`` the claims that say how something is, not only what to do.
    ``own`` are those of the asserted that are not somebody else's word.
    ``kinds`` are the kinds of pressure, in order, each with the clause that shows it.
    ``ornament`` is what stands beside pressure and tells of no symptom.
    """

    observed: tuple[Clause, ...]
    spoken: tuple[Clause, ...]
    calm: tuple[Clause, ...]
    claimed: tuple[Clause, ...]
    asserted: tuple[Clause, ...]
    kinds: tuple[tuple[str, str], ...]
    ornament: tuple[Clause, ...] = ()
    own: tuple[Clause, ...] = ()


def told(clauses: Sequence[Clause], words: Words) -> Told:
    """Observations and claims of a text; of a sentence under pressure only what tells of a symptom by itself is observed."""
    observed: list[Clause] = []
    calm: list[Clause] = []
    claimed: list[Clause] = []
    asserted: list[Clause] = []
    mine: list[Clause] = []
    ornament: list[Clause] = []
    kinds: dict[str, str] = {}
    sentences: dict[int, list[Clause]] = {}
    left: list[list[Clause]] = []
    for clause in clauses:
        sentences.setdefault(clause.sentence, []).append(clause)
    quoted = 0
    for sentence in sentences.values():
        claims_before = introduced = False
        pressed = False
        own: list[Clause] = []
        for clause in sentence:
            last = clause is sentence[-1]
            claims = {} if _asks_for_the_cause(clause) else _kinds(words.features.get("claim", NONE), clause)
            moods = _kinds(words.features.get("mood", NONE), clause)
            for label, sign in [*claims.items(), *moods.items()]:
                kinds.setdefault(label, sign.text)
            goes_on = claims_before and bool(clause.words) and clause.words[0] in _GOES_ON
            asks = _asks_for_a_yes(clause, last, words)
            if asks and not claims:
                kinds.setdefault("theory", clause.text)
            elsewhere = _elsewhere(clause)
            if clause.text.startswith('"') and quoted == clause.line:
                quoted = 0
            inside = introduced or quoted == clause.line
            claims_before = bool(claims) or goes_on or asks or elsewhere or inside
            reported = inside or elsewhere or bool(_REPORTED & set(claims))
            introduced = introduced or (reported and clause.text.endswith(":"))
            if reported and clause.text.count('"') % 2:
                # What somebody is quoted with goes on until the quote ends, at the latest with its line.
                quoted = 0 if quoted == clause.line else clause.line
            pressed = pressed or claims_before or bool(moods)
            (claimed if claims_before else own).append(clause)
            said = set(claims) - (_NOT_SAID | {"theory"} if "remedy" in claims else _NOT_SAID)
            if claims_before and (said or not (claims or clause.asks)):
                asserted.append(clause)
                if not (inside or elsewhere or _OTHERS & set(claims)):
                    mine.append(clause)
        calm += [] if pressed else own
        # What stands beside a claim or a mood is its ornament, unless it tells of a symptom.
        kept: list[Clause] = []
        for clause in own:
            (kept if not pressed or _tells(clause, words) else ornament).append(clause)
        observed += kept
        left.append(kept)
    spoken = _of_the_matter(left, words)
    return Told(
        tuple(observed),
        spoken,
        tuple(calm),
        tuple(claimed),
        tuple(asserted),
        tuple(kinds.items()),
        tuple(ornament),
        tuple(mine),
    )


def _of_the_matter(sentences: Sequence[Sequence[Clause]], words: Words) -> tuple[Clause, ...]:
    """The clauses of sentences with a word of the matter; all of them where no sentence has one, as in a foreign language."""
    matter = words.features.get("matter", NONE)
    speak = [s for s in sentences if any(_kinds(matter, c) or _tells(c, words) for c in s)]
    return tuple(clause for sentence in speak or sentences for clause in sentence)


def _kinds(features: Features, clause: Clause) -> dict[str, Sign]:
    found = {
        label: counted[0]
        for label, (total, counted) in weights(signs(features, [clause], denials=False)).items()
        if total >= 1
    }
    if "certainty" in found and "certainty" not in weights(signs(features, [clause])):
        # "The model is not good" is certain of nothing.
        del found["certainty"]
    return found


def _asks_for_a_yes(clause: Clause, last: bool, words: Words) -> bool:
    if not clause.asks or not clause.words or _kinds(words.features.get("appeal", NONE), clause):
        return False
    if any(word in _OPEN for word in clause.words[:3]) or any(
        term in ("WHY", "CAUSEASKED") for _, _, term in clause.items
    ):
        return False
    begins = clause.opens or last
    return (begins and clause.words[0] in _ASKS_FOR_A_YES | _PROPOSES) or (
        clause.opens and last and len(clause.words) <= _SHORT
    )


def opens_a_question(clause: Clause) -> bool:
    """Whether a clause begins as a question does, with or without its mark."""
    return clause.words[0] in _ASKS_FOR_A_YES | _OPEN


def asks_for_the_usual(clause: Clause) -> bool:
    """Whether a clause asks what is usual, which tells of no symptom."""
    return clause.words[0] in _OPEN and any(word in _USUAL for word in clause.words)


def _asks_for_the_cause(clause: Clause) -> bool:
    """Whether a clause asks what the cause is: "most likely" claims nothing in a question that is open."""
    asked = clause.asks or clause.words[0] in _OPEN
    return asked and any(term == "CAUSEASKED" for _, _, term in clause.items)


def _elsewhere(clause: Clause) -> bool:
    return any(term == "ELSEWHERE" for _, _, term in clause.items)


def _tells(clause: Clause, words: Words) -> bool:
    groups = ("pattern", "ambiguous", "lost", "complaint")
    return any(
        total >= 2
        for group in groups
        for total, _ in weights(signs(words.features.get(group, NONE), [clause])).values()
    )

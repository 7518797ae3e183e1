"""What happens again and again: saving and evaluating every so often, and at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from firstcause.check.brief.counts import unit_of
from firstcause.check.brief.kept import CHECKPOINTS
from firstcause.check.brief.metrics import SUPERLATIVES
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in
from firstcause.check.brief.vocabulary import word_set

_MADE = word_set("paces", "made")
_SEVERAL = frozenset({"twice", "times", "thrice"})
_PARTS = (["set"], ["split"], ["data"], ["file"], ["part"], ["out"])
_HELD_OUT = frozenset({"dev", "val", "validation", "heldout", "held"})
# "The best is loaded at the end" tells what is left, and not when it is saved.
_NOT_KEPT = word_set("paces", "made") | {"log", "logs", "tensorboard", "tb", "reports", "sample", "figs"}
_TAKES_BACK = word_set("paces", "takes_back")
_SAVES = ("sav", "stor", "writ", "dump", "export", "put")
# "… and save to out/": nothing is said of what.
_BARE_AFTER = frozenset(
    {".", ",", ";", ")", "—", "to", "in", "into", "under", "too", "as well", "checkpoints", "and"}
)
_OF_A_MODEL = frozenset(
    {"weights", "model", "adapter", "adapters", "lora", "checkpoint", "checkpoints", "pipeline"}
)
_ARTICLES = frozenset({"a", "an", "the"})
# Where a list of what is done at a pace ends.
_OTHER_TIME = frozenset({"at", "after", "in", "but", "finally", "afterwards", "later", "otherwise"})
_MEASURES = frozenset({"measure", "score", "assess"})
_PLAYS = frozenset({"play", "run", "simulate", "roll", "do"})
_EPISODES = frozenset({"episodes", "games", "rollouts", "matches"})


def paces(line: Line) -> None:
    """Claim "every 500 steps", "once per epoch" and "at the end" for what is saved and evaluated."""
    for at, token in enumerate(line.tokens):
        if token.has("every") and not token.claimed:
            _cadence(line, at)
        elif (
            token.text == "end"
            and line.words(at - 2, at) == ["at", "the"]
            and line.words(at + 1, at + 2) != ["of"]
        ):
            _at_the_end(line, at)


def _cadence(line: Line, at: int) -> None:
    tokens = line.tokens
    after = at + 1
    number = tokens[after] if after < len(tokens) and tokens[after].kind == "number" else None
    after += number is not None
    unit = unit_of(tokens[after]) if after < len(tokens) else ""
    if not unit and number is not None and _whose_steps(tokens[after : after + 2]):
        # "Every 1000 generator steps".
        unit, after = "steps", after + 1
    if not unit and number is not None and any(r.key in ("eval_steps", "save_steps") for r in line.readings):
        # "Every 100 steps an evaluation, every 400 a checkpoint".
        unit, after = "steps", after - 1
    elif not unit and number is not None and _bare_steps(line, after, number):
        # "For 40 000 iterations, validating every 2 000."
        unit, after = "steps", after - 1
    if unit not in ("epochs", "steps") or (unit == "steps" and number is None):
        return
    if unit == "epochs" and number is None and _several(line, at):
        # "Twice per epoch" is a pace that no strategy has.
        for place in range(max(0, at - 2), after + 1):
            tokens[place].claimed = tokens[place].claimed or place >= at - 1 or tokens[place].kind == "number"
        return
    owners = _listed(line, after + 1) or _owners(line, at, after)
    for owner in [*owners, *(_also(line, after, owners) or _checkpoint_too(line, after, owners))]:
        if owner == "log":
            continue
        if unit == "epochs":
            condition = (
                f"every {whole(number.value)} epochs" if number is not None and number.value != 1 else ""
            )
            line.claim(Reading(f"{owner}_strategy", "epoch", at, after, condition=condition))
        else:
            assert number is not None
            line.claim(Reading(f"{owner}_strategy", "steps", at, after))
            line.claim(
                Reading(
                    f"{owner}_steps", whole(number.value * (1000 if number.unit == "k" else 1)), at, after
                )
            )
    for place in range(at, after + 1):
        tokens[place].claimed = True


def _whose_steps(tokens: Sequence[Token]) -> bool:
    """Whether a plain word says which of several networks' steps are counted."""
    if len(tokens) < 2 or tokens[0].kind != "word" or tokens[0].entry is not None:
        return False
    return unit_of(tokens[1]) == "steps"


def _several(line: Line, at: int) -> bool:
    """Whether something happens more than once in an epoch: "twice per epoch", "4 evaluations per epoch"."""
    tokens = line.tokens
    if not at:
        return False
    before = tokens[at - 2] if at > 1 else None
    counted = before is not None and before.kind == "number" and before.value > 1
    return tokens[at - 1].text in _SEVERAL or (
        counted and (tokens[at - 1].has("eval") or tokens[at - 1].has("save"))
    )


def _bare_steps(line: Line, after: int, number: Token) -> bool:
    """Whether a pace without a unit counts the steps that the sentence speaks of."""
    ends = after >= len(line.tokens) or line.tokens[after].kind == "break" or line.tokens[after].text == "and"
    many = number.value >= 10 or number.unit == "k"
    # So many are no epochs.
    steps = number.value >= 200 or number.unit == "k" or any(unit_of(t) == "steps" for t in line.tokens)
    return ends and many and steps


def _at_the_end(line: Line, at: int) -> None:
    """Claim "save the model at the end"."""
    if any(r.key == "save_strategy" for r in line.readings) or not line.same_segment(at - 2, at):
        return
    before = [t for t in line.tokens[max(0, at - 7) : at - 2] if t.segment == line.tokens[at].segment]
    words = words_in(before)
    if set(words) & _TAKES_BACK or (
        set(words) & SUPERLATIVES and not any(w.startswith(_SAVES) for w in words)
    ):
        return
    alone = all(t.text in ("only", "once", "just", "at", "the", "please") for t in line.tokens[: at - 2])
    if any(t.text in ("save", "saves", "saved", "checkpoint", "store") for t in before) or (
        alone and "save" in line.topic
    ):
        line.claim(Reading("save_strategy", "end", at - 2, at))
    elif alone and "eval" in line.topic:
        line.claim(Reading("eval_strategy", "end", at - 2, at))


def _owners(line: Line, first: int, last: int) -> list[str]:
    """What happens at this pace: the nearest of saving, evaluating and logging, and those joined to it by "and"."""
    before = _walk(line, range(first - 1, -1, -1), first)
    after = _walk(line, range(last + 1, len(line.tokens)), last)
    opens = first == 0 or not line.same_segment(first - 1, first) or line.tokens[first - 1].kind == "break"
    found = after or before if opens and after != ["log"] else before or after
    if not found and any(
        r.key == "output_dir"
        and r.first > last
        and not _NOT_KEPT & set(re.split(r"[\W_]+", str(r.value).lower()))
        for r in line.readings
    ):
        # "Every 10k steps and at the end, to ckpts/".
        others = any(t.has(cue) for t in line.tokens for cue in ("eval", "log")) or any(
            t.gives("metric") for t in line.tokens
        )
        found = [] if others else ["save"]
    written = words_in(t for t in line.tokens[:first] if t.segment == line.tokens[first].segment)
    parts = [written[n + 1 : n + 2] for n, w in enumerate(written) if w in _OF_A_MODEL]
    # "Write the weights to out/ every 500 steps", and neither "weights & biases" nor "the model outputs".
    whole = any(not after or after[0] in ("to", "into", "in", "under") for after in parts[-1:])
    if not found and written and written[0].startswith(_SAVES) and whole:
        found = ["save"]
    if (not found and written[-1:] and written[-1] in _MEASURES) or (
        found in ([], ["log"]) and _plays(_same(line, last))
    ):
        found = ["eval"]
    held = words_in(_same(line, last))
    if (
        not found
        and opens
        and any(w in _HELD_OUT and held[n + 1 : n + 2] in _PARTS for n, w in enumerate(held))
    ):
        # "After every epoch translate the dev set".
        found = ["eval"]
    return found or [t for t in ("eval", "save") if t in line.topic]


def _plays(following: Sequence[Token]) -> bool:
    """Whether episodes are played to see how an agent does: "every 20,000 steps play 10 greedy episodes"."""
    words = words_in(following)
    return words[:1] != [] and words[0] in _PLAYS and bool(_EPISODES & set(words[1:6]))


def _same(line: Line, at: int) -> list[Token]:
    """What stands behind a place in its segment."""
    return [t for t in line.tokens[at + 1 :] if t.segment == line.tokens[at].segment]


def _listed(line: Line, colon: int) -> list[str]:
    """What is done at a pace that opens a list: "every 1000 steps: evaluate (at most 225 tokens), report WER, save"."""
    tokens = line.tokens
    if colon >= len(tokens) or tokens[colon].text not in (":", "—"):
        return []
    found: list[str] = []
    depth, opens = 0, True
    for at in range(colon + 1, len(tokens)):
        token = tokens[at]
        depth += (token.text == "(") - (token.text == ")")
        if depth or token.text == ")":
            continue
        if token.text in (",", "and", "+", "&", "then"):
            opens = True
            continue
        if token.kind == "break" or token.has("every") or (opens and token.text in _OTHER_TIME):
            break
        opens = opens and (token.text in _ARTICLES or token.has("log"))
        kinds = [kind for kind in ("eval", "save", "log") if token.has(kind)]
        later = line.words(at + 1, at + 4) == ["at", "the", "end"]
        if kinds == ["save"] and (later or _of_something_else(line, at)):
            continue
        if kinds and (kinds != ["save"] or not _TAKES_BACK & set(line.words(at - 2, at))):
            found += kinds
        elif token.gives("metric"):
            found.append("eval")
    kept = [kind for kind in dict.fromkeys(found) if kind != "log"]
    return kept or found[:1]


def _also(line: Line, last: int, owners: list[str]) -> list[str]:
    """What else happens then, as a wish of its own: "every 500 steps evaluate (on dev) and also save"."""
    tokens, depth = line.tokens, 0
    for at in range(last + 1, len(tokens)):
        depth += (tokens[at].text == "(") - (tokens[at].text == ")")
        if depth or tokens[at].text == ")":
            continue
        if tokens[at].kind in ("number", "break") or tokens[at].has("every"):
            return []
        if tokens[at].text == "and" and owners in (["eval"], ["save"]):
            verb = at + 1
            while verb < len(tokens) - 1 and tokens[verb].text in ("also", "then", "please"):
                verb += 1
            other = "save" if owners == ["eval"] else "eval"
            bare = tokens[verb + 1].text in _BARE_AFTER if verb + 1 < len(tokens) else True
            return [other] if verb < len(tokens) and tokens[verb].has(other) and bare else []
    return []


def _checkpoint_too(line: Line, last: int, owners: list[str]) -> list[str]:
    """The checkpoint that ends a list: "every 500 steps an evaluation, at most 225 tokens, and a checkpoint"."""
    if owners != ["eval"]:
        return []
    for at in range(last + 1, len(line.tokens) - 1):
        if line.tokens[at].has("every") or line.tokens[at].text in (".", ";"):
            return []
        following = [t for t in line.tokens[at + 1 : at + 4] if t.text not in _ARTICLES]
        ends = len(following) < 2 or following[1].kind == "break"
        named = bool(following) and following[0].text.startswith(CHECKPOINTS)
        if line.tokens[at].text == "and" and named and ends:
            return ["save"]
    return []


def _walk(line: Line, places: range, origin: int) -> list[str]:
    found: list[str] = []
    nearest = -1
    for at in places:
        token = line.tokens[at]
        if token.has("every") and token.claimed:
            break
        if places.step > 0 and not line.same_segment(at, origin):
            break
        kinds = [kind for kind in ("eval", "save", "log") if token.has(kind)]
        if kinds == ["save"] and _of_something_else(line, at):
            continue
        if not kinds and (token.gives("metric") or _is_for_evaluation(token)):
            kinds = ["eval"]
        if not kinds:
            continue
        if nearest >= 0 and not _joined(line, min(at, nearest), max(at, nearest)):
            # "Print the accuracy every epoch": printing is how, evaluating is what.
            if found == ["log"] and abs(at - nearest) <= 4:
                found = []
            else:
                break
        found += [k for k in kinds if k not in found]
        nearest = at
    return [k for k in found if k != "log"] or found


def _is_for_evaluation(token: Token) -> bool:
    """Whether a part of the data is named by its use: "2% for evaluation, every 100 steps"."""
    return token.key == "data_split" and token.text.startswith("for ")


def _of_something_else(line: Line, at: int) -> bool:
    """Whether what is saved is no checkpoint: "save reconstructions every 10 epochs"."""
    if line.tokens[at].text not in ("save", "store", "dump"):
        return False
    following = [t for t in line.tokens[at + 1 : at + 4] if t.text not in ("the", "all", "some", "a", "an")]
    return (
        bool(following)
        and following[0].kind == "word"
        and following[0].entry is None
        and following[0].text in _MADE
    )


def _joined(line: Line, first: int, last: int) -> bool:
    between = line.words(first + 1, last)
    return len(between) <= 4 and any(w in ("and", "&", "+", "/", "as well as", "plus") for w in between)

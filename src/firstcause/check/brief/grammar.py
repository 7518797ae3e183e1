"""One sentence to what it seems to say: each concern claims its words, what is left goes to the next."""

from __future__ import annotations

from collections.abc import Sequence

from firstcause.check.brief.batches import whole_and_part
from firstcause.check.brief.borrowed import borrowed, told_ends
from firstcause.check.brief.candidates import several_answers
from firstcause.check.brief.ceilings import batch_that_stays, too_much, what_fits
from firstcause.check.brief.choices import choose
from firstcause.check.brief.columns import no_inputs
from firstcause.check.brief.counts import owned_counts
from firstcause.check.brief.exempt import exempt_from_decay
from firstcause.check.brief.factors import accumulated_often, batch_factors
from firstcause.check.brief.firsts import first_steps
from firstcause.check.brief.forms import held_to_form
from firstcause.check.brief.frozen import frozen
from firstcause.check.brief.hardware import in_stages, name_hardware, some_of_them
from firstcause.check.brief.kept import kept_checkpoints
from firstcause.check.brief.labels import count_labels
from firstcause.check.brief.leftovers import name_leftovers
from firstcause.check.brief.lengths import said_by_the_way
from firstcause.check.brief.lies import lie_there
from firstcause.check.brief.members import counted_members
from firstcause.check.brief.memory import left_free, used
from firstcause.check.brief.metrics import best_by, note_metric
from firstcause.check.brief.modules import target_modules
from firstcause.check.brief.mood import negated, settle
from firstcause.check.brief.no_settings import no_settings
from firstcause.check.brief.nth import counted_off
from firstcause.check.brief.one_device import held_by_one
from firstcause.check.brief.paces import paces
from firstcause.check.brief.pairing import pair
from firstcause.check.brief.pairs import split_pairs
from firstcause.check.brief.passes import per_both_ways
from firstcause.check.brief.places import name_places
from firstcause.check.brief.reading import Line, Reading, Scene
from firstcause.check.brief.refine import refine, same_again
from firstcause.check.brief.relative import changed_values, made_another, relative_values
from firstcause.check.brief.same_pace import same_paces
from firstcause.check.brief.samples import sample_counts
from firstcause.check.brief.schedules import starting_rates, stepped_rates
from firstcause.check.brief.secrets import name_secrets
from firstcause.check.brief.sentences import Sentence
from firstcause.check.brief.settings_files import settings_files
from firstcause.check.brief.several_batches import several_batches
from firstcause.check.brief.shares import all_of_them, share_of_each
from firstcause.check.brief.shorthand import glued_letters
from firstcause.check.brief.split_by import split_by
from firstcause.check.brief.splits import held_out
from firstcause.check.brief.swaps import swaps
from firstcause.check.brief.taken_up import follow
from firstcause.check.brief.time_order import order_in_time
from firstcause.check.brief.token_batches import token_batches
from firstcause.check.brief.tokens import Token
from firstcause.check.brief.totals import per_pass, total_batches
from firstcause.check.brief.updates import summed_up, update_paces
from firstcause.check.brief.visits import visits
from firstcause.check.brief.vocabulary import Vocabulary, word_set
from firstcause.check.brief.widths import wide_layers


def read_sentence(
    sentence: Sentence,
    scene: Scene,
    known: Vocabulary,
    typed: str,
    heard: Sequence[Reading] = (),
    topic: tuple[str, ...] = (),
    corrected: bool = False,
) -> Line:
    """The readings of a sentence; ``heard`` are those before it, ``typed`` is the text with its capitals."""
    line = Line(sentence, scene, [], topic)
    if not sentence.tokens:
        return line
    corrects = any(
        t.has("correction") and not _is_one_update(sentence.tokens, n) for n, t in enumerate(sentence.tokens)
    )
    no_settings(line)
    held_by_one(line)
    glued_letters(line)
    split_pairs(line)
    left_free(line)
    used(line)
    name_hardware(line)
    all_of_them(line, heard)
    settings_files(line)
    lie_there(line, known, typed)
    name_places(line, known, typed, heard)
    token_batches(line)
    too_much(line)
    batch_that_stays(line, heard)
    what_fits(line, heard)
    sample_counts(line)
    said_by_the_way(line)
    counted_off(line)
    held_out(line)
    order_in_time(line)
    split_by(line)
    no_inputs(line, heard)
    exempt_from_decay(line)
    total_batches(line)
    stepped_rates(line)
    starting_rates(line)
    several_batches(line)
    update_paces(line)
    per_both_ways(line)
    first_steps(line)
    paces(line)
    same_paces(line, heard)
    owned_counts(line)
    kept_checkpoints(line)
    name_secrets(line, typed)
    count_labels(line, heard)
    counted_members(line, heard)
    visits(line)
    several_answers(line)
    wide_layers(line)
    pair(line)
    some_of_them(line)
    in_stages(line)
    summed_up(line)
    accumulated_often(line)
    batch_factors(line, heard)
    share_of_each(line)
    target_modules(line, typed, heard)
    choose(line)
    held_to_form(line)
    frozen(line)
    swaps(line)
    best_by(line, heard)
    relative_values(line, known, heard)
    changed_values(line, known, heard)
    made_another(line, known, heard)
    told_ends(line, known, heard)
    borrowed(line, heard)
    name_leftovers(line, known, heard, corrected or corrects)
    per_pass(line)
    _unwanted(line)
    same_again(line)
    line.readings.sort(key=lambda r: r.first)
    settle(line)
    follow(line, heard)
    for reading in line.readings:
        fallback = reading.condition.startswith(_IFS)
        reading.corrects = reading.corrects or ((corrects or corrected) and not fallback)
        before = any(r.key == reading.key and r.polarity == "require" and not r.told for r in heard)
        if fallback and (before or _FAILS & set(reading.condition.split())):
            # "If memory gets tight, go down to 8": what was asked for before still holds, or that it fails is not known.
            reading.strength = "may"
    refine(line, heard)
    whole_and_part(line)
    note_metric(line)
    return line


# "The first update after 10,000 steps" corrects nothing.
_BEFORE_UPDATE = frozenset(
    {
        "a",
        "an",
        "one",
        "each",
        "every",
        "per",
        "first",
        "last",
        "next",
        "weight",
        "gradient",
        "parameter",
        "optimizer",
        "optimiser",
    }
)


def _is_one_update(tokens: Sequence[Token], at: int) -> bool:
    before = tokens[at - 1].text.split() if at else []
    return tokens[at].text == "update" and bool(before) and before[-1] in _BEFORE_UPDATE


_PACES = {"save": "save_strategy", "eval": "eval_strategy"}
# What "do not save" speaks of: "don't save optimizer states" leaves the checkpoints.
_SAVED = word_set("grammar", "saved")
_IFS = ("if ", "in case", "when ")
_FAILS = frozenset(
    {
        "fit",
        "fits",
        "memory",
        "oom",
        "ooms",
        "tight",
        "fails",
        "fail",
        "crashes",
        "nan",
        "nans",
        "diverges",
        "explodes",
        "unstable",
    }
)
_OF_DATA = word_set("grammar", "of_data")


def _of_optimizer(line: Line, at: int) -> bool:
    """Whether "decay" is that of an optimizer which is named with it, and of no schedule: "Adam (I want no decay)"."""
    after = set(line.words(at + 1, at + 3))
    other = (
        line.tokens[at].text == "decay of"
        or {"of", "over", "after", "in"} & after
        or any(t.gives("scheduler") or t.text == "constant" for t in line.tokens)
    )
    return any(r.key == "optimizer" and r.first < at for r in line.readings) and not other


def _unwanted(line: Line) -> None:
    """Claim features that are denied without a value: "no warmup", "drop the weight decay", "no checkpoints"."""
    for at, token in enumerate(line.tokens):
        if token.claimed or token.entry is None:
            continue
        named = token.entry.named
        key = (named.key.group or named.key.name) if named is not None and named.key.feature else ""
        if key in ("max_steps", "epochs") and line.words(at - 1, at) in (["skip"], ["skips"], ["drop"]):
            # "Skip steps whose norm is too high": others are made.
            continue
        if token.text in ("decay", "decay of") and not _of_optimizer(line, at):
            # Of the weights or of the rate: it does not say.
            continue
        of_split = named is not None and named.key.name == "data_split" and token.has("eval")
        if not key and (named is None or of_split) and not token.entry.values:
            after = line.words(at + 1, at + 2)
            key = next((_PACES[cue] for cue in _PACES if token.has(cue) and not token.has("not")), "")
            denied = (
                at > 0
                and line.tokens[at - 1].has("not")
                and line.tokens[at - 1].text not in ("instead of", "rather than")
            )
            other = key == "save_strategy" and bool(after) and not set(after[0].split()) & _SAVED
            if key == "save_strategy" and {"between", "in between"} & set(line.words(at + 1, at + 3)):
                # "No checkpoints between": what is saved at the end is.
                continue
            if (
                not denied
                or other
                or (after and after[0] in _OF_DATA)
                or any(r.key == key for r in line.readings)
            ):
                continue
        if key:
            reading = Reading(key, "none", at, at)
            said = any(
                r.key == key and line.tokens[r.first].statement == token.statement for r in line.readings
            )
            if not said and negated(line, reading):
                line.claim(reading)

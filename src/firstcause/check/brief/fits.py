"""Whether a number can be the value of a word near it: "3 epochs" counts them, "after epoch 3" and "3 types of layers" do not."""

from __future__ import annotations

import re

from firstcause.check.brief.reading import Line
from firstcause.check.brief.tokens import words_in
from firstcause.check.brief.values import accepts
from firstcause.check.brief.vocabulary import word_set

# The model number of a consumer card: 1050 to 5090.
CONSUMER = re.compile(r"[1-5]0[5-9]0s?\Z")
_SQUARED = re.compile(r"(?<!\w)[tT] ?(?:\^|\*\*) ?2|(?<!\w)[tT]\u00b2")
_WITH_LAYERS = frozenset({"layers", "hidden layers"})
_UNITS = frozenset({"units", "neurons", "units each", "neurons each"})
_KINDS = word_set("labels", "kinds")
# "After epoch 3" is no count.
_ORDINALS = frozenset({"epoch", "step", "iteration", "pass"})
_OF_A_MATRIX = frozenset({"fp", "fn", "tn"})
_AT = frozenset({"after", "at", "from", "in", "until", "before", "by"})
_BEING = ("be", "is", "more", "less", "very", "stay", ",", ":", ";", "—")
_OF_IMAGES = word_set("fits", "of_images")
_SOME = word_set("fits", "some")
_BEFORE_RATE = word_set("fits", "before_rate")
_DIMENSIONS = frozenset({"dim", "dimensional", "dims", "d"})
_ROUNDS = frozenset({"rounds", "passes", "pass"})
_MULTIPLE = frozenset({"divisible", "multiple", "multiples", "power", "powers"})
_OTHER_DECAYS = word_set("fits", "other_decays")
_NORMS = (["norm"], ["normalisation"], ["normalization"], ["norms"])
_ONE_CALL = frozenset({"batch", "minibatch", "mini batch", "in a batch"})
_AT_ONCE = frozenset({"in one go", "at once"})
_NEXT = frozenset({"next", "following", "coming", "last", "past", "previous"})
_SPANS = frozenset({"hours", "days", "weeks", "months", "years", "quarters"})
_CUT_INTO = frozenset({"blocks of", "chunks of", "windows of", "documents of", "sequences of", "length of"})
_WRITTEN_ROWS = frozenset(
    {"line", "lines", "row", "rows", "record", "records", "file", "files", "entry", "object"}
)
_BATCHES = frozenset({"batch_size", "effective_batch_size"})
_SIZES = word_set("fits", "sizes")
_OF_RECORDINGS = word_set("fits", "of_recordings")
_COPIES = word_set("fits", "copies")
_NO_THINGS = word_set("leftovers", "no_nouns")


def fits(line: Line, number: int, name: int) -> bool:
    """Whether the number at one place can be the value of what the word at another names."""
    token, word = line.tokens[number], line.tokens[name]
    if (
        token.kind not in ("number", "range")
        or word.kind in ("number", "range")
        or word.entry is None
        or word.entry.named is None
    ):
        return False
    if not accepts(word.entry.named.key, token):
        return False
    if (
        token.glued
        and number
        and line.tokens[number - 1].kind == "word"
        and line.tokens[number - 1].entry is None
    ):
        return False
    if number < name and word.key == "gradient_accumulation" and "with" in line.words(number + 1, name):
        return False
    judged = bool(_OF_A_MATRIX & {t.text for t in line.tokens})
    if word.text == "tp" and (judged or not line.scene.inference or not 0 < number - name <= 2):
        # Beside FP and FN it counts what was right.
        return False
    given = name < number and (number > name + 1 or token.value != 2)
    if word.text in ("batch", "layer", "group") and line.words(name + 1, name + 2)[:1] in _NORMS:
        # "No batch norm".
        return False
    if (
        _of_a_recording(line, name)
        or _of_a_copy(line, name)
        or words_in(line.tokens[max(0, number - 2) : number])[-2:] == ["factor", "of"]
    ):
        return False
    if word.text == "t" and not given and _SQUARED.search(line.sentence.text):
        # "Scaled by T^2".
        return False
    if word.key == "num_gpus" and CONSUMER.match(token.text):
        # A card's model number counts no cards.
        return False
    if name < number and word.key == "gradient_accumulation" and _at_once(line, number + 1):
        return False
    if number < name and word.key == "num_gpus" and _times(line, name):
        return False
    if word.text in ("total of", "a total of") and not any(t.key == "batch_size" for t in line.tokens):
        return False
    if name < number and word.text in ("gpu", "card"):
        after = line.tokens[number + 1] if number + 1 < len(line.tokens) else None
        counts = after is not None and after.key == "num_layers"
        if counts or line.tokens[name + 1].text not in (":", "="):
            # "On the GPU: 2 layers, …" counts layers.
            return False
    if word.key == "num_return_sequences" and _WRITTEN_ROWS & set(
        words_in(line.tokens[number + 1 : name + 1])
    ):
        # "One line per prompt" says how they are written.
        return False
    if word.text == "patient" and name and not line.tokens[name - 1].text.startswith(_BEING):
        # "One folder per patient".
        return False
    if name + 1 == number and word.text in _ORDINALS:
        return False
    if (
        number < name
        and word.text in _ORDINALS
        and [t.kind for t in line.tokens[name + 1 : name + 2]] == ["number"]
    ):
        # "Below 0.3 in epoch 2".
        return False
    if _is_ordinal(line, number):
        # "The batch size is halved after epoch 10".
        return False
    if number > 1 and line.tokens[number - 1].text == "/" and line.tokens[number - 2].kind == "number":
        # A quarter of an epoch, 1/4.
        return False
    if word.text.startswith("crop") and any(t.text in _OF_IMAGES for t in line.tokens):
        return False
    one_call = token.value == 1 and token.spelled and set(line.words(number + 1, number + 2)) & _ONE_CALL
    if word.key == "batch_size" and (
        (number < name and token.value == 1 and word.text in _ONE_CALL) or one_call
    ):
        # "All of it in one batch" is a single call.
        return False
    if name < number and word.key == "batch_size" and line.words(number - 1, number) == ["all"]:
        # "One batch of all 5k prompts".
        return False
    if word.text in _AT_ONCE and _ahead(line, number):
        # "The next 24 hours in one go".
        return False
    if word.text in _CUT_INTO and _counts_things(line, number):
        # "In blocks of 2000 notes" cuts the work, and no text.
        return False
    if word.text.startswith("fit") and _is_purpose(line, number):
        # "The cached variant so that 512 pairs fit".
        return False
    if word.text == "batches of" and line.scene.serving and _counts_things(line, number):
        # "Send them in batches of 500 reviews" cuts the work.
        return False
    if name < number and word.text.startswith(("on each", "on every")):
        # "8 on each of 4 GPUs" says the 8.
        return False
    if word.key in _BATCHES and name < number and _is_size(line, number):
        # "Is what fits at 640 pixels".
        return False
    if word.key == "max_length" and name < number and _counts_run(line, number):
        # "Training length: 500k steps".
        return False
    if word.key == "num_layers" and _is_width(line, number):
        # "An embedding of 128 dimensions, then two linear layers (128 wide)".
        return False
    if word.text in ("embedding of", "embeddings of") and not _is_width(line, number):
        return False
    if word.key == "num_layers" and _SOME & set(line.words(number - 1, number)):
        # "Freeze the first 6 layers" counts some of them.
        return False
    if word.text in _ROUNDS and line.words(name + 1, name + 2) == ["of"] and not _training(line, name + 2):
        return False
    if word.text == "rate" and not _alone(line, name):
        return False
    if name < number and number + 1 < len(line.tokens) and line.tokens[number + 1].text in _DIMENSIONS:
        # "On 200-dim embeddings".
        return False
    by = line.words(number - 1, number) == ["by"] and line.words(number - 2, number - 1) != ["followed"]
    if word.entry.named.count and by:
        # "Divided by ten after epoch 30".
        return False
    if word.key in ("epochs", "max_steps") and {"cycle", "cycles"} & set(line.words(number - 2, number)):
        return False
    if word.key == "max_steps" and _of_one(line, number, name):
        return False
    if word.key in ("max_steps", "epochs") and number < name and "half" in line.words(number + 1, name):
        # "0 to 6 in half steps" is a scale.
        return False
    if number < name and word.text.startswith("hidden layer "):
        return False
    if name < number and _MULTIPLE & set(line.words(name + 1, number)):
        return False
    if name < number and word.entry.named.key.kind == "rate" and line.tokens[number - 1].text == "by":
        # "Multiply the lr by 0.9" tells how it changes.
        return False
    if word.text in ("decay", "decay of") and (number < name or _decays_otherwise(line, name)):
        return False
    following = line.tokens[number + 1] if number + 1 < len(line.tokens) else None
    if word.text in _WITH_LAYERS and name < number and following is not None and following.text in _UNITS:
        # "Hidden layers of 64 units" counts units.
        return False
    if following is not None and following.text in _KINDS and following.entry is None:
        # "3 types of layers" counts types.
        return False
    if following is not None and following.has("data") and name != number + 1:
        if 0 < name - number <= 2 and word.key in ("batch_size", "effective_batch_size"):
            # "24 images at once".
            return True
        if word.key == "num_return_sequences" and 0 < name - number <= 3:
            return True
        if word.text.startswith("fit") and 0 < name - number <= 2:
            return True
        near = 0 < number - name <= 4 and line.same_segment(name, number)
        return near and word.key in ("batch_size", "effective_batch_size")
    if word.key == "warmup" and token.spelled and not token.unit and token.value <= 20:
        # "Ten epochs, of which one is warm-up".
        return False
    reach = 3 if word.key == "num_layers" else 2
    return token.unit == "%" or not (token.spelled and abs(number - name) > reach)


def _ahead(line: Line, at: int) -> bool:
    """Whether a number counts what lies ahead or behind, or a span of time: "the next 24 hours", "the last 10 values"."""
    before, after = line.words(at - 1, at), line.words(at + 1, at + 2)
    spans = bool(after) and after[0] in _SPANS and not any(t.text.startswith("fit") for t in line.tokens)
    return (bool(before) and before[0] in _NEXT) or spans


def _is_ordinal(line: Line, at: int) -> bool:
    """Whether a number says which epoch, or step, is meant: "after epoch 10"."""
    before = line.words(at - 2, at)
    return before[-1:] == ["at epoch"] or (len(before) == 2 and before[0] in _AT and before[1] in _ORDINALS)


def _is_size(line: Line, at: int) -> bool:
    """Whether a number says how large or long one sample is: "640 pixels", "at 2048 tokens", "384x384"."""
    after = line.words(at + 1, at + 2)
    return (
        bool(after) and after[0].split()[0] in _SIZES and line.words(at - 1, at) in (["at"], ["of"], ["with"])
    )


def _is_width(line: Line, at: int) -> bool:
    """Whether a number counts the dimensions of something."""
    after = line.words(at + 1, at + 2)
    return bool(after) and after[0].split()[0] in _DIMENSIONS | {"dimensions", "wide", "channels"}


def _counts_run(line: Line, at: int) -> bool:
    """Whether a number counts how long a run is: steps, updates or epochs."""
    after = line.tokens[at + 1 : at + 2]
    return bool(after) and after[0].key in ("max_steps", "epochs")


def _of_a_recording(line: Line, at: int) -> bool:
    """Whether a clip is one of many recordings: "each clip goes through the model 20 times"."""
    before = line.tokens[at - 1] if at else None
    counted = before is not None and (before.has("every") or before.text in _OF_RECORDINGS)
    return line.tokens[at].text == "clip" and counted


def _of_a_copy(line: Line, at: int) -> bool:
    """Whether a momentum is that of an encoder which follows another: "a momentum copy (0.999)"."""
    tokens = line.tokens
    if tokens[at].text != "momentum":
        return False
    after = line.words(at + 1, at + 2)
    before = words_in(t for t in tokens[max(0, at - 4) : at] if t.segment == tokens[at].segment)
    return bool(after and after[0].split()[0] in _COPIES) or bool(_COPIES & set(before))


def _counts_things(line: Line, at: int) -> bool:
    """Whether what is cut counts things that are no tokens; an engine is given pieces of work, unless tokens are named."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    if after is None or after.kind != "word" or after.text in _NO_THINGS:
        return line.scene.inference
    if after.key == "max_length" or "token" in after.text:
        return False
    return after.has("data") or (after.entry is None and after.text.endswith("s"))


def _is_purpose(line: Line, at: int) -> bool:
    """Whether a number is what something else makes possible: "so that 512 fit", "to make 64 fit"."""
    before = line.words(at - 3, at)
    return before[-2:] in (["so", "that"], ["such", "that"]) or bool({"make", "making", "let"} & set(before))


def _alone(line: Line, at: int) -> bool:
    """Whether a bare "rate" is that of the learning: no word before it says another one."""
    before = line.tokens[at - 1] if at else None
    return before is None or before.kind == "break" or before.text in _BEFORE_RATE or before.has("wish")


def _of_one(line: Line, number: int, name: int) -> bool:
    """Whether a single step is spoken of: "one optimizer step sees 256 sequences"."""
    token, before = line.tokens[number], line.tokens[name - 1] if name else None
    if number < name:
        return token.spelled and token.value == 1 and not line.tokens[name].text.endswith("s")
    return before is not None and (before.has("every") or before.text in ("a", "one") or before.value == 1)


def _training(line: Line, at: int) -> bool:
    """Whether a training stands here: "2 rounds of training", but not "2 rounds of annotation"."""
    return at < len(line.tokens) and line.tokens[at].text.startswith(
        ("train", "fine", "tuning", "optimi", "the")
    )


def _at_once(line: Line, at: int) -> bool:
    """Whether a number before this place is a batch: "accumulation with 4 per step"."""
    own = ("per step", "at a time", "at once", "per gpu", "per card")
    return at < len(line.tokens) and line.tokens[at].text in own


def _times(line: Line, at: int) -> bool:
    """Whether what follows makes it a duration: "200 GPU hours"."""
    return at + 1 < len(line.tokens) and line.tokens[at + 1].text in (
        "hours",
        "hour",
        "days",
        "minutes",
        "weeks",
    )


def _decays_otherwise(line: Line, at: int) -> bool:
    """Whether "decay" is not that of the weights: "EMA decay of 0.999", "decay by 0.1 every 30 epochs"."""
    before = line.tokens[at - 1].text if at else ""
    after = line.tokens[at + 1].text if at + 1 < len(line.tokens) else ""
    named = line.tokens[at + 1 : at + 4]
    if any("rate" in t.text.split() or t.text == "lr" for t in named):
        return True
    return before in _OTHER_DECAYS or after in ("to", "by", "every", "after", "over", "it", "until", "with")

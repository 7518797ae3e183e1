"""Names and paths by what stands before them: the model, the data, what is read and what is written."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from firstcause.check.brief.folders import described_folders, siblings
from firstcause.check.brief.new_names import new_name
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.row_by_row import one_for_each
from firstcause.check.brief.sources import holds_files, is_denied, is_given, is_result, shows_columns
from firstcause.check.brief.teachers import of_teacher
from firstcause.check.brief.tokens import SPLITS, Token, words_in
from firstcause.check.brief.vocabulary import Vocabulary, word_set

_WRITES = word_set("places", "writes")
_WRITES_FOLDERS = word_set("places", "writes_folders")
_SAVES = word_set("places", "saves")
_HOLDS_DATA = word_set("places", "holds_data")
_GOES_THERE = frozenset({"go", "goes", "written", "saved", "stored"})
_EITHER = frozenset({"below", "in", "with", "is", "are", "on", "stored"})
_READS = word_set("places", "reads")
_TAKES_MODEL = word_set("places", "takes_model")
_OF_DATA = word_set("places", "of_data")
# What describes data is none, unless it is written.
_DESCRIBES = re.compile(
    r"^(?:labels?|classes|class_names|categories|vocab|columns)\.(?:json|txt|csv)\Z|mapping|id2label"
)
_CONFIGURES = re.compile(
    r"config|zero_?[0-3]|deepspeed|accelerate|fsdp|settings|^args|requirements|readme|schema|^ds_|hparams|params"
)
_WEIGHTS = word_set("places", "weights")
_LIES = frozenset(
    {"is", "are", "sit", "sits", "lie", "lies", "live", "lives", "found", "located", "audio", "manifests"}
)
_TOKENISED = frozenset({"dump", "memmap", "shards", "tokens"})
# A pattern of these is data: "translate articles/*.md".
_DOCUMENTS = frozenset({"md", "html", "pdf", "log"})
_MADE = frozenset({"adapter", "adapters", "checkpoints", "weights", "model"})
_JOINED = re.compile(r"(?<![\w/-])(?:[A-Za-z]\w*-)+\Z")
# "{train,val}.pt" holds data, and no weights.
_SPLIT = re.compile(r"(?<![a-z])(?:train|val|valid|dev|test)(?![a-z])")
_ADAPTS = word_set("places", "adapts")
_STARTS = word_set("places", "starts")
_PLOTS = frozenset({"log", "plot", "plots", "report", "print", "track", "tags", "tag", "scalars", "curves"})
_OF_CODE = frozenset(
    {"src", "tests", "scripts", "configs", "conf", "lib", "code", "feature", "fix", "origin"}
)
_HELD = word_set("places", "held")
_LOGS = frozenset({"log", "logs", "logging", "tensorboard"})
_WRITTEN = ("writ", "sav", "stor", "export", "dump", "push", "upload")
_KEPT = ("checkpoint", "ckpt", "model", "weight", "adapter", "everything", "output", "result", "artifact")
_IN_DATA = word_set("places", "in_data")
_OUT = word_set("places", "out")
_LANGUAGES = word_set("places", "languages")
_NO_NOUNS = word_set("leftovers", "no_nouns")
_PUTS = word_set("places", "puts")
_FEW = 3
# fmt: off
_OF_WEIGHTS = frozenset({"weights", "pretrained", "init", "checkpoint", "initialization", "initialisation", "statistics",
                         "pretraining", "backbone"})
# fmt: on
# Places, of which what else is said decides whether they are written to.
_WHERE = frozenset({"under", "folder", "dir", "directory"})
_VERB_AFTER = frozenset({"and", "then", "please", "to", "will", "you", "we", "i", "also", "just"})


def name_places(line: Line, known: Vocabulary, typed: str, heard: Sequence[Reading] = ()) -> None:
    """Claim models, data sets and paths; ``typed`` is the text with its capitals, ``heard`` what was said before."""
    siblings(line, typed)
    for at in range(-1, len(line.tokens)):
        new_name(line, at, known, typed)
    for at, token in enumerate(line.tokens):
        if token.kind in ("model", "hub", "path") and not token.claimed and of_teacher(line, at, typed):
            token.claimed = True
        if token.claimed or token.kind not in ("model", "hub", "data", "path"):
            if token.kind == "set" and not token.claimed:
                _data_set(line, at, typed)
            continue
        if token.kind == "hub":
            key = _of_hub(line, at, known)
        elif token.kind == "path":
            key = "output_path" if one_for_each(line, at, heard) else _of_path(line, at, known)
        elif token.kind == "model":
            _model(line, at, typed)
            continue
        else:
            key = "dataset"
        if key:
            line.claim(Reading(key, spelling(token, typed), at, at))
    described_folders(line, known, typed)


def _model(line: Line, at: int, typed: str) -> None:
    """Claim a bare name of a model, with what is joined to it: "my-bert-base" is none of the hub's."""
    start = line.tokens[at].start
    own = _JOINED.search(typed[max(0, start - 60) : start])
    if own is None:
        line.claim(Reading("model", spelling(line.tokens[at], typed), at, at))
        return
    first = next(n for n in range(at + 1) if line.tokens[n].end > start - len(own[0]))
    if any(t.entry is not None for t in line.tokens[first:at]):
        # "QLoRA-Llama-3-8B" names a method and a model.
        line.claim(Reading("model", spelling(line.tokens[at], typed), at, at))
        return
    places = [n for n in range(first, at + 1) if not line.tokens[n].claimed]
    line.claim(Reading("model", own[0] + spelling(line.tokens[at], typed), first, at), *places)


def spelling(token: Token, typed: str) -> str:
    """A name as it was typed; a model's spaces become dashes."""
    if token.written:
        return token.written
    text = (
        typed[token.start : token.start + len(token.text)]
        if token.kind != "hub"
        else typed[token.start : token.end]
    )
    if token.kind == "model":
        return "-".join(text.split())
    return text


def _data_set(line: Line, at: int, typed: str) -> None:
    """A data set that is known by a bare name; beside a hub id it is a configuration of it."""
    token = line.tokens[at]
    after = line.words(at + 1, at + 2)
    of_weights = after and after[0] in _OF_WEIGHTS
    of_weights = of_weights or any(
        w in ("pretrained", "weights", "pre trained") for t in line.words(at - 3, at) for w in t.split()
    )
    if any(r.key == "dataset" for r in line.readings) or of_weights or is_denied(line, at):
        return
    # "Classify ImageNet classes": a data set is what one trains on, and what is named with its owner's capitals.
    line.claim(Reading("dataset", typed[token.start : token.end], at, at))


def _of_hub(line: Line, at: int, known: Vocabulary) -> str:
    token = line.tokens[at]
    before = _before(line, at)
    to = bool(before) and before[0] in ("to", "into", "under", "below", "->", "→")
    if (before and before[0] in ("output", "outputs")) or line.words(at - 2, at) in (
        ["out", ":"],
        ["out", "="],
    ):
        # "…, output dpo-out/v1", "Out: asr/platt-small".
        return "output_dir"
    if not token.unit or before[:2] in (["from", "start"], ["from", "starting"], ["from", "begin"]):
        if to and any(w.startswith(_WRITTEN) or w in ("go", "goes") for w in before[:3]):
            # "The weights are written to rm/deberta".
            return "output_dir"
        return "model" if not (before and before[0] in ("dataset", "data", "corpus")) else "dataset"
    following = line.words(at + 1, at + 2)
    if any(w in _WRITES for w in before[:2]) and token.text.split("/")[0] in known.folders | _OUT:
        return "output_dir"
    if to and any(w in _WRITES for w in before):
        return "output_dir"
    if following and following[0] in ("dataset", "data", "corpus"):
        return "dataset"
    if token.unit and {"dataset", "data", "corpus"} & set(before) and "model" not in before:
        return "dataset"
    if token.unit == "??" and not (before and before[0] in _OF_DATA | _TAKES_MODEL):
        return ""
    if token.unit == "??" and _two_words(line, at, set(before)):
        return ""
    if (
        before
        and before[0] in ("on", "dataset", "data", "corpus", "from", "over", "set", ":")
        and before[0] != "model"
    ):
        return "dataset" if token.unit == "?" or before[0] in ("dataset", "on", "data") else ""
    if before and before[0] in (
        "tune",
        "finetune",
        "fine tune",
        "take",
        "model",
        "adapt",
        "load",
        "backbone",
    ):
        return "model"
    if token.unit == "??":
        return ""
    if any(r.key == "model" for r in line.readings) or any(w in _OF_DATA for w in before[:3]):
        return "dataset"
    return "model" if _TAKES_MODEL & set(before[:4]) else ""


def _two_words(line: Line, at: int, before: set[str]) -> bool:
    """Whether two words of a language are told apart by a slash: "our German/English calls"."""
    token = line.tokens[at]
    if all(part in _LANGUAGES for part in token.text.split("/")):
        return True
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    described = (
        after is not None and after.kind == "word" and after.entry is None and after.text not in _NO_NOUNS
    )
    things = after is not None and after.has("data")
    return (described or things) and not before & {"model", "checkpoint", "load", "hub"}


def _before(line: Line, at: int) -> list[str]:
    """The words before a name, the nearest first, up to another name."""
    words: list[str] = []
    for place in range(at - 1, max(-1, at - 9), -1):
        token = line.tokens[place]
        if token.statement != line.tokens[at].statement:
            break
        if token.kind in ("path", "hub", "model", "data") and words and "and" not in words:
            break
        if token.text in ("the", "a", "an", ",", "(", "and", ":", "my", "our", "="):
            continue
        words += reversed(token.text.split())
    return words


def _of_path(line: Line, at: int, known: Vocabulary) -> str:
    token = line.tokens[at]
    name = token.text.rstrip("/").rsplit("/", 1)[-1]
    ending = name.rsplit(".", 1)[-1] if "." in name.strip(".") else ""
    ending = ending if ending in known.file_types else ""
    several = "*" in name and ending in _DOCUMENTS and at > 0
    if (ending in known.config_types and not several) or _CONFIGURES.search(name):
        return ""
    if not ending and _for_logs(line, at):
        return ""
    writes = _writes(line, at, is_file=bool(ending))
    if not writes and _DESCRIBES.search(name):
        return ""
    first = _folder(token)
    if ending in _WEIGHTS and not writes and "best" in _before(line, at):
        # "The best in models/best.pt" is kept there.
        writes = True
    if ending in _WEIGHTS and not writes and _at_the_end(line, at):
        writes = True
    if ending in _WEIGHTS and not writes and _HELD & set(line.words(at + 1, at + 6)):
        # "The file roofs.pt: a dict with images" holds data.
        return "input_path" if line.scene.inference else "dataset"
    if ending in _WEIGHTS and not writes and (_HOLDS_DATA | _TOKENISED) & set(_before(line, at)[:4]):
        # "The corpus is a memmap at corpus.bin".
        return "input_path" if line.scene.inference else "dataset"
    if ending in _WEIGHTS and not writes and _goes_on(line, at):
        writes = True
    if ending in _WEIGHTS and (writes or (first not in _IN_DATA and not _SPLIT.search(name))):
        return "output_path" if writes else ""
    if not ending and (_resumes(line, at) or is_given(line, at)):
        return ""
    if not ending and not _SAVES & set(_before(line, at)) and holds_files(line, at):
        return "input_path" if line.scene.inference else "dataset"
    if ending or "*" in token.text:
        if writes:
            return "output_path"
        return "input_path" if line.scene.inference else "dataset"
    of_data = first in _IN_DATA or _is_split(line, at)
    if writes is None:
        writes = first in _OUT or ("save" in line.topic and not of_data)
        if not writes and not of_data:
            return ""
    if writes:
        return "output_dir"
    if not of_data and not _HOLDS_DATA & set(_before(line, at)):
        return ""
    return "input_path" if line.scene.inference else "dataset"


def _is_split(line: Line, at: int) -> bool:
    """Whether a folder is called as a split is: "birds/train and birds/val"."""
    parts = line.tokens[at].text.rstrip("/").split("/")
    return (
        len(parts) > 1
        and parts[-1] in SPLITS
        and not (_OUT | _OF_CODE | _LOGS) & set(parts[:-1])
        and not (_MADE | _OF_CODE | {"branch", "checkpoint", "script"}) & set(_before(line, at)[:4])
        and not _PLOTS & set(_before(line, at))
    )


def _at_the_end(line: Line, at: int) -> bool:
    """Whether weights are to be there in the end: "adapter in tone/final.pt afterwards"."""
    before = _before(line, at)
    if (before and not _MADE & set(before[:4])) or _STARTS & set(before):
        return False
    after = [w for t in line.tokens[at + 1 : at + 5] for w in t.text.split()]
    after = after[1:] if after[:1] == [","] else after
    return after[:3] in (["at", "the", "end"], ["in", "the", "end"]) or after[:1] == ["afterwards"]


def _goes_on(line: Line, at: int) -> bool:
    """Whether a file is the next of those that are written: "writes last.pt each epoch, best.pt when it improves"."""
    before = next((n for n in range(at - 1, -1, -1) if line.tokens[n].kind == "path"), -1)
    written = any(r.key == "output_path" and r.first == before for r in line.readings)
    between = line.tokens[before + 1 : at]
    reads = any(t.text in _STARTS for t in between)
    return written and not reads and any(t.text in (",", "and") for t in between)


def _for_logs(line: Line, at: int) -> bool:
    """Whether only logs go there: "logs in logs/, checkpoints in ckpts/"."""
    words = _before(line, at)
    return bool(_LOGS & set(words[:4])) and not any(w.startswith(_KEPT) for w in words[:5])


def _ends_up(words: list[str]) -> bool:
    """Whether something ends up somewhere, or is found there afterwards: then it is written."""
    return any(a in ("end", "ends", "ending") and b == "up" for a, b in itertools.pairwise(words))


def _adapts(line: Line, at: int) -> bool:
    """Whether a model is adapted to what is named: "fine-tune it to our FAQ"."""
    own = [t for t in line.tokens[:at] if t.statement == line.tokens[at].statement]
    return any(w in _ADAPTS for w in words_in(own[-12:]))


def _folder(token: Token) -> str:
    """The first folder of a path."""
    return token.text.lstrip("./").split("/", 1)[0]


def _is_noun(words: list[str], place: int) -> bool:
    """Whether a dump is a thing: "our token dump", but not "then dump it"."""
    return place + 1 < len(words) and words[place + 1] not in _VERB_AFTER


def _resumes(line: Line, at: int) -> bool:
    """Whether a folder holds what the run starts from: "on top of our checkpoint (ckpt/sft)"."""
    before = _before(line, at)[:8]
    if "checkpoint" not in before:
        return False
    # "A checkpoint of each epoch in ckpt/" is written.
    on_top = "of" in before[before.index("checkpoint") :]
    return on_top or bool({"from", "resume", "load", "continue", "starting"} & set(before))


def _goes_there(line: Line, at: int) -> bool:
    """Whether a file is where something is written: "labels.csv is written", but not "read from a.csv, b written to c.csv"."""
    for place in range(at + 1, min(at + 7, len(line.tokens))):
        token = line.tokens[place]
        if token.text in _GOES_THERE and token.segment == line.tokens[at].segment:
            return all(t.kind != "path" for t in line.tokens[place + 1 : place + 4])
    return False


def _answers_where(line: Line, at: int) -> bool:
    """Whether a file answers where something is to be written: "Where should they go?" - "verdicts.jsonl with the id"."""
    before = line.tokens[:at]
    others = any(t.kind == "path" or t.has("eval") for t in before) or len(before) > _FEW
    return "write" in line.topic and not others and not (_READS - _EITHER) & set(words_in(before))


def _writes(line: Line, at: int, is_file: bool) -> bool | None:
    """Whether the words before a path write to it (True), read it (False), or do not tell (None)."""
    if is_file and (_goes_there(line, at) or is_result(_before(line, at))):
        return True
    words = _before(line, at)
    if is_file and shows_columns(line, at) and not _SAVES & set(words):
        return False
    if words[:1] == ["into"] or (is_file and _answers_where(line, at)):
        return True
    for place, word in enumerate(words):
        if word == "of" and words[place + 1 : place + 2] == ["out"]:
            return False
        beside = words[place + 1 : place + 2] == ["next"] and not (
            _SAVES | _GOES_THERE | {"create", "land"}
        ) & set(words)
        if word == "to" and (beside or _adapts(line, at)):
            # "Adapt the model to our FAQ (faq.csv)", "and next to them masks/*.npz".
            return False
        if word == "dump" and _is_noun(words, place):
            continue
        if word == "below" and words[place + 1 : place + 2] and words[place + 1].startswith("output"):
            # "Output below runs/x".
            return True
        if word in _WHERE and words[place + 1 : place + 2] == ["on"]:
            # "Train it on the folder data/leaves".
            return False
        if word in _WHERE and (_HOLDS_DATA | _LIES) & set(words[place:]) and not _PUTS & set(words):
            # "The data is a folder under calls/" reads.
            return False
        if word == "to" or (word in _WRITES and not (is_file and word in _WRITES_FOLDERS)):
            return True
        if word in ("file", "files") and words[place + 1 : place + 2] and words[place + 1] in _PUTS:
            # "Writes files: last.pt".
            return True
        if word in _READS:
            # "in" reads and writes; what else is said decides.
            rest = [w for t in line.words(at - 8, at) for w in t.split()]
            if "dump" in words and _is_noun(words, words.index("dump")):
                rest = [w for w in rest if w != "dump"]
            # "Answer everything in questions.jsonl" reads.
            rest = [w for n, w in enumerate(rest) if w != "everything" or rest[max(n - 1, 0)] not in _READS]
            saves = word in _EITHER and (any(w in _SAVES for w in rest) or _ends_up(rest))
            if not saves and word in _EITHER and _folder(line.tokens[at]) in _OUT and not _STARTS & set(rest):
                return None
            return saves
    if "save" in line.topic and not is_file:
        return True
    return None if not is_file else False

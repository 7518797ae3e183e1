"""How many checkpoints are kept: "keep only the last two", "never more than 3 on disk", "only the best stays"."""

from __future__ import annotations

from firstcause.check.brief.limits import limit
from firstcause.check.brief.metrics import SUPERLATIVES
from firstcause.check.brief.numbers import whole
from firstcause.check.brief.reading import Line, Reading
from firstcause.check.brief.tokens import Token, words_in

_KEEPS = frozenset({"keep", "keeping", "keeps", "retain", "retaining", "kept"})
_COPIES = frozenset({"checkpoint", "checkpoints", "snapshots", "ckpts"})
CHECKPOINTS = ("checkpoint", "ckpt")
_NEWEST = frozenset({"last", "latest", "recent", "newest"})
_BESIDES = frozenset({"besides", "beside", "apart", "addition"})
_STAY = frozenset({"kept", "stay", "remain"})
_STORED = ("on disk", "on disc", "on the disk", "around", "in the folder", "lying around", "stored")
_EXCEPT = frozenset({"except", "but", "save", "besides"})
_DELETES = frozenset({"delete", "deletes", "remove", "removes", "discard", "prune", "drop", "erase", "clean"})
_OTHERS = frozenset({"others", "rest", "all", "older", "checkpoints", "everything", "ones"})


def kept_checkpoints(line: Line) -> None:
    """Claim "keep only the last two" and "keep no more than 3 checkpoints"."""
    for at, token in enumerate(line.tokens):
        if token.kind != "number" or token.claimed or token.unit or not 1 <= token.value <= 1000:
            continue
        before = {w for t in line.words(at - 6, at) for w in t.split()}
        after = line.words(at + 1, at + 4)
        if (
            token.spelled
            and token.value == 1
            and line.words(at - 1, at)[0:1]
            and line.words(at - 1, at)[0] in SUPERLATIVES
        ):
            # "Keep the best one".
            continue
        newest = before & _NEWEST
        saved = "save" in line.topic or any(t.has("save") for t in line.tokens)
        keeps = (
            bool(before & _KEEPS)
            or {"all", "but"} <= before
            or bool(_STAY & set(line.words(at + 1, at + 5)))
            or (bool(newest) and "only" in before and saved and _ends_here(line, at))
            or (saved and _ends_here(line, at) and _begins_with_last(line, at))
        )
        names_them = (
            any(w in ("checkpoints", "checkpoint", "snapshots", "ckpts", "saves", "of them") for w in after)
            or newest
        )
        copies = bool(after) and (after[0] in _COPIES or (after[:2] == ["of", "them"] and saved))
        stored = after[:2] in (["on", "disk"], ["on", "disc"]) or after[:3] == ["on", "the", "disk"]
        copies = copies or (stored and saved)
        limited = copies and limit(line, at, at + 1, at) == "max"
        limited = limited or (saved and _alone(line, at) and limit(line, at, at, at) == "max")
        if (limited or (keeps and (names_them or saved or stored))) and not (
            after and _counted(line.tokens[at + 1])
        ):
            stays = next(
                (n for n in range(at + 1, min(at + 5, len(line.tokens))) if line.tokens[n].text in _STAY), at
            )
            for between in line.tokens[at + 1 : stays]:
                # "Three may stay" is a limit, and no leave.
                between.entry = None if between.has("may") else between.entry
            more = _besides_the_best(line, at)
            line.claim(Reading("save_total_limit", whole(token.value + more), at, at, settled=True))
    _others_deleted(line)
    _best_alone(line)


def _others_deleted(line: Line) -> None:
    """Claim the two of "delete the others except two", "remove all but the last 3 checkpoints"."""
    for at, token in enumerate(line.tokens):
        if token.kind != "number" or token.claimed or token.unit or not 1 <= token.value <= 100:
            continue
        before = words_in(line.tokens[max(0, at - 9) : at])
        except_at = next((n for n, w in enumerate(before) if w in _EXCEPT), -1)
        deleted = any(w in _DELETES for w in before[: max(except_at, 0)])
        others = any(w in _OTHERS for w in before[: max(except_at, 0)])
        if deleted and others and (_ends_here(line, at) or _COPIES & set(line.words(at + 1, at + 2))):
            # The others are what is deleted, and nobody who does something.
            line.claim(Reading("save_total_limit", whole(token.value), at, at, settled=True, measured=True))
            return


def _besides_the_best(line: Line, at: int) -> bool:
    """Whether the best one comes on top of those that are counted: "one checkpoint besides the best"."""
    own = line.tokens[at].segment
    after = words_in(t for t in line.tokens[at + 1 : at + 8] if t.segment == own)
    beside = next((n for n, w in enumerate(after) if w in _BESIDES), -1)
    return beside >= 0 and bool(SUPERLATIVES & set(after[beside : beside + 4]))


def _begins_with_last(line: Line, at: int) -> bool:
    """Whether a part of the sentence begins with "last 3"."""
    newest = at > 0 and line.tokens[at - 1].text in _NEWEST
    return newest and (at == 1 or line.tokens[at - 2].kind == "break")


def _ends_here(line: Line, at: int) -> bool:
    """Whether no other noun follows a number: "only the last three", but not "only the last 3 months"."""
    after = line.tokens[at + 1] if at + 1 < len(line.tokens) else None
    return after is None or after.kind == "break" or after.text.startswith(CHECKPOINTS)


def _best_alone(line: Line) -> None:
    """Claim the one of "only the best checkpoint is kept", "keep only the best checkpoint"."""
    if any(r.key == "save_total_limit" for r in line.readings):
        return
    words = [t.text for t in line.tokens]
    for at in range(len(words) - 2):
        # "The best model goes to runs/x, only the one best".
        single = words_in(line.tokens[at : at + 4])[:4] in (
            ["only", "the", "one", "best"],
            ["only", "the", "single", "best"],
        )
        if single and any(r.key in ("output_dir", "output_path") for r in line.readings):
            line.readings.append(Reading("save_total_limit", 1, at, at, strength="should", settled=True))
            return
    for at, token in enumerate(line.tokens):
        if token.claimed or not token.text.startswith(CHECKPOINTS) or not _KEEPS & set(words):
            continue
        before = words_in(line.tokens[max(0, at - 4) : at])
        if any(t.has("not") for t in line.tokens[:at]) or _NEWEST & set(words_in(line.tokens)):
            return
        if "only" in before and "best" in before and not {"and", "plus"} & set(before):
            line.claim(Reading("save_total_limit", 1, at, at, strength="should", settled=True), at)
            return


def _alone(line: Line, at: int) -> bool:
    """Whether nothing but a limit and its number stands here: "every 400 steps, no more than 3"."""
    ends = at + 1 >= len(line.tokens) or line.tokens[at + 1].kind == "break"
    ends = ends or " ".join(line.words(at + 1, at + 4)).startswith(_STORED)
    before = line.tokens[at - 2] if at > 1 else None
    return (
        ends
        and line.tokens[at - 1].has("most")
        and (before is not None and before.text in (",", "(", "but", "and"))
    )


def _counted(token: Token) -> bool:
    """Whether a number's noun has a key of its own."""
    own = token.key not in ("", "save_total_limit")
    return own or token.has("data") or token.has("labels")

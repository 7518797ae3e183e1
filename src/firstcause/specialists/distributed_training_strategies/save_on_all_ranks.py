"""save-on-all-ranks: several ranks write the same file from its start."""

from __future__ import annotations

from firstcause.lab.counterfactual import Ran
from firstcause.schema import Evidence, Hypothesis
from firstcause.specialists import ranked as ranks
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.silent import Silent
from firstcause.specialists.verdicts import confirmed

CAUSE = "save-on-all-ranks"


def _shared(found: Ran) -> Facts:
    """The first file that two ranks or more wrote by the same line."""
    own = ranks.facts_of(found, "files")
    by_place: dict[tuple[str, str, int], dict[int, Facts]] = {}
    for rank, files in own:
        for one in files["written"]:
            place = one["path"], one["site"]["file"], one["site"]["line"]
            by_place.setdefault(place, {}).setdefault(rank, one)
    for (path, _, _), writers in by_place.items():
        if len(writers) > 1:
            times = [w["time"] for w in writers.values()]
            read = any(f["path"] == path for _, files in own for f in files["read"])
            first = writers[min(writers)]
            return first | {"ranks": sorted(writers), "apart": max(times) - min(times), "read": read}
    return {}


def _told(seen: Facts) -> str:
    return (
        f"ranks {', '.join(map(str, seen['ranks']))} all wrote {seen['path'].rpartition('/')[2]} from its start "
        f"by {seen['how']}, within {seen['apart']:.3g} s"
    )


def _settled(cause: str, examination: Examination, seen: Facts) -> Hypothesis:
    site = examination.site(seen["site"])
    values = {k: seen[k] for k in ("ranks", "path", "how", "apart")}
    return confirmed(cause, site, Evidence("observation", True, _told(seen), values, site))


def _known(examination: Examination, seen: Facts) -> Facts:
    return examination.place(seen["site"]) | {"read": seen["read"]}


_FORM = Silent(
    CAUSE, _shared, _told, _settled, _known, "all ranks run again, with the files that each writes"
)
seen, propose, settle, facts = _FORM.seen, _FORM.propose, _FORM.settle, _FORM.facts

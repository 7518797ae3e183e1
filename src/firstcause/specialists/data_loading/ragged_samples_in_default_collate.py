"""ragged-samples-in-default-collate: each sample can be had alone, and those of one batch have several shapes."""

from __future__ import annotations

from collections import Counter

from firstcause.schema import Hypothesis, Site
from firstcause.specialists import loading
from firstcause.specialists.crops import is_crop
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive, refuted

CAUSE = "ragged-samples-in-default-collate"
# Fewer than this share of another shape are exceptions; more are the data's own nature.
RARE = 0.2


def propose(examination: Examination) -> bool:
    return loading.failed(examination) and loading.shows(examination, "collate")


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    seen = _seen(examination)
    if seen is None:
        return inconclusive(CAUSE, loading.missing(examination, "a batch of samples that differ in shape"))
    if loading.kind_raised(examination) != seen["error"]:
        return inconclusive(CAUSE, f"the same failure: a batch raised {seen['error']} when it was made again")
    site = _site(examination, seen)
    values = {k: seen[k] for k in ("batch", "index", "part", "shape", "usual", "asked", "of_usual")}
    evidence = loading.experiment(_told(seen), values, site)
    if is_crop(examination):
        return refuted(CAUSE, evidence)
    if not seen["cut"]:
        return inconclusive(CAUSE, f"{_told(seen)}; cut to one size they do not go together either", evidence)
    return confirmed(CAUSE, site, evidence)


def _seen(examination: Examination) -> Facts | None:
    """The first batch that does not go together, and its part whose shapes differ."""
    walk = loading.walk(examination)
    for one in walk.get("collate") or []:
        for part, found in loading.shapes(one["samples"]):
            counted = Counter(size for _, size in found)
            usual = counted.most_common(1)[0][0]
            index, odd = next((i, s) for i, s in found if s != usual)
            every = Counter(
                {
                    tuple(size): n
                    for form, n, _ in walk["forms"]
                    for path, _, size in form
                    if path == part and size
                }
            )
            return {
                "batch": one["at"][0],
                "part": part,
                "index": index,
                "shape": list(odd),
                "usual": list(usual),
                "shapes": len(every),
                "of_usual": sum(n for s, n in every.items() if s == usual),
                "asked": sum(every.values()),
                "cut": one["cut"],
                "error": one["collate"]["type"],
                "frames": one["collate"]["frames"],
                "forms": walk["forms"],
            }
    return None


def _site(examination: Examination, seen: Facts) -> Site | None:
    """Where the odd form is made; where shapes vary by nature, the collate function or the loader without one."""
    first = loading.explained(examination, seen["index"]).get("first")
    if first is not None and _rare(seen):
        return examination.site(first["site"])
    if seen["frames"]:
        return examination.site(seen["frames"][-1])
    return examination.site(_loader(examination)["site"])


def _rare(seen: Facts) -> bool:
    return bool(seen["asked"] - seen["of_usual"] <= RARE * seen["asked"])


def _loader(examination: Examination) -> Facts:
    seen = loading.asked(examination)
    assert not isinstance(seen, str)
    loader: Facts = seen["loader"]
    return loader


def _told(seen: Facts) -> str:
    part = f" in {seen['part']}" if seen["part"] else ""
    together = "; cut to one size, the same samples go together" if seen["cut"] else ""
    return (
        f"each of {seen['asked']} samples can be had alone, but batch {seen['batch']} raises {seen['error']}: sample "
        f"{seen['index']} has the shape {seen['shape']}{part} where others have {seen['usual']} ({seen['of_usual']} of "
        f"{seen['asked']}){together}"
    )


def facts(examination: Examination) -> Facts:
    seen = _seen(examination)
    if seen is None:
        return {}
    loader = _loader(examination)
    first = loading.explained(examination, seen["index"]).get("first")
    rare = first is not None and _rare(seen)
    known = {"part": seen["part"], "shape": seen["shape"], "usual": seen["usual"], "rare": rare}
    if first is not None and rare:
        made = {k: first[k] for k in ("name", "size", "usual", "dimension", "kind")}
        return known | examination.place(first["site"]) | {"made": made}
    parts = [list(p) for p in seen["forms"][0][0]]
    site = seen["frames"][-1] if seen["frames"] else loader["site"]
    return (
        known
        | examination.place(site)
        | {"parts": parts, "own_collate": bool(seen["frames"]), "forms": seen["forms"]}
    )

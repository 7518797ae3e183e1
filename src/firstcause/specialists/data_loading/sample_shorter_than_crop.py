"""sample-shorter-than-crop: a few samples are smaller than a transform takes for granted, and all the others are not."""

from __future__ import annotations

from firstcause.schema import Hypothesis, Site
from firstcause.specialists import loading
from firstcause.specialists.crops import too_short
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import confirmed, inconclusive

CAUSE = "sample-shorter-than-crop"
# Where this many of all samples fail, it is no few that break an assumption.
MOST = 0.5


def propose(examination: Examination) -> bool:
    return loading.failed(examination) and loading.shows(examination, "raised", "collate")


def settle(hypothesis: Hypothesis, examination: Examination) -> Hypothesis:
    found = too_short(examination)
    walk = loading.walk(examination)
    if found is None:
        seen = _other(examination)
        return inconclusive(
            CAUSE,
            seen
            or loading.missing(examination, "a sample that is smaller than its transform takes for granted"),
        )
    if loading.kind_raised(examination) != found["error"]["type"]:
        return inconclusive(CAUSE, f"the same failure: {loading.name(found)} raised {found['error']['type']}")
    if walk["raised"] and len(walk["raised"]) > MOST * walk["asked"]:
        return inconclusive(
            CAUSE, f"{len(walk['raised'])} of {walk['asked']} samples raise, which are not few"
        )
    site = _site(examination, found)
    values: Facts = {
        "index": found["index"],
        "who": found["who"],
        "asked": walk["asked"],
        "beside": found["why"]["beside"],
    }
    values |= {
        "raised": [r["index"] for r in walk["raised"]],
        "short": found["short"],
        "smaller": found["smaller"],
    }
    return confirmed(CAUSE, site, loading.experiment(_told(found, walk), values, site))


def _site(examination: Examination, found: Facts) -> Site | None:
    if found["short"] is not None:
        return examination.site(found["short"]["site"])
    return loading.innermost(examination, found["error"])


def _told(found: Facts, walk: Facts) -> str:
    short, smaller = found["short"], found["smaller"]
    if short is not None:
        has = (
            f"`{short['name']}` is {short['length']}"
            if short["kind"] == "difference"
            else f"`{short['name']}` has {short['length']} along axis {short['axis']}"
        )
        why = f"{has} where `{short['text']}` asks for {short['wanted']}"
    else:
        one = smaller[0]
        why = (
            f"`{one['name']}` has the size {one['size']} along axis {one['axis']} where other samples have {one['least']} to "
            f"{one['most']}"
        )
    wrong = len(walk["raised"])
    others = (
        f"{wrong} of {walk['asked']} samples raise when each is asked for alone"
        if wrong
        else f"of {walk['asked']} samples few have another shape"
    )
    said = f"{found['error']['type']}: {found['error']['message']}".splitlines()[0]
    beside = found["why"]["beside"]
    return f"{loading.name(found)}: {why}, which works out in {beside} others; {others} ({said})"


def _other(examination: Examination) -> str:
    """A sample that raises for another reason is named all the same."""
    raised = loading.walk(examination).get("raised") or []
    if not raised:
        return ""
    one = raised[0]
    asked = loading.walk(examination)["asked"]
    said = f"{one['raised']['type']}: {one['raised']['message']}".splitlines()[0]
    return (
        f"why {loading.name(one)} raises ({said}); {len(raised)} of {asked} samples do when each is asked for alone, and none "
        "of its sizes stands out"
    )


def facts(examination: Examination) -> Facts:
    found = too_short(examination)
    if found is None:
        return {}
    short = found["short"]
    frames = found["error"].get("frames") or []
    place = short["site"] if short is not None else frames[-1] if frames else found["smaller"][0]["site"]
    return examination.place(place) | {"short": short, "smaller": found["smaller"]}

"""A checkpointed region whose recomputation differs from its forward, and the one thing that makes them equal again."""

from __future__ import annotations

from firstcause.schema import Hypothesis
from firstcause.specialists import backward_calls
from firstcause.specialists.examination import Examination, Facts
from firstcause.specialists.verdicts import by_replay, inconclusive

CHECKPOINT = "torch.utils.checkpoint"


def raised(examination: Examination) -> bool:
    return backward_calls.raised(examination, CHECKPOINT)


def region(examination: Examination) -> Facts | None:
    """The region that came out otherwise; None where the replay saw none."""
    found: Facts | None = (backward_calls.graph(examination) or {}).get("recomputation")
    return found


def is_cache(found: Facts, variant: Facts) -> bool:
    """Whether what was put back kept tensors of the forward: a cache, and no counter, switch or generator.

    A switch that says whether a cache is filled is part of it: the recomputation took in tensors of the forward.
    """
    parts = variant["parts"]
    kept = bool(found["reused"]) and all(p["kind"] != "generator" for p in parts)
    return kept or any(p["kind"] == "cache" or p["tensors"] for p in parts)


def tell(examination: Examination, found: Facts) -> str:
    """One sentence: the region, and by how many ops its two computations differ."""
    where = examination.site(found["site"])
    counts = f"{found['forward_ops']} ops in the forward and {found['second_ops']} in the recomputation"
    parting = examination.site(found["parting"])
    at = f", parting at {parting}" if parting else ""
    return f"{found['function']}, checkpointed at {where}, ran {counts}{at}"


def tell_variant(variant: Facts) -> str:
    names = []
    for part in variant["parts"]:
        if part["kind"] == "generator":
            generator = {
                "python": "Python's generator",
                "numpy": "NumPy's generator",
                "torch": "torch's generator",
            }
            names.append(generator.get(part["name"], f"the generator {part['name']}"))
        else:
            names.append(f"{part['name']}.{part['attribute']}" if part["attribute"] else part["name"])
    return ", ".join(names)


def settle(hypothesis: Hypothesis, examination: Examination, cached: bool) -> Hypothesis:
    """Confirmed where putting back one thing of the wanted kind, and none of the other, makes the ops equal."""
    if backward_calls.graph(examination) is None:
        return backward_calls.no_graph(hypothesis, examination)
    found = region(examination)
    if found is None:
        return inconclusive(
            hypothesis.cause, "the recomputation ran the same ops as the forward in the replay"
        )
    text = tell(examination, found)
    if found["unchanged_equal"]:
        return inconclusive(
            hypothesis.cause, f"{text}, but computed once more with nothing put back it did not"
        )
    equal = [v for v in found["variants"] if v["equal"]]
    if not equal:
        tried = "; ".join(tell_variant(v) for v in found["variants"]) or "nothing that is known had changed"
        return inconclusive(
            hypothesis.cause, f"{text}, and putting back what had changed did not make them equal ({tried})"
        )
    own = [v for v in equal if is_cache(found, v) == cached]
    other = [v for v in equal if is_cache(found, v) != cached]
    if own and other:
        return inconclusive(
            hypothesis.cause, f"{text}; each of {', '.join(map(tell_variant, equal))} makes them equal"
        )
    values: Facts = {
        "reused": found["reused"],
        "forward_ops": found["forward_ops"],
        "second_ops": found["second_ops"],
    }
    chosen = (own or other)[0]
    text += f"; with {tell_variant(chosen)} as the forward found it, they are equal"
    site = examination.site(place(found, chosen) if own else None)
    return by_replay(hypothesis, examination, bool(own), text, values, site)


def place(found: Facts, variant: Facts) -> Facts | None:
    """Where the draw stands that decides, or else where the two ways part."""
    draws = [d for p in variant["parts"] for d in p["draws"]]
    parting: Facts | None = found["parting"]
    if parting is not None and any(
        (d["file"], d["line"]) == (parting["file"], parting["line"]) for d in draws
    ):
        return parting
    return draws[0] if draws else parting or found["site"]


def facts(examination: Examination, cached: bool) -> Facts:
    """What a fix needs: the place of the draw or the parting, the generator, the attribute and its class."""
    found = region(examination) or {}
    variant = next(v for v in found["variants"] if v["equal"] and is_cache(found, v) == cached)
    part: Facts = next((p for p in variant["parts"] if p["tensors"]), variant["parts"][0])
    given = examination.place(place(found, variant)) | {"kind": part["kind"], "generator": part["name"]}
    return given | {
        "class": part["class"],
        "attribute": part["attribute"],
        "region": examination.place(found["site"]),
    }

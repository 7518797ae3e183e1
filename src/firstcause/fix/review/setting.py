"""What is known when a patch is reviewed: the diagnosis that it answers, and what has failed before."""

from __future__ import annotations

from dataclasses import dataclass

from firstcause.schema import Diagnosis, Site


@dataclass(frozen=True)
class Setting:
    """The diagnosis in force, if any, and in words why this approach is struck out, if it is."""

    diagnosis: Diagnosis | None = None
    struck_out: str = ""

    @property
    def cause(self) -> str | None:
        """The established cause; None where none is."""
        known = self.diagnosis
        return known.cause if known is not None and known.status == "established" else None

    @property
    def refuted(self) -> dict[str, str]:
        """The refuted causes, each with what was measured against it."""
        hypotheses = self.diagnosis.hypotheses if self.diagnosis else ()
        return {
            h.cause: next((e.text for e in h.evidence if not e.supports), "its prediction failed")
            for h in hypotheses
            if h.status == "refuted"
        }

    @property
    def evidence(self) -> tuple[Site, ...]:
        """Where the evidence of the established cause points."""
        if self.cause is None or self.diagnosis is None:
            return ()
        mine = [h for h in self.diagnosis.hypotheses if h.cause == self.cause]
        sites = [self.diagnosis.site, *(h.site for h in mine)]
        sites += [e.site for h in mine for e in h.evidence if e.supports]
        return tuple(dict.fromkeys(site for site in sites if site is not None))

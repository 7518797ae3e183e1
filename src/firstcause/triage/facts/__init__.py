"""What a text says that can be counted or named, under stable keys."""

from firstcause.triage.facts.collect import facts_of

__all__ = ["facts_of"]

"""What is known, as data: one cause a TOML file; everything that speaks of causes is made from these."""

from firstcause.catalog.load import CAUSES, cause, load, slugs
from firstcause.catalog.specialists import SPECIALISTS

__all__ = ["CAUSES", "SPECIALISTS", "cause", "load", "slugs"]

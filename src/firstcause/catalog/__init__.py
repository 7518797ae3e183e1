"""What is known, as data: a TOML file for each cause and each pattern; whatever speaks of them is made from these."""

from firstcause.catalog.load import CAUSES, cause, load, slugs
from firstcause.catalog.specialists import SPECIALISTS

__all__ = ["CAUSES", "SPECIALISTS", "cause", "load", "slugs"]

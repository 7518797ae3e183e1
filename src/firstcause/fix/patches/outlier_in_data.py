"""Rows far outside of all others: the line that prepared the data is named, never patched.

Whether such a row is a wrong unit, a sentinel for "missing" or a true reading is for its owner to say.

Facts: ``file``, ``line``, ``name`` as for nan-in-data; ``value``, the farthest value.
"""

from __future__ import annotations

from firstcause.fix.batches import batch_origins
from firstcause.fix.operations import Facts, named_line
from firstcause.schema import Fix, Site
from firstcause.source import Project
from firstcause.source.data import preparing_site

CAUSE = "outlier-in-data"


def line(facts: Facts, project: Project) -> Site | None:
    """The line that prepared the numbers last, else the line that the facts name."""
    return preparing_site(batch_origins(facts, project)) or named_line(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """None: which rows are wrong, and what they should be, is not in the code."""
    return None

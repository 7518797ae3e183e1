"""Reading the user's code: files, names, and where values come from; nothing is run."""

from firstcause.source.constructs import Construction, find_module_construction
from firstcause.source.data import data_origin
from firstcause.source.flow import origins
from firstcause.source.module import Module
from firstcause.source.project import Project, Unreadable
from firstcause.source.walk import Origin

__all__ = [
    "Construction",
    "Module",
    "Origin",
    "Project",
    "Unreadable",
    "data_origin",
    "find_module_construction",
    "origins",
]

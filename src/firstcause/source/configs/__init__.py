"""Config files as literals: YAML, JSON and TOML with the line of each value, followed like values of the code."""

from firstcause.source.configs.file import ConfigFile, Entry
from firstcause.source.configs.literal import NotRead, Refused

__all__ = ["ConfigFile", "Entry", "NotRead", "Refused"]

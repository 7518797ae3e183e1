"""YAML is read in a way that may build any object.

Why: a file with !!python tags runs code when it is read; since PyYAML 6 a load without a Loader raises TypeError.
Refuted by: safe_load, a SafeLoader.
Holds for: PyYAML, all versions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firstcause.check.code import Code, finding
from firstcause.check.rule import Example
from firstcause.schema.finding import Category, Finding
from firstcause.source.frames import Value
from firstcause.source.resolve import external, resolve

SLUG = "unsafe-yaml-load"
CATEGORY: Category = "warning"
HOLDS: Mapping[str, str] = {}

UNSAFE = (
    "yaml.UnsafeLoader",
    "yaml.Loader",
    "yaml.CLoader",
    "yaml.loader.UnsafeLoader",
    "yaml.loader.Loader",
)


def find(code: Code) -> Iterator[Finding]:
    for call in code.calls("yaml.load", "yaml.load_all"):
        given = call.argument("Loader", 1)
        if given is None and not call.may_have("Loader"):
            text = (
                "yaml.load without a Loader raises TypeError since PyYAML 6; yaml.safe_load reads plain data"
            )
            yield finding(SLUG, "critical", call.module, call.node, text, argument="Loader")
        elif given is not None and _loader(code, given) in UNSAFE:
            text = f"{_loader(code, given)} builds whatever object the file names; yaml.safe_load reads plain data"
            yield finding(SLUG, CATEGORY, call.module, call.node, text, argument="Loader")
    for call in code.calls("yaml.unsafe_load", "yaml.unsafe_load_all"):
        text = f"{call.name} builds whatever object the file names; yaml.safe_load reads plain data"
        yield finding(SLUG, CATEGORY, call.module, call.node, text)


def _loader(code: Code, given: Value) -> str:
    """The dotted name of the loader that is given."""
    return external(resolve(code.project, given.module, given.node))


_BODY = """
import yaml

with open("config.yaml") as file:
    config = {load}{mark}
"""
BAD = (
    Example(_BODY.format(load="yaml.load(file)", mark="  # found")),
    Example(_BODY.format(load="yaml.load(file, Loader=yaml.UnsafeLoader)", mark="  # found")),
)
GOOD = (
    Example(_BODY.format(load="yaml.safe_load(file)", mark="")),
    Example(_BODY.format(load="yaml.load(file, Loader=yaml.SafeLoader)", mark="")),
    Example(
        _BODY.format(load="YAML().load(file)", mark="").replace("import yaml", "from ruamel.yaml import YAML")
    ),
)

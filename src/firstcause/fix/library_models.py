"""Models of libraries: where the program says how large a part is that the library's own code makes and calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.fix.counts import Count, count_of
from firstcause.source import Module, Project
from firstcause.source.callees import library_name
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value

LIBRARIES = ("transformers.", "timm.", "torchvision.models.")
MAKERS = (".from_pretrained", ".from_config", ".create_model")
# Of these, what makes no model.
OTHERS = ("tokenizer", "processor", "extractor", "trainer", "arguments", "generation")


def size_of(project: Project, *names: str, seen: int | None = None) -> Count | None:
    """Where the one argument of these names is decided, ``seen`` its value; None where no call gives one, or several do."""
    given = [
        Value(module, keyword.value)
        for module, call in _calls(project)
        for keyword in call.keywords
        if keyword.arg in names
    ]
    return count_of(project, given[0], seen) if len(given) == 1 else None


def made_by(project: Project, *names: str) -> tuple[Module, ast.Call] | None:
    """The one call that makes the model or its configuration without any of these arguments: their default holds."""
    found = [
        (module, call)
        for module, call in _calls(project)
        if all(k.arg is not None and k.arg not in names for k in call.keywords)
    ]
    return found[0] if len(found) == 1 else None


def _calls(project: Project) -> Iterator[tuple[Module, ast.Call]]:
    """Calls of these libraries that decide the size of a model: a configuration, or one that is loaded or made by name."""
    walk = new_walk(project)
    for module in project.modules:
        for call in module.nodes(ast.Call):
            name = library_name(walk, Value(module, call))
            if name.startswith(LIBRARIES) and not any(word in name.lower() for word in OTHERS):
                kind = name.removesuffix(".from_pretrained").rpartition(".")[2]
                if name.endswith(MAKERS) or kind.endswith("Config"):
                    yield module, call

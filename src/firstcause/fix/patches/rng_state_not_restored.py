"""A checkpoint without the states of the random generators: saved with the weights, and set again after them.

Facts: those of ``fix/checkpoints``, and ``names``, the generators that are drawn from: ``torch``, ``python``, ``numpy``, or
else one that the program holds, whose class is ``class``.
"""

from __future__ import annotations

from firstcause.fix.checkpoints import Read, Written, added_entry, new_key, read, written
from firstcause.fix.checkpoints import line as line_of
from firstcause.fix.kept_states import made
from firstcause.fix.operations import Facts
from firstcause.fix.scopes import named
from firstcause.schema import Fix, Site
from firstcause.source import Module, Project

CAUSE = "rng-state-not-restored"
# By generator: the library, the text of its state, and the statement that sets it again. NumPy's own arrays are no plain
# data to torch.load, which refuses them since 2.6.
GLOBAL = {
    "torch": ("torch", "{0}.get_rng_state()", "{0}.set_rng_state({1})"),
    "python": ("random", "{0}.getstate()", "{0}.setstate({1})"),
    "numpy": (
        "numpy",
        '[s.tolist() if hasattr(s, "tolist") else s for s in {0}.random.get_state()]',
        "{0}.random.set_state(tuple({1}))",
    ),
}
HELD = {
    "Random": ("{0}.getstate()", "{0}.setstate({1})"),
    "RandomState": ("{0}.get_state()", "{0}.set_state({1})"),
}


def line(facts: Facts, project: Project) -> Site | None:
    """The dict that is saved without them, or the load that leaves them out."""
    return line_of(facts, project)


def patch(facts: Facts, project: Project, root: str) -> Fix | None:
    """An entry and a statement for each generator; None where a file does not import what has them."""
    saves, loads = written(facts, project), _anywhere(facts, project)
    names = [str(n) for n in facts.get("names") or ()]
    if saves is None or loads is None or facts.get("in_file") or not names:
        return None
    entries, statements = [], []
    for name in names:
        texts = _global(name, saves.module, loads.module) if name in GLOBAL else _held(facts, saves, loads)
        if texts is None:
            return None
        key = new_key(saves, f"{name}_rng" if name in GLOBAL else "generator_rng")
        entries.append((key, texts[0]))
        statements.append(texts[1].replace("{1}", f'{loads.source}["{key}"]'))
    key, value = entries[0]
    joined = value + "".join(f', "{k}": {v}' for k, v in entries[1:])
    return made(
        project,
        root,
        CAUSE,
        (saves, loads),
        [added_entry(saves, key, joined)],
        statements,
        "The position in an epoch that was left half way: an iterator over data is not in the file.",
    )


def _anywhere(facts: Facts, project: Project) -> Read | None:
    """The loading statement; the process's own generators have no name that would have to be in scope."""
    frames = [f | {"expression": f.get("expression") or "its generator"} for f in facts.get("loads") or ()]
    return read({**facts, "loads": frames}, project)


def _global(name: str, saves: Module, loads: Module) -> tuple[str, str] | None:
    library, state, put = GLOBAL[name]
    there, back = named(saves, library), named(loads, library)
    return (state.replace("{0}", there), put.replace("{0}", back)) if there and back else None


def _held(facts: Facts, saves: Written, loads: Read) -> tuple[str, str] | None:
    if saves.expression is None or loads.expression == "its generator":
        return None
    kind = str(facts.get("class"))
    default = ("{0}.get_state()", "{0}.set_state({1})")
    if kind == "Generator" and facts.get("numpy"):
        default = ("{0}.bit_generator.state", "{0}.bit_generator.state = {1}")
    state, put = HELD.get(kind, default)
    return state.replace("{0}", saves.expression), put.replace("{0}", loads.expression)

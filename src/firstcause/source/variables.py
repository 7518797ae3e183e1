"""How a walk goes from a name to what it was given: assignments, parameters, imports."""

from __future__ import annotations

import ast
from dataclasses import replace

from firstcause.source.arguments import bound, default
from firstcause.source.argv import reached
from firstcause.source.callsites import call_sites
from firstcause.source.classes import decorators, self_name
from firstcause.source.configs.hydra import from_main
from firstcause.source.containers import grown, pick, starting_elements
from firstcause.source.definitions import Definition, Wanted
from firstcause.source.frames import Frame, Instance, Value, frame_of
from firstcause.source.launch import LaunchFile
from firstcause.source.module import FunctionNode, Module, targets_of, within
from firstcause.source.names import at_end, lookup
from firstcause.source.objects import class_part, part
from firstcause.source.options import from_click
from firstcause.source.resolve import Defined, imported, member, resolve
from firstcause.source.steps import EACH, Path, Step
from firstcause.source.walk import Chain, Holder, Hop, Origin, Result, Walk


def variable(walk: Walk, value: Value, chain: Chain) -> Result:
    """Follow a name to its definitions."""
    assert isinstance(value.node, ast.Name)
    wanted = Wanted(value.node.id, key=wanted_key(value.path))
    definitions = lookup(value.module, value.node, wanted)
    if not definitions:
        return walk.stop("unknown", value, chain)
    return follow(walk, value, definitions, wanted, chain)


def wanted_key(path: Path) -> str | int | None:
    """The key or attribute that a path takes first; assignments to just that part count as definitions."""
    if not path or path[0].kind == "iter":
        return None
    key = path[0].key
    return int(key) if path[0].kind == "child" and isinstance(key, str) and key.isdecimal() else key


def module_variable(walk: Walk, module: Module, name: str, path: Path, chain: Chain) -> Result:
    """Follow a module's own variable, as an import of it sees it."""
    wanted = Wanted(name, key=wanted_key(path))
    definitions = at_end(module, wanted)
    holder = ast.Name(name, ast.Load(), lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    return (
        follow(walk, Value(module, holder, None, path), definitions, wanted, chain) if definitions else None
    )


def follow(walk: Walk, value: Value, definitions: list[Definition], wanted: Wanted, chain: Chain) -> Result:
    """The origins through any of several definitions."""
    if len(definitions) > 1:
        run = set(reached(walk.project, value.module, [d.node for d in definitions]))
        definitions = [d for d in definitions if d.node in run] or definitions
    results = [(d, _definition(walk, value, d, wanted, chain)) for d in definitions]
    if all(result is None for _, result in results):
        return None
    results, is_open = _of_options(results)
    found: list[Origin] = []
    for definition, result in results:
        unknown = Origin("unknown", value.module, definition.value or definition.node, chain, exact=False)
        found += [unknown] if result is None else result
    return [replace(o, kind="config") for o in found] if is_open else found


Results = list[tuple[Definition, Result]]


def _of_options(results: Results) -> tuple[Results, bool]:
    """What stands where a command line is laid over a mapping, and whether a command line may still say otherwise.

    An option that every launch gives wins over what was there before; one that none gives changes nothing.
    """
    if len(results) == 1 or not any(d.member for d, _ in results):
        return results, False
    kept: Results = []
    is_open = False
    for definition, result in results:
        if not definition.member or not result or not all(_is_optional(o) for o in result):
            kept.append((definition, result))
            continue
        said = [o for o in result if o.exact and not _is_none(o.node)]
        if said and len(said) == len(result):
            return [(definition, said)], False
        is_open = True
        if said:
            kept.append((definition, said))
    return kept or results, is_open and bool(kept)


def _is_optional(origin: Origin) -> bool:
    return origin.kind == "config" or isinstance(origin.module, LaunchFile)


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _definition(walk: Walk, value: Value, definition: Definition, wanted: Wanted, chain: Chain) -> Result:
    module, node = value.module, definition.node
    if definition.kind == "parameter":
        return _parameter(walk, value, node, chain)
    if definition.kind == "import":
        assert isinstance(node, ast.alias)
        return _import(walk, value, node, wanted.name, chain)
    if definition.kind == "definition":
        if isinstance(node, ast.ClassDef) and value.path:
            return class_part(walk, Defined(module, node), value.path, chain)
        return None if value.path else [Origin("definition", module, node, chain)]
    if definition.kind == "opaque":
        return None if value.path else [Origin("unknown", module, node, chain, exact=False)]
    if definition.kind == "augmented":
        return _augmented(walk, value, definition, wanted, chain)
    return _assigned(walk, value, definition, wanted, chain)


def _assigned(walk: Walk, value: Value, definition: Definition, wanted: Wanted, chain: Chain) -> Result:
    assert definition.value is not None
    module = value.module
    function = module.function(definition.node)
    source = Value(module, definition.value, frame_of(value.frame, function))
    chain = (
        *chain,
        *_writes(walk, value, definition, wanted),
        Hop(module, definition.value, _holder(module, function, wanted)),
    )
    taken = definition.path
    if definition.node in walk.selected:
        taken = (Step("item", walk.selected[definition.node]), *taken[1:])
    path = (*taken, *(value.path[1:] if definition.member else value.path))
    if path and path[0].kind != "attr" and not definition.path:
        start = starting_elements(source)
        added = (
            [] if start is None else grown(source, _target(wanted), _scope(module, definition.node, wanted))
        )
        if start is not None and added:
            return pick(walk, source.at(source.node, path), [*start, *added], chain)
    result = walk.trace(source.at(source.node, path), chain)
    if result is None and not value.path:
        return [
            Origin(
                "call" if isinstance(source.node, ast.Call) else "operation",
                module,
                source.node,
                chain,
                exact=False,
            )
        ]
    return result


def _target(wanted: Wanted) -> ast.expr:
    name = ast.Name(wanted.name, ast.Load())
    return name if wanted.attribute is None else ast.Attribute(name, wanted.attribute, ast.Load())


def _scope(module: Module, node: ast.AST, wanted: Wanted) -> ast.AST:
    if wanted.attribute is not None:
        return module.method_class(node) or module.tree
    return module.function(node) or module.tree


def _holder(module: Module, function: FunctionNode | None, wanted: Wanted) -> Holder:
    if wanted.attribute is not None and function is not None:
        scope = module.method_class(function) or module.tree
        return Holder(module, scope, wanted.attribute, True, wanted.key)
    return Holder(module, function or module.tree, wanted.name, False, wanted.key)


def _writes(walk: Walk, value: Value, definition: Definition, wanted: Wanted) -> list[Hop]:
    """Statements that change elements of a variable in place, latest first; of interest for data only."""
    if not walk.data:
        return []
    found = []
    for node in within(_scope(value.module, definition.node, wanted)):
        for target in targets_of(node):
            if isinstance(target, ast.Subscript) and wanted.is_base(_innermost(target)):
                found.append(Hop(value.module, node))
    return sorted(found, key=lambda h: -h.site.line)


def _innermost(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _augmented(walk: Walk, value: Value, definition: Definition, wanted: Wanted, chain: Chain) -> Result:
    node = definition.node
    assert isinstance(node, ast.AugAssign)
    if not value.path:
        return [Origin("operation", value.module, node, chain, exact=False)]
    if value.path[0].kind not in ("iter", "item", "child"):
        return None
    if node in walk.augmenting:
        # In a loop, what was added the pass before is added by the same statement.
        return []
    frame = frame_of(value.frame, value.module.function(node))
    walk.augmenting.add(node)
    try:
        earlier = follow(walk, value, lookup(value.module, node, wanted), wanted, chain)
    finally:
        walk.augmenting.discard(node)
    added = walk.trace(Value(value.module, node.value, frame, (EACH, *value.path[1:])), chain)
    return None if earlier is None and added is None else [*(earlier or []), *(added or [])]


def _import(walk: Walk, value: Value, alias: ast.alias, name: str, chain: Chain) -> Result:
    module, path = value.module, value.path
    target = imported(walk.project, module, alias, name)
    if isinstance(target, Module):
        if path and path[0].kind == "attr" and isinstance(path[0].key, str):
            return module_variable(walk, target, path[0].key, path[1:], chain)
        return None if path else [Origin("definition", target, target.tree, chain, exact=False)]
    if isinstance(target, Defined):
        if isinstance(target.node, ast.ClassDef) and path:
            return class_part(walk, target, path, chain)
        return None if path else [Origin("definition", target.module, target.node, chain)]
    statement = module.parents[alias]
    if isinstance(statement, ast.ImportFrom):
        source = walk.project.import_target(module, statement.module or "", statement.level)
        if source is not None and member(walk.project, source, name) is None:
            return _imported_variable(walk, source, alias, name, path, chain)
    return None if path else [Origin("unknown", module, statement, chain, exact=False)]


def _imported_variable(
    walk: Walk, source: Module, alias: ast.alias, name: str, path: Path, chain: Chain
) -> Result:
    step = (alias, name, path)
    if step in walk.importing:
        walk.effort.cuts += 1
        return []
    walk.importing.add(step)
    try:
        return module_variable(walk, source, name if alias.name == "*" else alias.name, path, chain)
    finally:
        walk.importing.discard(step)


def _parameter(walk: Walk, value: Value, parameter: ast.AST, chain: Chain) -> Result:
    assert isinstance(parameter, ast.arg)
    module, name = value.module, parameter.arg
    function = module.function(parameter)
    assert function is not None
    frame = frame_of(value.frame, function)
    if name == self_name(walk.project, module, function):
        return _self(walk, value, function, frame, chain)
    holder = Holder(module, function, name, False, wanted_key(value.path))
    if frame is not None and name in frame.given:
        return _given(walk, value, frame, name, chain, holder)
    frames = [frame] if frame is not None and frame.call is not None else call_sites(walk, module, function)
    results = [_given(walk, value, f, name, chain, holder) for f in frames]
    found = [o for result in results if result is not None for o in result]
    if any(result is None for result in results) or not frames:
        found += _default(walk, value, function, parameter, chain, holder) or []
    if not found:
        configured = from_main(walk, value, function, chain) or from_click(walk, value, function, name, chain)
        if configured is not None:
            return configured
    return found or _annotated(walk, value, parameter, chain)


def _given(walk: Walk, value: Value, frame: Frame, name: str, chain: Chain, holder: Holder) -> Result:
    """What one call gives; None where it leaves the parameter to its default."""
    if name in frame.given:
        bound_before = frame.given[name]
        source = bound_before.at(bound_before.node, (*bound_before.path, *value.path))
        return walk.trace(source, (*chain, Hop(source.module, source.node, holder)))
    if frame.call is None or not isinstance(frame.call.node, ast.Call):
        return None
    given, rest = bound(frame.function, name, frame.call.node, frame.implicit, frame.skip, value.path)
    if given is None:
        return None
    source = frame.call.at(given.node, (*given.path, *rest))
    hop = (*chain, Hop(source.module, given.node, holder))
    result = walk.trace(source, hop)
    if result is None and given.sure:
        return [Origin("unknown", source.module, given.node, hop, exact=False)] if value.path == () else None
    return result


def _default(
    walk: Walk, value: Value, function: FunctionNode, parameter: ast.arg, chain: Chain, holder: Holder
) -> Result:
    node = default(function, parameter.arg)
    if node is None:
        return None
    frame = frame_of(value.frame, value.module.function(function))
    found = walk.trace(
        Value(value.module, node, frame, value.path), (*chain, Hop(value.module, node, holder))
    )
    return [
        Origin("parameter-default", o.module, o.node, o.hops, o.exact, o.value)
        if o.node is node and o.kind == "literal"
        else o
        for o in found or []
    ]


def _annotated(walk: Walk, value: Value, parameter: ast.arg, chain: Chain) -> Result:
    """An object of the annotated class where no call tells more; else the parameter itself, unknown."""
    annotation = parameter.annotation
    if (
        isinstance(annotation, ast.Constant)
        and isinstance(annotation.value, str)
        and annotation.value.isidentifier()
    ):
        target = member(walk.project, value.module, annotation.value)
    else:
        target = resolve(walk.project, value.module, annotation) if annotation is not None else None
    if isinstance(target, Defined) and isinstance(target.node, ast.ClassDef):
        instance = Instance(target.module, target.node)
        if value.path:
            return part(walk, instance, value.path, chain)
        return [Origin("unknown", value.module, parameter, chain, exact=False, instance=instance)]
    return None if value.path else [Origin("unknown", value.module, parameter, chain, exact=False)]


def _self(walk: Walk, value: Value, function: FunctionNode, frame: Frame | None, chain: Chain) -> Result:
    module = value.module
    cls = module.method_class(function)
    assert cls is not None
    assert not isinstance(function, ast.Lambda)
    if "classmethod" in decorators(walk.project, module, function):
        if value.path:
            return class_part(walk, Defined(module, cls), value.path, chain)
        return [Origin("definition", module, cls, chain)]
    owner = frame.owner if frame is not None and frame.owner is not None else Instance(module, cls)
    if value.path:
        return part(walk, owner, value.path, chain)
    return [Origin("unknown", module, function, chain, exact=False, instance=owner)]

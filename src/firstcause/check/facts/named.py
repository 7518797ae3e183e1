"""Names that say what they hold: constants, parameters and defaults called as the settings are.

They only confirm, and are confirmed: whether the value is used as its name says, the code does not prove.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from firstcause.check.code import Code
from firstcause.check.config_reads import config_reads
from firstcause.check.facts.fact import Fact
from firstcause.check.facts.normal import path
from firstcause.schema.site import Site
from firstcause.source import launch
from firstcause.source.configs.lookup import named
from firstcause.source.flow import new_walk
from firstcause.source.frames import Value

NAMES = {
    "max_length": re.compile(
        r"^(max_?len(gth)?|seq(_?len(gth)?)?|block(_size)?|context(_len(gth)?)?|max_seq_len(gth)?|max_tokens)$"
    ),
    "early_stopping_patience": re.compile(r"^patience$"),
    "hidden_size": re.compile(r"^(hidden(_size|_dim)?|d_model|width)$"),
    "num_layers": re.compile(r"^(layers|n_?layers?|num_layers|depth)$"),
    "temperature": re.compile(r"^temp(erature)?$"),
    "top_p": re.compile(r"^top_p$"),
    "top_k": re.compile(r"^top_k$"),
    "max_new_tokens": re.compile(r"^(max_(new_)?tokens|new_tokens)$"),
    "warmup_ratio": re.compile(r"^warm_?up(_ratio|_frac(tion)?|_share|_proportion)?$"),
    "warmup_steps": re.compile(r"^warm_?up_(steps|iters)$"),
    "label_smoothing": re.compile(r"^(label_)?smoothing$"),
    "seed": re.compile(r"^(random_)?seed$"),
    "gradient_accumulation": re.compile(r"^(grad(ient)?_)?accum(ulat(e|ion))?(_steps|_iter)?$"),
    "effective_batch_size": re.compile(r"^((global|effective|total)_?(batch(_size)?|bs|seqs|samples))$"),
    "data_split": re.compile(
        r"^(hold_?out|val(id(ation)?)?|dev|test)_(size|split|share|frac(tion)?|ratio|days|rows|lines|count|n)$"
    ),
    "save_steps": re.compile(r"^(save|checkpoint|ckpt)_(every|steps|interval|freq)$"),
    "eval_steps": re.compile(r"^(eval(uate)?|val(idate|idation)?|test)_(every|steps|interval|freq)$"),
}

# What names say only where nothing else does: beside a use that can be followed, a name that goes unused would hide it.
UNSTATED = {
    "num_labels": re.compile(r"^(num|n)_?(classes|labels|categories|cls)$"),
    "learning_rate": re.compile(r"^(lr|learning_rate|base_lr|max_lr)$"),
    "batch_size": re.compile(r"^(train_)?(batch_size|bs|batch)$"),
    "epochs": re.compile(r"^((num|n|max)_?)?(train_)?epochs?$"),
    "weight_decay": re.compile(r"^(weight_decay|wd)$"),
    "dropout": re.compile(r"^(p_)?drop(out)?(_rate|_prob|_p)?$"),
    "max_grad_norm": re.compile(r"^(max_grad_norm|grad_clip|clip|clip_norm|max_norm)$"),
    "max_steps": re.compile(
        r"^(max_|total_|num_)(train_)?(steps|iters|iterations)$|^(steps|max_updates|updates)$"
    ),
}
PATHS = ("dataset", "input_path", "output_dir", "output_path")
LONGEST_PATH = 200
Names = Mapping[str, re.Pattern[str]]


def named_facts(code: Code) -> Iterator[Fact]:
    """Facts from assignments of plain numbers to such names, at module level or as a parameter's default."""
    for module in code.modules:
        for assign in module.nodes(ast.Assign):
            if module.function(assign) is None:
                for target, value in _pairs(assign.targets, assign.value):
                    yield from _fact(target, value, module.site(assign))
    # What may never be used assumes nothing.
    yield from (replace(f, explicit=False) for f in _options(code))


def unstated_facts(code: Code, stated: set[str]) -> Iterator[Fact]:
    """The same of keys of which the code says nothing else: by names, and by what the project's own classes are given."""
    wanted = {k: p for k, p in UNSTATED.items() if k not in stated and code.asked(k)}
    if not wanted:
        return
    for module in code.modules:
        for assign in module.nodes(ast.Assign):
            for target, value in _pairs(assign.targets, assign.value):
                yield from _fact(target, value, module.site(assign), wanted)
        for call in module.nodes(ast.Call):
            for keyword in call.keywords:
                if keyword.arg is not None:
                    yield from _fact(keyword.arg, keyword.value, module.site(keyword.value), wanted)
    yield from _options(code, wanted)
    for read in config_reads(code).read if code.project.configured else ():
        found = code.constant(read.module, read.node) if _key_of(read.name, wanted) else None
        if found is not None:
            for fact in _fact(read.name, ast.Constant(found.value), found.site, wanted):
                yield replace(fact, how=f"{read.name} of {read.configs[0].name}")


def written_paths(code: Code, stated: set[str]) -> Iterator[Fact]:
    """Paths that were asked for and stand in the code, of keys of which it says nothing else: whose they are is not said."""
    asked = {
        (key, path(i.value))
        for key in PATHS
        if key not in stated
        for i in code.asked(key)
        if isinstance(i.value, str) and len(i.value) > 1
    }
    if not asked:
        return
    for module in code.modules:
        for joined in module.nodes(ast.BinOp):
            # ``root / "train"``.
            text = code.text_of(Value(module, joined)) if isinstance(joined.op, ast.Div) else None
            written = path(str(text.value)) if text is not None else ""
            for key in (k for k in PATHS if (k, written) in asked):
                how = "a path in the code"
                yield Fact(key, written, module.site(joined), how, sure=False, confirms=True)
    for module in (*code.modules, *named(new_walk(code.project))):
        for node in module.nodes(ast.Constant):
            if isinstance(node.value, str) and len(node.value) < LONGEST_PATH:
                written = path(node.value)
                for key in (k for k in PATHS if (k, written) in asked):
                    how = "a path in the code"
                    yield Fact(key, written, module.site(node), how, sure=False, confirms=True)


def _options(code: Code, names: Names = NAMES) -> Iterator[Fact]:
    """Defaults of command-line options, of parameters and of fields that are called so: they only confirm."""
    for call in code.methods("add_argument", "option"):
        flag = next(
            (
                a.value
                for a in call.node.args
                if isinstance(a, ast.Constant) and str(a.value).startswith("--")
            ),
            "",
        )
        default = call.argument("default")
        name = str(flag).lstrip("-").replace("-", "_")
        said = [
            (x.file, n)
            for x in launch.concerning(code.project, call.module)
            if (n := launch.given(x, name)) is not None
        ]
        if flag and said:
            yield from _fact(name, said[0][1], said[0][0].site(said[0][1]), names)
        elif flag and default is not None:
            yield from _fact(name, default.node, default.module.site(default.node), names)
    for module in code.modules:
        for field in module.nodes(ast.AnnAssign):
            if (
                isinstance(field.target, ast.Name)
                and field.value is not None
                and module.function(field) is None
            ):
                yield from _fact(field.target.id, field.value, module.site(field), names)
        for arguments in module.nodes(ast.arguments):
            given = [*zip(reversed(arguments.args), reversed(arguments.defaults), strict=False)]
            named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            given += [(a, d) for a, d in named if d is not None]
            for argument, value in given:
                yield from _fact(argument.arg, value, module.site(value), names)


def _pairs(targets: list[ast.expr], value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            yield from (
                (t.id, v) for t, v in zip(target.elts, value.elts, strict=True) if isinstance(t, ast.Name)
            )


def _fact(name: str, value: ast.expr, site: Site, names: Names = NAMES) -> Iterator[Fact]:
    if (
        not isinstance(value, ast.Constant)
        or isinstance(value.value, bool)
        or not isinstance(value.value, (int, float))
    ):
        return
    key = _key_of(name, names)
    if key == "warmup_ratio" and value.value >= 1:
        key = "warmup_steps"
    if key is not None:
        yield Fact(key, value.value, site, name, "", sure=False, confirms=True)


def _key_of(name: str, names: Names) -> str | None:
    return next((k for k, pattern in names.items() if pattern.match(name.lower())), None)

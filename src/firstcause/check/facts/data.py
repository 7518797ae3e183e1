"""What is read: data sets, files, splits, lengths, and how many samples make a batch."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from firstcause.check.code import Call, Code
from firstcause.check.constants import Constant
from firstcause.check.facts.fact import EVAL_BATCH, Fact
from firstcause.check.facts.normal import path
from firstcause.check.facts.values import known_value, text_at_definition, value_of
from firstcause.check.loaders import training_loaders
from firstcause.check.partials import whole_calls
from firstcause.check.reasons import reason
from firstcause.schema.site import Site
from firstcause.source.frames import Value
from firstcause.source.module import Module

# Data sets of torchvision by the name in which people ask for them.
# Those that read the user's own files, with the arguments that say which.
OWN_FILES = {
    "ImageFolder": (("root", 0),),
    "DatasetFolder": (("root", 0),),
    "CocoDetection": (("annFile", 1), ("root", 0)),
    "CocoCaptions": (("annFile", 1), ("root", 0)),
}
READERS = frozenset({
    "json", "csv", "text", "parquet", "imagefolder", "audiofolder", "videofolder", "pdffolder", "webdataset", "arrow",
    "pandas", "xml",
})  # fmt: skip
WRITES = frozenset("wax")
SETTINGS = frozenset({".yaml", ".yml", ".toml", ".ini", ".cfg"})


def data_facts(code: Code) -> Iterator[Fact]:
    """Facts of dataset, input_path, output_path of plain files, data_split, max_length and batch_size of loaders."""
    yield from _sets(code)
    yield from _files(code)
    yield from _splits(code)
    yield from _lengths(code)
    yield from _loaders(code)
    yield from _completions(code)


def _sets(code: Code) -> Iterator[Fact]:
    for call in code.calls("datasets.load_dataset", "datasets.load.load_dataset"):
        name = call.constant("path", 0)
        if name is None or not isinstance(name.value, str):
            continue
        if name.value not in READERS:
            yield Fact(
                "dataset", name.value, name.site, "load_dataset", reason=reason(call.module, call.node)
            )
        given = [*_texts(call.constant("data_files"), call.constant("data_dir"))] or [*_built_files(call)]
        for files in given:
            yield Fact("dataset", path(files[0]), files[1], "load_dataset(data_files=)", "data_files")
    for call in code.calls(
        "datasets.load_from_disk", "datasets.Dataset.load_from_disk", "datasets.DatasetDict.load_from_disk"
    ):
        folder = _text(call, "dataset_path")
        if folder is not None:
            yield Fact(
                "dataset", path(str(folder.value)), folder.site, "load_from_disk", sure=not folder.overridable
            )
    for call in code.calls_within("torchvision.datasets."):
        last = call.name.rpartition(".")[2]
        if last not in OWN_FILES:
            yield Fact("dataset", last, call.site, call.name)
            continue
        for argument, position in OWN_FILES[last]:
            value = call.argument(argument, position)
            place = text_at_definition(code, value) if value is not None else None
            if place is not None and isinstance(place.value, str):
                yield Fact("dataset", path(place.value), place.site, last, sure=not place.overridable)


def _built_files(call: Call) -> Iterator[tuple[str, Site]]:
    """Paths that are put together, alone or in a mapping or list of them; what varies in one stands as ``{}``."""
    for argument in ("data_files", "data_dir"):
        given = call.argument(argument)
        for origin in call.code.origins(given.module, given.node) if given is not None else ():
            node = origin.node
            parts: list[ast.expr] = node.values if isinstance(node, ast.Dict) else []
            parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else parts
            parts = [node.value] if isinstance(node, ast.DictComp) else parts
            for part in parts or ([node] if isinstance(node, ast.expr) else []):
                text = text_at_definition(call.code, Value(origin.module, part))
                if text is not None and isinstance(text.value, str):
                    yield text.value, text.site


def _text(call: Call, name: str) -> Constant | None:
    """The text that a call's first argument was made with."""
    given = call.argument(name, 0)
    return text_at_definition(call.code, given) if given is not None else None


def _texts(*found: Constant | None) -> Iterator[tuple[str, Site]]:
    for one in found:
        if one is None:
            continue
        value, site = one.value, one.site
        values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        for text in values:
            if isinstance(text, str):
                yield text, site


def _files(code: Code) -> Iterator[Fact]:
    """Files opened for reading or writing, by name; pandas and numpy readers and writers too."""
    for call in code.calls("builtins.open", "io.open", "gzip.open"):
        name, mode = call.constant("file", 0), call.constant("mode", 1)
        yield from _opened(call, name, mode)
    for call in code.methods("open", "write_text", "read_text"):
        if call.receiver is None:
            continue
        name = text_at_definition(code, Value(call.module, call.receiver))
        if call.name == ".open":
            yield from _opened(call, name, call.constant("mode", 0))
        elif name is not None:
            key = "output_path" if call.name == ".write_text" else "input_path"
            yield Fact(key, path(str(name.value)), name.site, call.name)
    for call in code.calls_within("pandas.", "numpy."):
        last = call.name.rpartition(".")[2]
        if last.startswith("read_") or last in ("load", "loadtxt"):
            name = call.constant("filepath_or_buffer", 0) or _text(call, "filepath_or_buffer")
            if name is not None and isinstance(name.value, str):
                yield Fact("dataset", path(name.value), name.site, call.name)
    yield from _patterns(code)
    for call in code.calls("torch.load"):
        name = _text(call, "f")
        if name is not None:
            # Weights as often as data: it only confirms.
            yield Fact(
                "input_path", path(str(name.value)), name.site, "torch.load", sure=False, confirms=True
            )
    for call in code.methods("to_csv", "to_json", "to_parquet"):
        name = call.constant("path_or_buf", 0)
        if name is not None and isinstance(name.value, str):
            yield Fact("output_path", path(name.value), name.site, call.name)


def _patterns(code: Code) -> Iterator[Fact]:
    """Files by a pattern: ``glob.glob("data/*.json")``, ``Path("data").glob("*.json")``; what becomes of them is not said."""
    for call in code.calls("glob.glob", "glob.iglob"):
        name = _text(call, "pathname")
        if name is not None:
            yield Fact("input_path", path(str(name.value)), name.site, "glob", sure=False, confirms=True)
    for call in code.methods("glob", "rglob"):
        pattern = call.constant("pattern", 0)
        folder = (
            text_at_definition(code, Value(call.module, call.receiver)) if call.receiver is not None else None
        )
        if folder is not None and pattern is not None and isinstance(pattern.value, str):
            whole = f"{str(folder.value).rstrip('/')}/{pattern.value}"
            yield Fact("input_path", path(whole), folder.site, call.name, sure=False, confirms=True)


def _opened(call: Call, name: Constant | None, mode: Constant | None) -> Iterator[Fact]:
    text, how = name.value if name is not None else None, mode.value if mode is not None else "r"
    site = name.site if name is not None else None
    if isinstance(text, str) and isinstance(how, str) and site is not None:
        if os.path.splitext(text)[1] in SETTINGS and not set(how) & WRITES:
            # Settings, which are no data.
            return
        key = "output_path" if set(how) & WRITES else "input_path"
        yield Fact(key, path(text), site, f"open(…, {how!r})")


def _splits(code: Code) -> Iterator[Fact]:
    for call in code.methods_and_calls("train_test_split"):
        share = call.constant("test_size")
        if share is not None and isinstance(share.value, (int, float)):
            yield Fact("data_split", share.value, share.site, "train_test_split(test_size=)", "test_size")
    yield from _named_splits(code)
    for call in code.methods_and_calls("train_test_split"):
        seed = call.constant("seed") or call.constant("random_state")
        if seed is not None and seed.value is not None:
            yield Fact("seed", seed.value, seed.site, "train_test_split(seed=)", "seed")


def _named_splits(code: Code) -> Iterator[Fact]:
    """The data set's own split, where one was asked for by its name: ``split="validation"``, ``data["validation"]``."""
    for name in {i.value for i in code.asked("data_split") if isinstance(i.value, str)}:
        for module in code.modules:
            taken = [n.slice for n in module.nodes(ast.Subscript)]
            taken += [k.value for c in module.nodes(ast.Call) for k in c.keywords if k.arg == "split"]
            for node in taken:
                if isinstance(node, ast.Constant) and str(node.value).partition("[")[0] == name:
                    yield Fact("data_split", name, module.site(node), "a split by its name", confirms=True)


def _lengths(code: Code) -> Iterator[Fact]:
    """The length at which a tokenizer cuts; only where it does."""
    for module in code.modules:
        for node in module.nodes(ast.Call):
            named = {k.arg: k for k in node.keywords if k.arg}
            if "max_length" not in named or not ({"truncation", "padding"} & set(named)):
                continue
            cut = known_value(code, module, named["max_length"].value)
            if cut is None:
                yield from _several_lengths(code, module, named["max_length"].value)
            elif isinstance(cut.value, int):
                yield Fact(
                    "max_length",
                    cut.value,
                    cut.site,
                    "tokenizer(max_length=)",
                    "max_length",
                    not cut.overridable,
                )


def _several_lengths(code: Code, module: Module, node: ast.expr) -> Iterator[Fact]:
    """The lengths that the calls of a function give its tokenizer: each may be the one that is meant."""
    root = module.function(node)
    name = node.id if isinstance(node, ast.Name) else ""
    if not isinstance(root, ast.FunctionDef) or name not in {a.arg for a in root.args.args}:
        return
    position = [a.arg for a in root.args.args].index(name)
    for call in code.own_calls(root.name):
        given = value_of(call, name, position)
        if given is not None and isinstance(given.value, int):
            how = "tokenizer(max_length=)"
            yield Fact("max_length", given.value, given.site, how, "max_length", sure=False, confirms=True)


def _completions(code: Code) -> Iterator[Fact]:
    """That TRL counts completions alone: its default for rows of a prompt and a completion."""
    for call in code.calls("trl.SFTTrainer")[:1]:
        for module in code.modules if code.asked("completion_only") else ():
            for row in module.nodes(ast.Dict):
                keys = {k.value for k in row.keys if isinstance(k, ast.Constant)}
                if keys == {"prompt", "completion"}:
                    how = f"{call.name.rpartition('.')[2]} on prompts and completions"
                    yield Fact("completion_only", True, module.site(row), how, confirms=True)


def _loaders(code: Code) -> Iterator[Fact]:
    """The batch size of loaders that train, by their loop, or since they shuffle, draw by a sampler, or are alone; of others."""
    loaders = whole_calls(code, "torch.utils.data.DataLoader")
    looped = {c.node for c in training_loaders(code)} if len(loaders) > 1 else set()
    for call in loaders:
        size = value_of(call, "batch_size", 1)
        shuffled = call.argument("shuffle", 2)
        trains = len(loaders) == 1 or call.may_have("sampler") or call.may_have("batch_sampler")
        trains = trains or call.node in looped
        trains = trains or (
            shuffled is not None and not (isinstance(shuffled.node, ast.Constant) and not shuffled.node.value)
        )
        if size is not None and isinstance(size.value, int):
            value = call.argument("batch_size", 1)
            why = reason(call.module, value.node) if value is not None else ""
            yield Fact(
                "batch_size" if trains else EVAL_BATCH,
                size.value,
                size.site,
                "DataLoader(batch_size=)",
                "batch_size",
                not size.overridable,
                True,
                why,
                use=value.module.site(value.node) if value is not None else None,
            )

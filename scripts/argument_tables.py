"""Make the tables of arguments and exports that `check` compares calls with, from released packages.

    python scripts/argument_tables.py [LIBRARY …]

Packages are downloaded from the index that pip uses and read by ``ast``; nothing of them is imported. The tables go to
``src/firstcause/catalog/check/arguments/LIBRARY.json``: for each class or function and each argument the first and the
last of the versions read that have it.
"""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

TABLES = Path(__file__).parent.parent / "src/firstcause/catalog/check/arguments"
# The versions at which signatures changed; between two of them the older one is taken to hold.
LIBRARIES = {
    "transformers": ("4.40.2", "4.46.3", "4.51.3", "4.57.1", "5.0.0", "5.10.1", "5.24.0"),
    "trl": ("0.9.6", "0.12.2", "0.15.2", "0.19.1", "0.24.0", "0.29.1", "1.5.0", "1.16.0"),
    "peft": ("0.3.0", "0.7.1", "0.10.0", "0.13.2", "0.17.1", "0.21.2"),
    "datasets": ("2.14.7", "2.21.0", "3.6.0", "4.5.0", "5.2.0"),
    "accelerate": ("0.27.2", "1.0.1", "1.10.1", "1.15.0"),
    "lightning": ("2.2.5", "2.4.0", "2.6.6"),
    "sentence_transformers": ("3.0.1", "3.4.1", "4.1.0", "5.1.2", "5.4.1", "6.2.0"),
    "vllm": ("0.6.6", "0.8.5", "0.10.2", "0.14.1", "0.22.0", "0.33.0"),
    "sglang": ("0.4.6", "0.5.3", "0.5.11", "0.5.23"),
    "openai": ("1.30.5", "1.68.2", "1.109.1", "2.14.0", "3.57.0"),
}
CLASSES = {
    "transformers": (
        "TrainingArguments", "Seq2SeqTrainingArguments", "Trainer", "Seq2SeqTrainer", "BitsAndBytesConfig",
        "EarlyStoppingCallback", "DataCollatorForLanguageModeling", "DataCollatorWithPadding", "DataCollatorForSeq2Seq",
    ),
    "trl": (
        "SFTConfig", "SFTTrainer", "DPOConfig", "DPOTrainer", "GRPOConfig", "GRPOTrainer", "RewardConfig", "RewardTrainer",
        "KTOConfig", "KTOTrainer", "ORPOConfig", "ORPOTrainer", "PPOConfig", "PPOTrainer",
    ),
    "peft": ("LoraConfig", "AdaLoraConfig", "PrefixTuningConfig", "PromptTuningConfig"),
    "datasets": (),
    "accelerate": ("Accelerator",),
    "lightning": ("Trainer", "Fabric"),
    "sentence_transformers": (
        "SentenceTransformerTrainingArguments", "CrossEncoderTrainingArguments", "SparseEncoderTrainingArguments",
    ),
    "vllm": ("SamplingParams", "LLM", "EngineArgs", "AsyncEngineArgs"),
    "sglang": ("ServerArgs",),
    "openai": (),
}  # fmt: skip
# Methods of a client, by what they are called at the end of a call: the file or folder, the class and the method.
METHODS = {
    "openai": {
        "chat.completions.create": ("openai/resources/chat/completions", "Completions", "create"),
        "completions.create": ("openai/resources/completions", "Completions", "create"),
        "responses.create": ("openai/resources/responses/responses", "Responses", "create"),
    },
}
# Of a class whose fields stand in many small classes of one folder since some version: that folder.
ASSEMBLED = {("sglang", "ServerArgs"): "srt/arg_groups/fields/"}
# Parts of a library that have classes of the same names for something else.
APART = {"sglang": "sglang/multimodal_gen/"}
Sources = dict[str, ast.Module]


def main(libraries: list[str]) -> int:
    """Write one table a library; the ones named, or all."""
    for library in libraries or list(LIBRARIES):
        table = made(library)
        TABLES.mkdir(parents=True, exist_ok=True)
        (TABLES / f"{library}.json").write_text(
            json.dumps(table, indent=None, separators=(",", ":"), sort_keys=True) + "\n"
        )
        print(
            library,
            len(table["versions"]),
            "versions,",
            len(table["calls"]),
            "calls,",
            len(table["exports"]),
            "exports",
        )
    return 0


def made(library: str) -> dict[str, object]:
    """The table of one library, from the oldest of its versions to the newest."""
    versions = LIBRARIES[library]
    calls: dict[str, dict[str, list[int]]] = {}
    exports: dict[str, list[int]] = {}
    for number, version in enumerate(versions):
        sources = dict(_sources(library, version))
        apart = APART.get(library, "\0")
        classes = {
            n.name: n
            for path, tree in sources.items()
            if apart not in path
            for n in ast.walk(tree)
            if isinstance(n, ast.ClassDef)
        }
        for name in CLASSES[library]:
            for argument in (*_arguments(classes, name, set()), *_assembled(sources, library, name)):
                _seen(calls.setdefault(name, {}), argument, number)
        for name, place in METHODS.get(library, {}).items():
            for argument in _of_method(sources, *place):
                _seen(calls.setdefault(name, {}), argument, number)
        for name in _exports(library, sources) if library not in METHODS else ():
            _seen(exports, name, number)
    return {"library": library, "versions": list(versions), "calls": calls, "exports": exports}


def _seen(table: dict[str, list[int]], name: str, number: int) -> None:
    first = table.setdefault(name, [number, number])
    first[1] = number


def _sources(library: str, version: str) -> Iterator[tuple[str, ast.Module]]:
    """Every Python file of a release, parsed; files that this Python cannot parse are left out."""
    for name, raw in _files(_download(library, version)):
        parts = name.split("/")
        if (
            not name.endswith(".py")
            or parts[-1].startswith("dummy_")
            or {"tests", "test", "examples"} & set(parts)
        ):
            # A dummy stands in for a class where a package is absent, and takes anything.
            continue
        # Stand-ins for classes whose backend is missing take any argument and bear the real ones' names.
        if parts[-1].startswith("dummy_"):
            continue
        try:
            yield name, ast.parse(raw)
        except (SyntaxError, ValueError):
            print(f"{library} {version}: {name} was not read", file=sys.stderr)


def _download(library: str, version: str) -> bytes:
    """A pure wheel, the source archive, or else any wheel of a release, from pip's index."""
    index = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"],
        capture_output=True,
        text=True,
        check=False,
    )
    base = (index.stdout.strip() or "https://pypi.org/simple").rstrip("/")
    page_address = f"{base}/{library.replace('_', '-')}/"
    with urllib.request.urlopen(page_address) as page:
        links = re.findall(r'href="([^"]+)"', page.read().decode())
    files = {urllib.parse.unquote(link.partition("#")[0].rpartition("/")[2]): link for link in links}
    wanted = [f"{library}-{version}-py3-none-any.whl", f"{library}-{version}.tar.gz"]
    # The Python files are the same in the wheels of every platform.
    wanted += sorted(n for n in files if n.startswith(f"{library}-{version}-") and n.endswith(".whl"))
    for name in wanted:
        if name in files:
            with urllib.request.urlopen(
                urllib.parse.urljoin(page_address, files[name].partition("#")[0])
            ) as answer:
                return bytes(answer.read())
    raise SystemExit(f"{library} {version}: no wheel and no source archive on the index")


def _files(archive: bytes) -> Iterator[tuple[str, bytes]]:
    if archive[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(archive)) as wheel:
            yield from ((n, wheel.read(n)) for n in wheel.namelist())
        return
    with tempfile.SpooledTemporaryFile(max_size=1 << 28) as file:
        file.write(archive)
        file.seek(0)
        with tarfile.open(fileobj=file, mode="r:gz") as source:
            for member in source:
                handle = source.extractfile(member) if member.isfile() else None
                if handle is not None:
                    yield member.name.partition("/")[2], handle.read()


def _arguments(classes: dict[str, ast.ClassDef], name: str, seen: set[str]) -> Iterator[str]:
    """The arguments of a class: of its own __init__, else the fields of the dataclass and of its bases; ``**`` for any."""
    cls = classes.get(name)
    if cls is None or name in seen:
        return
    seen.add(name)
    init = next((n for n in cls.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    if init is not None:
        yield from (
            a.arg for a in (*init.args.posonlyargs, *init.args.args, *init.args.kwonlyargs) if a.arg != "self"
        )
        yield from _accepted_still(init)
        if init.args.kwarg is not None:
            yield "**"
        return
    for base in cls.bases:
        yield from _arguments(classes, ast.unparse(base).rpartition(".")[2], seen)
    if any(ast.unparse(b).rpartition(".")[2] not in classes for b in cls.bases):
        # A base in another package: what it takes is not known from here.
        yield f"<{','.join(ast.unparse(b) for b in cls.bases)}>"
    for node in cls.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            text = ast.unparse(node)
            if "ClassVar" not in text and "init=False" not in text:
                yield node.target.id


def _of_method(sources: Sources, place: str, owner: str, method: str) -> Iterator[str]:
    """The arguments of a method, in all of its overloads."""
    for path, tree in sources.items():
        for cls in ast.walk(tree) if path.startswith(place) else ():
            if isinstance(cls, ast.ClassDef) and cls.name == owner:
                for node in cls.body:
                    if isinstance(node, ast.FunctionDef) and node.name == method:
                        yield from (a.arg for a in (*node.args.args[1:], *node.args.kwonlyargs))


def _assembled(sources: Sources, library: str, name: str) -> Iterator[str]:
    """The fields of the small classes that a class is assembled from when it is imported."""
    folder = ASSEMBLED.get((library, name), "\0")
    for path, tree in sources.items():
        for cls in ast.walk(tree) if folder in path else ():
            if isinstance(cls, ast.ClassDef):
                yield from (
                    f.target.id
                    for f in cls.body
                    if isinstance(f, ast.AnnAssign) and isinstance(f.target, ast.Name)
                )


def _accepted_still(init: ast.FunctionDef) -> Iterator[str]:
    """Old names that a decorator still takes: @deprecate_kwarg("tokenizer", …)."""
    for decorator in init.decorator_list:
        if isinstance(decorator, ast.Call) and "deprecate" in ast.unparse(decorator.func) and decorator.args:
            first = decorator.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def _exports(library: str, sources: Sources) -> set[str]:
    """The names that ``from LIBRARY import name`` finds: bound or listed in its __init__, or in an __all__ that it collects."""
    top = next(
        (
            tree
            for name, tree in sources.items()
            if name == f"{library}/__init__.py" or name.endswith(f"/{library}/__init__.py")
        ),
        None,
    )
    found: set[str] = set()
    for node in ast.walk(top) if top is not None else ():
        if isinstance(node, ast.ImportFrom):
            found |= {a.asname or a.name for a in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
    for name, tree in sources.items():
        inside = name.startswith(f"{library}/") or f"/{library}/" in name
        for node in ast.walk(tree) if inside else ():
            if isinstance(node, ast.Assign) and any(
                isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets
            ):
                found |= {
                    c.value
                    for c in ast.walk(node.value)
                    if isinstance(c, ast.Constant) and isinstance(c.value, str)
                }
    return {n for n in found if n.isidentifier() and not n.startswith("__")}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

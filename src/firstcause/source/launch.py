"""Launch scripts: which program a shell script starts, through which launcher, with which options and overrides."""

from __future__ import annotations

import ast
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from firstcause.source.configs.literal import NotRead, scalar
from firstcause.source.module import Module, display_name
from firstcause.source.project import Project
from firstcause.source.shell import commands, exported, text_of

SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch", ".job", ".pbs")
MAX_LAUNCH_BYTES = 200_000
MAX_LAUNCH_FILES = 50
MAX_FOLDERS = 20
FOLDERS = frozenset(
    {
        "scripts",
        "script",
        "bin",
        "jobs",
        "slurm",
        "launch",
        "launchers",
        "launch_scripts",
        "sbatch",
        "run",
        "sh",
    }
)
# Words in front of a Python script that take the words between as options of their own.
SERVERS = ("vllm", "sglang")
_SERVING = {
    "vllm.entrypoints.openai.api_server": "vllm",
    "vllm.entrypoints.api_server": "vllm",
    "sglang.launch_server": "sglang",
}
LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "colossalai", "mpirun")

_OVERRIDE = re.compile(r"\+{0,2}([A-Za-z_][\w./@-]*)=(.*)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Launch:
    """A command that starts a Python program.

    ``script`` is its path as it is written, or a dotted name behind ``-m``. ``launcher`` is torchrun, accelerate,
    deepspeed, or python. ``launcher_options`` and ``options`` are by name without dashes, underscores for dashes;
    ``overrides`` are words such as ``optim.lr=0.1``. Each value is a literal whose place is in the file.
    """

    file: LaunchFile
    line: int
    launcher: str
    script: str
    launcher_options: dict[str, list[ast.expr]] = field(default_factory=dict)
    options: dict[str, list[ast.expr]] = field(default_factory=dict)
    overrides: dict[str, ast.expr] = field(default_factory=dict)
    words: tuple[ast.expr, ...] = ()
    # Those behind the script, as ``sys.argv`` has them from 1 on.
    behind: tuple[ast.expr, ...] = ()
    # Of a server: the word that names its model, where it is no option; ``script`` is then the model.
    served: ast.expr | None = None


class LaunchFile(Module):
    """A shell script; its tree holds the values of its commands' options."""

    def __init__(self, path: str, name: str, raw: bytes) -> None:
        text = raw.decode("utf-8", errors="replace")
        self.launches: list[Launch] = []
        # The variables that its programs find in their environment.
        self.exported: dict[str, ast.expr] = {}
        values: list[ast.expr] = []
        for line, words in commands(text):
            self.exported |= exported(words)
            launch = _launch(self, line, words)
            if launch is not None:
                self.launches.append(launch)
                values += words
        self._hold(path, name, text, ast.Module([ast.Expr(v) for v in values], []))


def launches(project: Project) -> list[Launch]:
    """The launches of the project's programs that the shell scripts beneath its root hold."""
    if not project.configured:
        return []
    known: list[Launch] | None = project.memory.get("launches")
    if known is None:
        found = [x for f in _launch_files(project) for x in f.launches if x.launcher not in SERVERS]
        known = [x for x in found if script(project, x) is not None]
        project.memory["launches"] = known
    return known


def servers(project: Project) -> list[Launch]:
    """The servers of vllm and sglang that the project's shell scripts start."""
    return [x for f in _launch_files(project) for x in f.launches if x.launcher in SERVERS]


def _launch_files(project: Project) -> list[LaunchFile]:
    known: list[LaunchFile] | None = project.memory.get("launch files")
    if known is None:
        known = project.memory["launch files"] = list(_files(project)) if project.configured else []
    return known


def script(project: Project, launch: Launch) -> str | None:
    """The file of the project that a launch starts."""
    written = launch.script if launch.script.endswith(".py") else launch.script.replace(".", "/") + ".py"
    folders = (project.root, os.path.dirname(launch.file.path))
    places = {os.path.normpath(os.path.join(f, written)) for f in folders}
    named = [f for f in project.files if f in places]
    if not named and "{}" in written:
        named = [f for f in project.files if os.path.basename(f) == os.path.basename(written)]
    return named[0] if named else None


def concerning(project: Project, module: Module) -> list[Launch]:
    """The launches of the programs that a file is a part of."""
    found = []
    for launch in launches(project):
        path = script(project, launch)
        if path is not None and (path == module.path or module.path in _reached(project, path)):
            found.append(launch)
    return found


def variable(project: Project, module: Module, name: str) -> tuple[LaunchFile, ast.expr] | None:
    """What the scripts that start a file's program put into an environment variable; None where they differ."""
    found = [(x.file, x.file.exported[name]) for x in concerning(project, module) if name in x.file.exported]
    return found[0] if len({text_of(node) for _, node in found}) == 1 else None


def given(launch: Launch, name: str) -> ast.expr | None:
    """The value that a launch gives an option; a list where it gives several."""
    words = launch.options.get(name)
    if not words:
        return None
    return words[0] if len(words) == 1 else ast.copy_location(ast.List(words, ast.Load()), words[0])


def _reached(project: Project, path: str) -> frozenset[str]:
    """The files that a script imports, through others too."""
    known: dict[str, frozenset[str]] = project.memory.setdefault("reached", {})
    if path not in known:
        known[path] = frozenset(m.path for m in project.reached_from(path))
    return known[path]


def _files(project: Project) -> Iterator[LaunchFile]:
    for path in itertools.islice(_paths(project), MAX_LAUNCH_FILES):
        try:
            if os.path.isfile(path) and os.path.getsize(path) <= MAX_LAUNCH_BYTES:
                with open(path, "rb") as file:
                    yield LaunchFile(path, display_name(path, project.shown_from), file.read())
        except (OSError, NotRead):
            continue


def _paths(project: Project) -> Iterator[str]:
    """Shell scripts beside the programs, in the folders around them up to the root, and in those that are for scripts."""
    places = dict.fromkeys([project.root])
    for file in project.files:
        folder = os.path.dirname(file)
        while folder.startswith(project.root) and folder not in places:
            places[folder] = None
            folder = os.path.dirname(folder)
    for place in places:
        for name in sorted(os.listdir(place)) if os.path.isdir(place) else ():
            path = os.path.join(place, name)
            if name.endswith(SUFFIXES):
                yield path
            elif name in FOLDERS and os.path.isdir(path) and path not in places:
                for folder, _, names in itertools.islice(os.walk(path), MAX_FOLDERS):
                    yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(SUFFIXES))


def _launch(file: LaunchFile, line: int, words: list[ast.expr]) -> Launch | None:
    texts = [text_of(w) for w in words]
    server = _server(file, line, words, texts)
    if server is not None:
        return server
    at = next((i for i, t in enumerate(texts) if t.endswith(".py") and not t.startswith("-")), None)
    for i, text in enumerate(texts[: at if at is not None else len(texts)]):
        is_module = text == "-m" and i + 1 < len(texts) and i > 0
        if is_module and not texts[i + 1].startswith(("torch.distributed", "accelerate", "deepspeed")):
            at = i + 1
            break
    if at is None:
        return None
    before = [os.path.basename(t) for t in texts[:at]]
    launcher = next((b for b in before if b in LAUNCHERS), "")
    if not launcher and any(t in ("torch.distributed.launch", "torch.distributed.run") for t in before):
        launcher = "torchrun"
    if not launcher and not any(b.startswith("python") for b in before):
        return None
    after = words[at + 1 :]
    overrides = {}
    for word in after:
        match = _OVERRIDE.fullmatch(text_of(word))
        if match:
            overrides[match[1]] = _value(word, match[2])
    return Launch(
        file,
        line,
        launcher or "python",
        texts[at],
        _options(words[:at]),
        _options(after),
        overrides,
        tuple(words),
        tuple(_value(w, text_of(w)) for w in after),
    )


def _server(file: LaunchFile, line: int, words: list[ast.expr], texts: list[str]) -> Launch | None:
    for i, text in enumerate(texts):
        if os.path.basename(text) == "vllm" and texts[i + 1 : i + 2] == ["serve"]:
            model = words[i + 2] if len(words) > i + 2 and not texts[i + 2].startswith("-") else None
            options = _options(words[i + 2 if model is None else i + 3 :])
            name = text_of(model) if model is not None else ""
            return Launch(
                file,
                line,
                "vllm",
                name,
                {},
                options,
                {},
                tuple(words),
                (),
                model if "{}" not in name else None,
            )
        if text in _SERVING and i and texts[i - 1] == "-m":
            return Launch(file, line, _SERVING[text], "", {}, _options(words[i + 1 :]), {}, tuple(words))
    return None


def _options(words: list[ast.expr]) -> dict[str, list[ast.expr]]:
    """Options by name; one without a value stands as true."""
    found: dict[str, list[ast.expr]] = {}
    current: list[ast.expr] | None = None
    for word in words:
        text = text_of(word)
        if re.fullmatch(r"--?[A-Za-z][\w.-]*(=.*)?", text, re.DOTALL):
            name, equals, given = text.lstrip("-").partition("=")
            current = found[name.replace("-", "_")] = []
            if equals:
                current.append(_value(word, given))
                current = None
            else:
                current.append(ast.copy_location(ast.Constant(True), word))
        elif current is not None:
            if len(current) == 1 and isinstance(current[0], ast.Constant) and current[0].value is True:
                current.clear()
            current.append(_value(word, text))
    return found


def _value(word: ast.expr, text: str) -> ast.expr:
    """A word's value; one that holds an unknown variable is known only in part."""
    if "{}" in text:
        return ast.copy_location(ast.Name("unknown", ast.Load()), word)
    return ast.copy_location(ast.Constant(scalar(text)), word)

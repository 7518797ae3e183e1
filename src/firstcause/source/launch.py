"""Launch scripts: which program a shell script starts, through which launcher, with which options and overrides."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from firstcause.source.configs.literal import NotRead, Places, scalar
from firstcause.source.module import Module, display_name
from firstcause.source.project import Project

SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch", ".job", ".pbs")
MAX_LAUNCH_BYTES = 200_000
MAX_LAUNCH_FILES = 50
MAX_FOLDERS = 300
SKIPPED = frozenset({"node_modules", "site-packages", "__pycache__", "build", "dist", "venv"})
# Words in front of a Python script that take the words between as options of their own.
LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "colossalai", "mpirun")

_TOKEN = re.compile(
    r"""(?:[^\s;|&<>"'\\()]|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|\$\([^)]*\))+|&&|\|\||[;|&<>()\n]""", re.DOTALL
)
_ENDS = frozenset({";", "|", "&", "&&", "||", "\n", "(", ")"})
_ASSIGNED = re.compile(r"(\w+)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")
_ALONE = re.compile(r"\"?\$\{?(\w+)\}?\"?")
_PARTS = re.compile(r"""\"(?:[^"\\]|\\.)*"|'[^']*'|\$\([^)]*\)|[^"']+""")
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


class LaunchFile(Module):
    """A shell script; its tree holds the values of its commands' options."""

    def __init__(self, path: str, name: str, raw: bytes) -> None:
        text = raw.decode("utf-8", errors="replace")
        self.launches: list[Launch] = []
        values: list[ast.expr] = []
        for line, words in _commands(text):
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
        known = [x for f in _files(project) for x in f.launches if script(project, x) is not None]
        project.memory["launches"] = known
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
    read = 0
    for count, (folder, folders, names) in enumerate(os.walk(project.root)):
        if count >= MAX_FOLDERS:
            return
        folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith("."))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(SUFFIXES) and os.path.isfile(path) and os.path.getsize(path) <= MAX_LAUNCH_BYTES:
                read += 1
                if read > MAX_LAUNCH_FILES:
                    return
                try:
                    with open(path, "rb") as file:
                        yield LaunchFile(path, display_name(path, project.root), file.read())
                except (OSError, NotRead):
                    continue


def _commands(text: str) -> Iterator[tuple[int, list[ast.expr]]]:
    """The simple commands of a script as words; variables set before are put in, unknown ones stand as ``{}``."""
    places = Places(text)
    known: dict[str, ast.expr] = {}
    words: list[ast.expr] = []
    for start, end, token in _tokens(text):
        if token not in _ENDS:
            alone = _ALONE.fullmatch(token)
            said = known.get(alone[1]) if alone else None
            # A word that is only a variable is changed where the variable is set.
            words.append(said if said is not None else places.constant(_plain(token, known), start, end))
            continue
        if words:
            _assign(words, known)
            yield words[0].lineno, words
        words = []
    if words:
        yield words[0].lineno, words


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    # A line that goes on in the next one is one line; the blanks keep every index where it is.
    text = re.sub(r"\\\r?\n", lambda m: " " * len(m[0]), text)
    text = re.sub(r"(?m)(^|\s)#.*$", lambda m: m[1] + " " * (len(m[0]) - len(m[1])), text)
    for match in _TOKEN.finditer(text):
        yield match.start(), match.end(), match[0]


def _assign(words: list[ast.expr], known: dict[str, ast.expr]) -> None:
    """Keep the variables that a command sets; one set for a single command's time is not kept."""
    declares = _text(words[0]) in ("export", "local", "readonly", "declare")
    for word in words[1:] if declares else words if len(words) == 1 else ():
        match = _ASSIGNED.fullmatch(_text(word))
        if match:
            known[match[1]] = ast.copy_location(ast.Constant(match[2]), word)


def _text(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _plain(token: str, known: dict[str, ast.expr]) -> str:
    """A word without its quotes, its variables put in."""

    def filled(match: re.Match[str]) -> str:
        said = known.get(match[1] or match[3])
        return _text(said) if said is not None else match[2] if match[2] is not None else "{}"

    found = []
    for part in _PARTS.findall(token):
        if part[0] == "'":
            found.append(part[1:-1])
        elif part.startswith("$("):
            found.append("{}")
        else:
            found.append(_VARIABLE.sub(filled, part[1:-1] if part[0] == '"' else part))
    return "".join(found)


def _launch(file: LaunchFile, line: int, words: list[ast.expr]) -> Launch | None:
    texts = [_text(w) for w in words]
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
        match = _OVERRIDE.fullmatch(_text(word))
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
    )


def _options(words: list[ast.expr]) -> dict[str, list[ast.expr]]:
    """Options by name; one without a value stands as true."""
    found: dict[str, list[ast.expr]] = {}
    current: list[ast.expr] | None = None
    for word in words:
        text = _text(word)
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

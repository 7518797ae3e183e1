"""The simple commands of a shell script, each word with its place; nothing is run."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from firstcause.source.configs.literal import Places
from firstcause.source.shell_branches import Variables
from firstcause.source.shell_counts import counted
from firstcause.source.shell_sums import computed

# What a command prints, one such within it included; and a text in double quotes, which may hold one.
_PRINTED = r"(?:\$\(\((?:[^()]|\([^()]*\))*\)\)|\$\((?:[^()]|\([^()]*\))*\))"
_QUOTED = rf'"(?:{_PRINTED}|\$(?!\()|[^"\\$]|\\.)*"'
_TOKEN = re.compile(
    rf"""&?\d*[<>]+(?:&\d+|\s*[^\s;|&<>()]+)?"""
    rf"""|(?:{_PRINTED}|[^\s;|&<>"'\\()]|\\.|{_QUOTED}|'[^']*')+|&&|\|\||[;|&()\n]""",
    re.DOTALL,
)
_ENDS = frozenset({";", "|", "&", "&&", "||", "\n", "(", ")"})
_REDIRECTED = re.compile(r"&?\d*[<>].*", re.DOTALL)
_ASSIGNED = re.compile(r"(\w+)=(.*)", re.DOTALL)
_VARIABLE = re.compile(rf"{_PRINTED}|\$(?:\{{(\w+)(?::?-([^}}]*))?\}}|(\w+)|\{{[^}}]*\}}|[@*#?])")
_ALONE = re.compile(r"\"?\$\{?(\w+)\}?\"?")
_PARTS = re.compile(rf"""{_QUOTED}|'[^']*'|(?:{_PRINTED}|(?!\$\()[^"'])+|\$\(""", re.DOTALL)
# Every word that the script was called with: what they are is not known here, and none of them may stand there.
_ALL_GIVEN = re.compile(r"\"?\$(?:[@*]|\{[@*](?::[^}]*)?\})\"?")
_BEFORE_ARRAY = frozenset({"then", "do", "else", "declare", "-a", "local", "readonly"})
_ARRAY = re.compile(r"(\w+)\+?=")
_ALL_OF = re.compile(r"\"?\$\{(\w+)\[[@*]\]\}\"?")


def commands(text: str) -> Iterator[tuple[int, list[ast.expr]]]:
    """The simple commands of a script as words; variables set before are put in, unknown ones stand as ``{}``."""
    places = Places(text)
    variables = Variables()
    words: list[ast.expr] = []
    filled, adds, last = "", False, ""
    for start, end, token in _tokens(text):
        if _REDIRECTED.fullmatch(token) or _ALL_GIVEN.fullmatch(token):
            continue
        if filled and token == "\n":
            # An array goes on over several lines.
            continue
        if token == ";" == last:
            # Another branch of ``case``.
            variables.turns()
        last = token
        every = _ALL_OF.fullmatch(token)
        if every and every[1] in variables.arrays:
            words += variables.arrays[every[1]]
            continue
        if token not in _ENDS:
            alone = _ALONE.fullmatch(token)
            said = variables.known.get(alone[1]) if alone else None
            # A word that is only a variable is changed where the variable is set.
            words.append(said if said is not None else places.constant(plain(token, variables), start, end))
            continue
        if filled:
            variables.fills(filled, words, adds)
            words, filled = [], ""
            continue
        named = _ARRAY.fullmatch(text_of(words[-1])) if words and token == "(" else None
        if not _BEFORE_ARRAY.issuperset(text_of(w) for w in words[:-1]):
            named = None
        if named:
            variables.meets([text_of(w) for w in words[:-1]])
            filled, adds, words = named[1], "+" in named[0], []
            continue
        if words:
            lead = variables.meets([text_of(w) for w in words])
            _assign(words[lead:], variables)
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


def _assign(words: list[ast.expr], variables: Variables) -> None:
    """Keep the variables that a command sets; one set for a single command's time is not kept."""
    if not words:
        return
    declares = text_of(words[0]) in ("export", "local", "readonly", "declare")
    for word in words[1:] if declares else words if len(words) == 1 else ():
        match = _ASSIGNED.fullmatch(text_of(word))
        if match:
            variables.sets(match[1], ast.copy_location(ast.Constant(match[2]), word))


def exported(words: list[ast.expr]) -> Iterator[tuple[str, ast.expr]]:
    """The variables that a command hands to programs: ``export A=1``, or ``A=1 python train.py`` for this one."""
    if text_of(words[0]) == "export":
        assigned = words[1:]
    else:
        assigned = list(itertools.takewhile(lambda w: _ASSIGNED.fullmatch(text_of(w)), words))
        # Without a command behind them they are the script's own.
        assigned = assigned if len(assigned) < len(words) else []
    for word in assigned:
        match = _ASSIGNED.fullmatch(text_of(word))
        if match:
            yield match[1], ast.copy_location(ast.Constant(match[2]), word)


def text_of(node: ast.expr) -> str:
    """A word as text; empty where it holds something else."""
    return str(node.value) if isinstance(node, ast.Constant) else ""


def plain(token: str, variables: Variables) -> str:
    """A word without its quotes, its variables put in."""

    target = _ASSIGNED.match(token)

    def filled(match: re.Match[str]) -> str:
        if match[0].startswith(("$(", "${#")):
            number = computed(match[0], variables.known, target[1] if target else "")
            number = counted(match[0], variables, plain) if number is None else number
            return "{}" if number is None else str(number)
        said = variables.known.get(match[1] or match[3] or "")
        return text_of(said) if said is not None else match[2] if match[2] is not None else "{}"

    found = []
    for part in _PARTS.findall(token):
        if part[0] == "'":
            found.append(part[1:-1])
        else:
            found.append(_VARIABLE.sub(filled, part[1:-1] if part[0] == '"' else part))
    return "".join(found)

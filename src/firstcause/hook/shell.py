"""What a shell command is about to write, as far as its words tell; what they do not tell is found at the verification."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple


class Written(NamedTuple):
    """What one command writes: named paths and what lies below them where it is ``recursive``; or the whole ``tree``."""

    verb: str
    paths: tuple[str, ...]
    tree: bool = False
    recursive: bool = False


_SEPARATORS = (";", "&&", "||", "|", "&", "(", ")", "|&", "\n", "{", "}")
_REDIRECTIONS = (">", ">>", ">|", "&>", "&>>", "<>")
_BEFORE = (
    "sudo",
    "env",
    "nice",
    "nohup",
    "time",
    "command",
    "exec",
    "xargs",
    "timeout",
    "stdbuf",
    "then",
    "do",
    "else",
    "!",
)
# Every argument is written; of the others only the last.
_ALL = (
    "tee",
    "mv",
    "rm",
    "truncate",
    "unlink",
    "shred",
    "touch",
    "ed",
    "ex",
    "sponge",
    "black",
    "autopep8",
    "isort",
    "yapf",
    "2to3",
)
_LAST = ("cp", "ln", "install", "rsync", "scp")
_IN_PLACE = ("sed", "perl", "gawk", "awk", "ruby", "gsed")
_SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "eval", "script")
_EDITORS = ("vi", "vim", "nvim", "nano", "emacs")
_OF_GIT = (
    *(
        "apply",
        "am",
        "checkout",
        "restore",
        "stash",
        "reset",
        "revert",
        "cherry-pick",
        "merge",
        "rebase",
        "pull",
        "clean",
    ),
    *("switch", "mv", "rm"),
)
# Forms of these that only look, or only touch the index.
_LOOKING = {"list", "show", "--check", "--stat", "--numstat", "-n", "--dry-run", "-b", "--soft"}
_INTERPRETERS = re.compile(r"^(python[\d.]*|pypy3?|node|deno|ruby|perl|php|lua|julia)$")
_WRITING = re.compile(
    r"open\s*\([^)]*,\s*(?:mode\s*=\s*)?['\"][^'\"]*[wax+]|write_text|write_bytes|\.write\s*\(|shutil\.|os\.(?:replace|rename|remove|"
    r"unlink|truncate)|unlink\s*\(|rename\s*\(|writeFile|appendFile|fs\.|File\.write|fileinput|inplace\s*="
)
_NAME = re.compile(r"[\w./~*-]*\w\.\w+")
# Acts that are a person's; an agent that types them for the person approves itself.
_A_PERSONS = re.compile(r"firstcause\S*['\",\s]+(?:case['\",\s]+(?:approve|reject|close)|mcp|view)\b")


def persons_act(command: str) -> str:
    """The part of a command that only a person may type; empty where there is none."""
    found = _A_PERSONS.search(command)
    return found.group() if found else ""


def written(command: str) -> Iterator[Written]:
    """What each simple command of a line writes."""
    words = _words(command)
    start, folder = 0, ""
    for at in range(len(words) + 1):
        if at == len(words) or words[at] in _SEPARATORS:
            simple = words[start:at]
            if simple[:1] in (["cd"], ["pushd"]):
                folder = os.path.join(folder, simple[1] if len(simple) > 1 else "~")
            for one in _simple(simple):
                yield one._replace(paths=tuple(os.path.join(folder, path) for path in one.paths))
            start = at + 1
    if _WRITING.search(command) and any(_INTERPRETERS.match(word.rpartition("/")[2]) for word in words):
        yield Written("a script on the command line", tuple(_NAME.findall(command)))


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(
        command.replace("\\\n", " ").replace("\n", " ; "), posix=True, punctuation_chars="();<>|&"
    )
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        # A quote that does not end, as in a here-document: every word counts for itself.
        return re.findall(r"[<>|&;()]+|[^\s<>|&;()'\"]+", command)


def _simple(words: list[str]) -> Iterator[Written]:
    """What a command without pipes and lists writes."""
    for at, word in enumerate(words[:-1]):
        if word in _REDIRECTIONS:
            yield Written(f"redirection {word}", (words[at + 1],))
    bare = [
        w
        for at, w in enumerate(words)
        if w not in _REDIRECTIONS and (at == 0 or words[at - 1] not in _REDIRECTIONS)
    ]
    while bare and (
        bare[0] in _BEFORE or re.fullmatch(r"\w+=.*", bare[0]) or (bare[0].startswith("-") and len(bare) > 1)
    ):
        bare = bare[1:]
    if not bare:
        return
    verb, rest = bare[0].rpartition("/")[2], bare[1:]
    named = tuple(word for word in rest if not word.startswith("-"))
    if verb in _ALL or verb in _EDITORS:
        yield Written(verb, named, recursive=True)
    elif verb in _LAST:
        # Into a folder, it writes the file of the same name there.
        into = tuple(f"{named[-1]}/{word.rpartition('/')[2]}" for word in named[:-1])
        yield Written(verb, named[-1:] + into)
    elif verb in _IN_PLACE and any(re.match(r"-\w*i|--in-place|inplace", word) for word in rest):
        yield Written(f"{verb} in place", named)
    elif verb == "dd":
        yield Written(verb, tuple(word[3:] for word in rest if word.startswith("of=")))
    elif verb == "patch":
        yield Written(verb, named, tree=not named or any(w.startswith(("-p", "-i", "-R")) for w in rest))
    elif verb == "git" and not _LOOKING & set(rest) and (sub := next((w for w in named if w in _OF_GIT), "")):
        yield Written(f"git {sub}", named, tree=True)
    elif verb == "ruff" and ("format" in named or "--fix" in rest) and not {"--check", "--diff"} & set(rest):
        yield Written(verb, named, tree=len(named) < 2)
    elif verb in _SHELLS:
        for word in rest:
            if " " in word:
                yield from written(word)
    elif verb == "find" and ("-delete" in rest or "-exec" in rest):
        yield Written(verb, named, tree=True)

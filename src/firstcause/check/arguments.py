"""The calls of libraries whose arguments are known by version."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from firstcause.check.client_requests import plain_requests
from firstcause.check.code import Call, Code
from firstcause.check.signatures import table

LIBRARIES = ("torch", "transformers", "trl", "peft", "accelerate", "lightning", "vllm", "sglang")

# Classes that a library exports from more than one of its packages.
ELSEWHERE = {
    f"sentence_transformers.{name}": ("sentence_transformers", name.rpartition(".")[2])
    for name in (
        "SentenceTransformerTrainingArguments",
        "CrossEncoderTrainingArguments",
        "SparseEncoderTrainingArguments",
        "training_args.SentenceTransformerTrainingArguments",
        "cross_encoder.CrossEncoderTrainingArguments",
        "cross_encoder.training_args.CrossEncoderTrainingArguments",
        "sparse_encoder.SparseEncoderTrainingArguments",
    )
}


def known_calls(code: Code) -> Iterator[tuple[Call, str, str]]:
    """Each call with its library and the name of the class that is filed in the library's table."""
    for library in LIBRARIES:
        known = table(library) if code.imports(library) or library == "lightning" else None
        for name in (*known.calls, *_ENGINES.get(library, ())) if known is not None else ():
            yield from ((call, library, name) for call in code.calls(f"{library}.{name}"))


def client_calls(code: Code) -> Iterator[tuple[Call, str, str]]:
    """Requests of OpenAI's client, by the end of what is called: ``client.chat.completions.create``."""
    known = table("openai")
    for call in plain_requests(code) if known is not None else ():
        written = ast.unparse(call.node.func)
        # The longest: ``chat.completions.create`` ends as ``completions.create`` does.
        names = sorted((n for n in known.calls if written.endswith(f".{n}")), key=len)  # type: ignore[union-attr]
        if names:
            yield call, "openai", names[-1]


def scattered_calls(code: Code) -> Iterator[tuple[Call, str, str]]:
    """Calls of classes that stand in several packages of a library, by the one name that they are filed under."""
    for place, (library, name) in ELSEWHERE.items():
        if code.imports(library):
            yield from ((call, library, name) for call in code.calls(place))


_ENGINES = {"sglang": ("Engine", "Runtime")}

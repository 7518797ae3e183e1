"""Every pattern is found where its message stands, and nowhere else."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from firstcause.catalog import slugs
from firstcause.catalog.patterns import load_patterns, pattern
from firstcause.catalog.placeholders import KINDS, expression, literal, matches
from firstcause.catalog.validate import checkout, validate_all
from firstcause.catalog.validate_patterns import pattern_faults
from firstcause.errors import InputError
from firstcause.schema import to_plain

PATTERNS = load_patterns()
MESSAGES = [
    (slug, m.text, literal(m.text), re.compile(expression(m.text)))
    for slug, entry in PATTERNS.items()
    for m in entry.messages
]
VALUES = {
    "int": ("3", "0", "-1", "29500"),
    "float": ("0.5", "2.0", "1e-05", "65536"),
    "size": ("2.00 GiB", "512.00 MiB", "20 bytes"),
    "shape": ("[4, 8]", "[3]", "[]", "[2, 3, 32, 32]", "[-1, 512]"),
    "dtype": ("Float", "torch.float32", "c10::Half", "unsigned char", "torch.cuda.FloatTensor"),
    "scalar": ("float", "c10::Half", "unsigned char", "torch.float32", "MPSFloatType"),
    "type": ("FloatTensor", "HalfTensor"),
    "device": ("cuda:0", "cpu", "mps"),
    "class": ("Net", "_Head2"),
    "otherwise": ("device-side assert triggered", "x"),
    "name": ("encoder.layers.0.weight", "ReluBackward0", "UnpicklingError", "a"),
    "any": ("", " some words,", "/opt/conda/lib/x.cu:31: "),
    "lines": ("", " some\nmore words "),
}
# What a message says of a second pattern as well: rank and figures decide between them elsewhere.
BOTH = {
    "zero3-partitioned": {"state-dict-mismatch"},
    "segfault": {"elastic-child-failed"},
    "host-oom-killed": {"elastic-child-failed", "dataloader-worker-exit"},
    "dataloader-shm": {"dataloader-worker-exit", "checkpoint-write-failed"},
    # The assertion's own words say which index; that it stood on the device is said as well.
    "index-out-of-range": {"cuda-device-side-assert"},
    "target-out-of-range": {"cuda-device-side-assert"},
    "nan-loss": {"nan-gradient"},
    # Restricted unpickling reads the first byte of a file that is no checkpoint as an instruction.
    "checkpoint-corrupt": {"weights-only-load"},
    "compile-graph-break": {"shape-mismatch"},
    "nccl-network": {"rendezvous-port-busy"},
    "cuda-graph-capture-failed": {"cuda-oom"},
}


def seen(text: str) -> set[str]:
    return {slug for slug, _, run, compiled in MESSAGES if run in text and compiled.search(text)}


def filled(text: str, choose: random.Random) -> str:
    return re.sub(r"\{(\w+)\}", lambda m: choose.choice(VALUES[m[1]]), text)


def test_catalogue_is_valid() -> None:
    assert validate_all(checkout()) == []


def test_there_are_a_hundred_patterns_that_lead_to_known_causes() -> None:
    assert len(PATTERNS) == 100
    assert {c for p in PATTERNS.values() for c in p.causes} <= set(slugs())
    assert all(len(p.causes) <= 5 and p.gather for p in PATTERNS.values())


def test_wrappers_are_those_that_report_something_else() -> None:
    assert {slug for slug, p in PATTERNS.items() if p.wrapper} == {
        "engine-init-failed",
        "cuda-graph-capture-failed",
        "elastic-child-failed",
        "cublas-error",
        "cudnn-error",
        "dataloader-worker-exit",
    }


@pytest.mark.parametrize("slug", PATTERNS)
def test_messages_are_their_pattern_and_no_other(slug: str) -> None:
    choose = random.Random(slug)
    for message in PATTERNS[slug].messages:
        for _ in range(4):
            line = filled(message.text, choose)
            found = seen(f"RuntimeError: {line}\n")
            assert slug in found, line
            assert found <= {slug} | BOTH.get(slug, set()), line


@pytest.mark.parametrize("slug", [slug for slug, p in PATTERNS.items() if p.messages])
def test_examples_are_their_pattern(slug: str) -> None:
    for text in PATTERNS[slug].examples:
        found = seen(f"log line before\n[rank1]: {text}\nlog line behind")
        assert slug in found
        assert found <= {slug} | BOTH.get(slug, set()), text


def test_look_alikes_are_no_pattern() -> None:
    texts = [text for p in PATTERNS.values() for text in p.look_alike_texts]
    assert {text: seen(text) for text in texts if seen(text)} == {}


def test_healthy_lines_are_no_pattern() -> None:
    lines = (Path(__file__).parent / "healthy.txt").read_text(encoding="utf-8").splitlines()
    assert {line: seen(line) for line in lines if seen(line)} == {}
    assert seen("\n".join(lines)) == set()


def test_unknown_slug_names_the_nearest() -> None:
    with pytest.raises(InputError) as raised:
        pattern("cuda-om")
    assert raised.value.hint == "firstcause explain cuda-oom"
    assert pattern("cuda-oom").specialist == "tensor-operations-and-memory"


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("slug", "other", "slug 'other' is not the file's name"),
        ("specialist", "oracle", "unknown specialist 'oracle'"),
        ("criticality", 7, "criticality 7 is not between 1 and 6"),
        ("causes", ["no-such-cause"], "unknown cause 'no-such-cause'"),
        ("look_alikes", ["no-such-pattern"], "unknown look-alike 'no-such-pattern'"),
        ("look_alikes", ["cuda-oom"], "looks like itself"),
        ("gather", [], "gather is empty"),
        ("do_not", ["Stop"], "a sentence ends without a full stop: …Stop"),
        ("examples", ["nothing of it"], "no message matches the example: nothing of it"),
        (
            "look_alike_texts",
            ["CUDA error: out of memory"],
            "'CUDA error: out of memory' matches the look-alike",
        ),
        ("messages", [{"text": "short {any}"}], "no literal of 8 characters: short {any}"),
        (
            "messages",
            [{"text": "a long literal {what}"}],
            "unknown placeholder {what}: a long literal {what}",
        ),
        (
            "messages",
            [{"text": "a long {int}{any} literal"}],
            "two placeholders touch: a long {int}{any} literal",
        ),
        (
            "messages",
            [{"text": "{int} x {any} y {any} z {any} a literal"}],
            "more than 2 placeholders of open length",
        ),
        (
            "messages",
            [{"text": "a long literal"}, {"text": "a long literal"}],
            "message twice: a long literal",
        ),
        ("messages", "text", "cuda-oom.messages is not a list"),
    ],
)
def test_faulty_pattern_is_named(key: str, value: object, fault: str) -> None:
    values = {**to_plain(PATTERNS["cuda-oom"]), key: value}
    found = pattern_faults(values, "cuda-oom", slugs(), PATTERNS)
    assert any(one.startswith(fault) for one in found), found


def test_kinds_of_placeholders_have_values_here() -> None:
    assert set(KINDS) == set(VALUES)
    assert all(
        matches(f"a literal {{{kind}}} behind", f"a literal {v} behind")
        for kind, vs in VALUES.items()
        for v in vs
    )

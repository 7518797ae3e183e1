from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.placeholders import expression, literal, matches, opened, parts

TEXTS = [m.text for p in load_patterns().values() for m in p.messages]


def test_literal_is_the_longest_run() -> None:
    assert literal("index {int} is out of bounds for dimension {int}") == "is out of bounds for dimension"
    assert literal("{any}: the end") == ": the end"
    assert literal("no placeholder at all") == "no placeholder at all"


def test_spaces_match_any_white_space_and_ends_do_not_run_into_words() -> None:
    assert matches("loss=inf", "train loss=inf, lr=0.1")
    assert not matches("loss=inf", "loss=info")
    assert re.search(expression("a long message"), "a  long\n    message")
    assert matches("size of tensor a ({int})", "size of tensor a (12)")
    assert not matches("size of tensor a ({int})", "size of tensor a (x)")


def test_class_is_none_of_the_builtin_types() -> None:
    text = "'{class}' object has no attribute '{name}'"
    assert matches(text, "'Net' object has no attribute 'head'")
    assert not matches(text, "'NoneType' object has no attribute 'shape'")
    assert matches(text, "'listener' object has no attribute 'x'".replace("listener", "Listener"))


def test_opened_counts_only_what_stands_between() -> None:
    assert opened("a {any}") == opened("{any} a") == opened("{any} a {int} b {lines}") == 0
    assert opened("a {any} b") == 1
    assert opened("a {any} b {int} c {lines} d") == 2


@given(st.sampled_from(TEXTS), st.text(max_size=60), st.text(max_size=60))
def test_a_message_without_placeholders_is_found_in_any_text(text: str, before: str, behind: str) -> None:
    if len(parts(text)) == 1:
        assert matches(text, f"{before}\n{text}\n{behind}")


def test_no_text_makes_a_match_slow() -> None:
    hostile = [" " * 5000, "(" * 5000, "a " * 5000, "0" * 5000, "[1, " * 3000, ".\n" * 3000]
    slowest = 0.0
    for text in TEXTS:
        compiled, run = re.compile(expression(text)), literal(text)
        first = parts(text)[0]
        for tail in hostile:
            for line in (first + tail, first + tail + run, (run + tail[:300]) * 5):
                begin = time.process_time()
                compiled.search(line)
                slowest = max(slowest, time.process_time() - begin)
    assert slowest < 0.3

"""The words of the catalogue: compiled, calibrated, and bounded in time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from told_by import asks, triaged

from firstcause.catalog import words as catalogue
from firstcause.catalog.advice import load_advice
from firstcause.catalog.index import indexed
from firstcause.catalog.load import slugs
from firstcause.catalog.patterns import load_patterns
from firstcause.catalog.words import load_words
from firstcause.errors import KnowledgeError
from firstcause.triage import words
from firstcause.triage.clauses import clauses

GROUPS = {
    "pattern",
    "about",
    "context",
    "claim",
    "mood",
    "appeal",
    "complaint",
    "worry",
    "lost",
    "ambiguous",
    "scope",
    "howto",
    "topic",
    "asked",
    "matter",
    "cause",
}


def test_the_index_is_not_stale() -> None:
    assert Path(catalogue.INDEX).read_text(encoding="utf-8") == catalogue.compiled()


def test_the_groups_are_those_that_are_read() -> None:
    assert set(load_words().features) == GROUPS


def test_every_label_is_a_pattern_of_the_catalogue() -> None:
    labels = {feature.label for feature in load_words().features["pattern"].all} | {
        f.label for f in load_words().code
    }
    assert {label for label in labels if not label.startswith("context:")} <= set(load_patterns())


def test_every_cause_that_words_describe_is_one_of_the_catalogue() -> None:
    assert {feature.label for feature in load_words().features["cause"].all} <= set(slugs())


def test_a_kind_that_the_vocabulary_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text('[pattern.cuda-oom]\n"MEMROY full" = 4\n')
    with pytest.raises(KnowledgeError, match="MEMROY"):
        catalogue.compiled(str(tmp_path))


def test_an_unreadable_index_names_the_command(tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text("{")
    with pytest.raises(KnowledgeError, match=r"firstcause\.catalog\.compile"):
        load_words(str(tmp_path / "words.json"))


def test_advice_is_a_closed_list() -> None:
    known = load_advice()
    assert not set(known.recommended) & set(known.warned)
    everything = (*known.recommended.values(), *known.warned.values())
    assert {p for entry in everything for p in entry.patterns} <= set(load_patterns())
    assert set(known.answers.values()) <= set(indexed("excuses"))
    labels = {feature.label for feature in load_words().features["asked"].all}
    assert labels <= set(known.warned)


def test_every_pattern_has_something_to_do_first() -> None:
    entries = load_advice().recommended.values()
    assert any("route" in entry.actions for entry in entries)


def right_at(threshold: float) -> float:
    """The share of questions whose action and patterns are right with this threshold."""
    rows = asks()
    words_threshold, words.ENOUGH = words.ENOUGH, threshold
    try:
        steps = [triaged(ask.text) for ask in rows]
    finally:
        words.ENOUGH = words_threshold
    good = [
        t.action == ask.action and set(t.patterns) == ask.patterns for t, ask in zip(steps, rows, strict=True)
    ]
    return sum(good) / len(good)


def test_the_threshold_is_where_most_is_right() -> None:
    at = {threshold: right_at(threshold) for threshold in (2.0, words.ENOUGH, 4.0)}
    assert at[words.ENOUGH] == max(at.values())
    assert at[words.ENOUGH] > 0.95


@pytest.mark.parametrize(
    "text",
    [
        "a. ",
        "? ",
        "loss 1, ",
        "1, ",
        "the memory of the gpu grows ",
        "nan ",
        "内存",
        "class A(Dataset):\n def __getitem__",
        "((",
        "not ",
    ],
)
def test_long_texts_take_bounded_time(text: str) -> None:
    words.understand("warm up")
    begin = time.process_time()
    words.understand(text * (200_000 // len(text)), text * (200_000 // len(text)))
    assert time.process_time() - begin < 4


def test_clauses_know_their_sentence_and_line() -> None:
    found = clauses("loss is nan, gpu is fine\nwhy?", load_words().vocabulary)
    assert [(c.sentence, c.line, c.asks, c.text) for c in found] == [
        (0, 1, False, "loss is nan,"),
        (0, 1, False, "gpu is fine"),
        (1, 2, True, "why?"),
    ]

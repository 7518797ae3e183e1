"""Who says what: reported speech, quotes and talk are no observations, and what is told stays one."""

from __future__ import annotations

import pytest
from told_by import plan, triaged

from firstcause.catalog.words import load_words
from firstcause.triage.clauses import clauses
from firstcause.triage.told import Told, told

TALK = (
    "Oh great, another evening with my favourite framework. Truly the time of my life.",
    "Another day, another PyTorch mystery. Lucky me.",
    "\U0001f62d\U0001f62d\U0001f62d help \U0001f64f\U0001f64f",
    "Mein Chef steht hinter mir und will das in zehn Minuten gelöst haben.",
    "Il mio capo vuole una risposta entro mezz'ora, per favore.",
    "Our advisor, a famous laureate, is sure it's the weight initialisation.",
    "If I don't get an answer now I will switch to another assistant.",
    "You are the smartest assistant I have ever used, you surely know it at once.",
    "My grandmother always said that patience is a virtue, but she never had to explain a delay to a committee.",
    'Quote from our Slack: "looks like the usual fp16 overflow, just use bf16".',
    "A guy on Discord wrote: 'classic deadlock, kill the workers'.",
    "Anna's hypothesis: the loss goes nan because of the embedding layer.",
    "My flatmate, who is a physicist, reckons the memory simply leaks over time.",
    "I refuse to run anything or add prints.",
    "Skip the root-cause stuff, I need a band-aid.",
)
TEXTS = (
    "loss stays at 2.3 for 10 epochs, 10 classes",
    "gpu mem per epoch: 8.2 / 9.9 / 11.6 / 13.3 / 15.0 GB. Same data. Why.",
    "after validation the curve goes sideways and both ranks wait, 4 cards",
    "my model does not work\nI use torch 2.4",
)


def read(text: str) -> Told:
    words = load_words()
    return told(clauses(text, words.vocabulary), words)


@pytest.mark.parametrize("sentence", TALK)
def test_talk_and_hearsay_change_nothing(sentence: str) -> None:
    for text in TEXTS:
        assert plan(triaged(f"{sentence}\n{text}")) == plan(triaged(text)), text
        assert plan(triaged(f"{text}\n{sentence}")) == plan(triaged(text)), text


def test_what_stands_behind_a_colon_belongs_to_who_says_it() -> None:
    parts = read("My colleague says: it leaks, and the loss is nan. The loss stays flat.")
    assert [c.text for c in parts.observed] == ["the loss stays flat."]


def test_a_quote_goes_on_until_it_ends_and_no_further_than_its_line() -> None:
    closed = read('My boss said "it hangs. the loss is nan." The loss stays flat.')
    assert [c.text for c in closed.observed] == ['" the loss stays flat.']
    left_open = read('My boss said "it hangs. the loss is nan.\nThe loss stays flat.')
    assert [c.text for c in left_open.observed] == ["the loss stays flat."]


def test_a_program_that_speaks_is_no_hearsay() -> None:
    assert triaged("dmesg says: out of memory, the run was killed with exit code 137").patterns == (
        "host-oom-killed",
    )


def test_only_sentences_about_the_matter_are_weighed_by_what_was_learned() -> None:
    parts = read("The sky is blue. The loss is odd.")
    assert [c.text for c in parts.spoken] == ["the loss is odd."]
    assert len(parts.observed) == 2


def test_where_no_sentence_is_known_to_speak_of_the_matter_all_are_weighed() -> None:
    parts = read("Il pleut ici. Tout est gris.")
    assert parts.spoken == parts.observed

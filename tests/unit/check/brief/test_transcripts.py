"""Messages: the later word wins, and the assistant's words count once they are accepted."""

from __future__ import annotations

import json

import pytest

from firstcause.check.brief import Text, read
from firstcause.schema.instruction import Instruction


def active(text: str) -> dict[str, object]:
    return {
        i.key: i.value
        for i in read([Text(text)])
        if i.status == "active" and i.polarity == "require" and not i.derived
    }


def find(found: list[Instruction], key: str) -> list[tuple[object, str, str]]:
    return [(i.value, i.polarity, i.status) for i in found if i.key == key]


def test_the_assistant_alone_says_nothing() -> None:
    assert active(
        "user: fine-tune gpt2\n\nassistant: I take lr 1e-3 and batch size 4.\n\nuser: show me the code"
    ) == {"model": "gpt2"}


def test_what_is_accepted_counts_with_the_users_message() -> None:
    text = (
        "user: fine-tune gpt2\n\nassistant: I suggest lr 1e-3 and 4 epochs, fine?\n\nuser: yes, but 3 epochs"
    )
    found = read([Text(text, "chat.md")])
    rate = next(i for i in found if i.key == "learning_rate")
    assert (rate.value, rate.origin, rate.line) == (1e-3, "chat.md message 3", 5)
    assert find(found, "epochs") == [(4, "require", "superseded"), (3, "require", "active")]


def test_a_part_is_approved() -> None:
    text = "user: go\n\nassistant: Batch size 32 and 3 epochs.\n\nuser: the batch size is fine, but make it 4 epochs"
    assert active(text) == {"batch_size": 32, "epochs": 4}


def test_a_bare_no_refuses_what_was_asked() -> None:
    found = read([Text("user: gpt2 please\n\nassistant: Should I use LoRA?\n\nuser: no.")])
    assert find(found, "method") == [("lora", "forbid", "active")]


def test_a_bare_answer_takes_the_attribute_of_the_question() -> None:
    text = "user: hi\n\nassistant: How many epochs?\n\nuser: 7\n\nassistant: Where should it be saved?\n\nuser: results/otter"
    assert active(text) == {"epochs": 7, "output_dir": "results/otter"}


def test_a_later_message_wins_and_the_rest_stays() -> None:
    text = "**user (09:12)** lr 5e-5, 3 epochs, 6% warmup\n\n**assistant (09:13)** ok\n\n**user (09:20)** lr 1e-5 and no warmup"
    found = read([Text(text)])
    assert find(found, "learning_rate") == [(5e-5, "require", "superseded"), (1e-5, "require", "active")]
    assert find(found, "warmup_ratio") == [(0.06, "require", "superseded")]
    assert find(found, "warmup") == [("none", "forbid", "active")]
    assert find(found, "epochs") == [(3, "require", "active")]


def test_messages_as_json() -> None:
    messages = [{"role": "user", "content": "lr 1e-4"}, {"role": "assistant", "content": "batch size 8"}]
    assert active(json.dumps({"messages": messages})) == {"learning_rate": 1e-4}


def test_a_heading_is_no_speaker() -> None:
    assert active("Model: gpt2\nBatch size: 8\nEpochs: 3") == {"model": "gpt2", "batch_size": 8, "epochs": 3}


def test_a_correction_without_an_attribute_takes_the_last_of_its_kind() -> None:
    found = read([Text("3 epochs, lr 5e-5. Correction: 1e-5.")])
    assert find(found, "learning_rate") == [(5e-5, "require", "superseded"), (1e-5, "require", "active")]
    assert find(found, "epochs") == [(3, "require", "active")]


def test_lines_are_those_of_the_file() -> None:
    found = read([Text("# Task\n\n- lr 1e-4\n- batch size 8\n", line=1)])
    assert {(i.key, i.line) for i in found} == {("learning_rate", 3), ("batch_size", 4)}


CHAT = ("batch 8, lr 1e-4", "I'd take batch 64 and 9 epochs.", "7 epochs please")


@pytest.mark.parametrize(
    "heads",
    [
        ("**Jonas** 10:02\n", "**assistant** 10:03\n", "**Jonas** 10:05\n"),
        ("[10:41] Jonas: ", "[10:42] Claude: ", "[10:45] Jonas: "),
        ("Jonas (10:41): ", "Bot (10:42): ", "Jonas (10:45): "),
        ("10:41 - Jonas Berg: ", "10:42 - AI Assistant: ", "10:45 - Jonas Berg: "),
        ("Jonas, 10:41 AM\n", "ChatGPT, 10:42 AM\n", "Jonas, 10:45 AM\n"),
        ("2025-03-04 10:41 <mira> ", "2025-03-04 10:42 <helper-bot> ", "2025-03-04 10:43 <mira> "),
        ("> **Jonas** 10:02\n", "> **assistant** 10:03\n", "> **Jonas** 10:05\n"),
        ("**Jonas:** ", "**assistant:** ", "**Jonas:** "),
        ("Jonas: ", "Assistant: ", "Jonas: "),
    ],
)
def test_speakers_by_name_and_time(heads: tuple[str, ...]) -> None:
    text = "\n\n".join(head + said for head, said in zip(heads, CHAT, strict=True))
    assert active(text) == {"batch_size": 8, "learning_rate": 1e-4, "epochs": 7}


def test_people_with_times_are_all_users() -> None:
    text = "[10:41] Jonas: lr 1e-4, 3 epochs\n[10:44] Mira: make it 5 epochs"
    assert active(text) == {"learning_rate": 1e-4, "epochs": 5}


@pytest.mark.parametrize(
    "text",
    [
        "lr 1e-4, 3 epochs. Training starts at 10:02, and must be done by 17:30",
        "lr 1e-4, 3 epochs. I need it by 5 pm",
        "Ready by 06:30. lr 1e-4 with 3 epochs; the card is free from 21:00:00 on",
    ],
)
def test_a_time_of_day_is_no_value(text: str) -> None:
    assert active(text) == {"learning_rate": 1e-4, "epochs": 3}


@pytest.mark.parametrize(
    "text",
    [
        "Task: tag names\nModel: gpt2\nEpochs: 3",
        "[10:02] epochs: 3\n[10:03] model: gpt2",
        "Notes 10:02:\ngpt2 for 3 epochs",
    ],
)
def test_a_setting_with_a_time_is_no_speaker(text: str) -> None:
    found = active(text)
    assert (found["model"], found["epochs"]) == ("gpt2", 3)


def test_one_file_is_no_count_of_epochs() -> None:
    text = "user: lr 1e-4, 90 epochs\n\nassistant: Sure: one `train.py`. Checkpoints each epoch?\n\nuser: yes every epoch"
    assert active(text) == {"learning_rate": 1e-4, "epochs": 90, "save_strategy": "epoch"}


def test_a_chat_that_is_pasted_as_a_quotation_has_no_signs_of_more_than() -> None:
    text = """> **Tomasz** 10:02
> Tag mentions with bert-base-cased, two kinds of entities,
> 7 labels.

> **assistant** 10:03
> Hyperparameters?

> **Tomasz** 10:07
> lr 3e-5, batch 16,
> 4 epochs
"""
    found = {i.key: (i.value, i.relation) for i in read([Text(text)]) if i.status == "active"}
    assert found["learning_rate"] == (3e-5, "eq")
    assert found["num_labels"] == (7, "eq")
    assert found["epochs"] == (4, "eq")


def test_a_rate_that_the_assistant_names_is_chosen_by_its_number() -> None:
    text = (
        "user: tune gpt2, LR 5e-7, two epochs\n\nassistant: For adapters the rate is usually higher, 5e-6 for instance.\n\n"
        "user: do 5e-6. And one epoch is enough after all"
    )
    found = read([Text(text)])
    assert find(found, "learning_rate") == [(5e-7, "require", "superseded"), (5e-6, "require", "active")]
    assert find(found, "epochs") == [(2, "require", "superseded"), (1, "require", "active")]

from __future__ import annotations

from dataclasses import replace

import pytest

from firstcause.check.compliance.agree import agrees
from firstcause.check.compliance.assumptions import assumptions
from firstcause.check.compliance.compare import compare
from firstcause.check.facts import Fact
from firstcause.schema.instruction import Instruction
from firstcause.schema.site import Site


def asked(key, value, **more):
    return Instruction(key, value, f"{key} {value}", **more)


def fact(key, value, line=1, **more):
    return Fact(key, value, Site("train.py", line), "how", key, **more)


def told(instructions, known):
    result = compare(instructions, known)
    return [(f.key, f.asked, f.got, f.site.line) for f in result.findings], list(result.matches)


PARTS = [fact("batch_size", 4, 1), fact("gradient_accumulation", 2, 2)]
TOTAL = asked("effective_batch_size", 32)


def test_a_total_that_the_product_misses_is_told_at_the_accumulation():
    assert told([TOTAL], PARTS) == ([("effective_batch_size", "32", "8", 2)], [])


def test_a_total_without_accumulation_is_told_at_the_batch():
    assert told([TOTAL], PARTS[:1]) == ([("effective_batch_size", "32", "4", 1)], [])


def test_a_total_is_told_once_with_what_follows_from_it():
    steps = asked("gradient_accumulation", 8, derived=True)
    assert told([TOTAL, steps], PARTS)[0] == [("effective_batch_size", "32", "8", 2)]


def test_a_batch_that_deviates_itself_says_it_all():
    size = asked("batch_size", 16, scope="per_device")
    assert told([TOTAL, size], PARTS)[0] == [("batch_size", "16", "4", 1)]


@pytest.mark.parametrize(
    ("instructions", "known"),
    [
        ([asked("effective_batch_size", 32, derived=True)], PARTS),
        ([TOTAL], [fact("batch_size", 4), fact("batch_size", 8), PARTS[1]]),
        ([TOTAL], [fact("batch_size", 4, sure=False), PARTS[1]]),
        ([TOTAL], []),
    ],
)
def test_a_total_is_not_told_where_it_is_not_sure(instructions, known):
    assert told(instructions, known)[0] == []


def test_a_total_on_the_devices_that_are_asked_for_is_met():
    each = [*PARTS, fact("framework", "trainer", 3)]
    assert told([TOTAL, asked("num_gpus", 4)], each) == ([], ["effective_batch_size"])


def test_a_total_of_one_process_is_not_that_of_the_devices():
    alone = [*PARTS, fact("framework", "pytorch", 3)]
    assert told([TOTAL, asked("num_gpus", 4)], alone)[0] == [("effective_batch_size", "32", "8", 2)]
    ranks = [*alone, fact("distributed", "ddp", 4)]
    assert told([TOTAL, asked("num_gpus", 2)], ranks)[0] == [("effective_batch_size", "32", "16", 2)]


def test_a_part_that_is_not_known_leaves_the_total_open():
    unknown = [PARTS[0], fact("gradient_accumulation", None, 2, confirms=True)]
    assert told([TOTAL], unknown) == ([], [])


def test_a_value_that_is_right_elsewhere_is_wrong_where_it_is_taken():
    rank = fact("lora_r", 16, 3, use=Site("train.py", 8))
    alpha = fact("lora_alpha", 16, 3, use=Site("train.py", 9))
    found, met = told([asked("lora_r", 16), asked("lora_alpha", 32)], [rank, alpha])
    assert (found, met) == ([("lora_alpha", "32", "16", 9)], ["lora_r"])
    assert told([asked("lora_alpha", 32)], [alpha])[0] == [("lora_alpha", "32", "16", 3)]


def test_the_type_of_quantised_products_has_to_agree_by_itself():
    flag = fact("precision", "bf16", 5)
    compute = Fact("precision", "fp16", Site("train.py", 2), "how", "bnb_4bit_compute_dtype")
    assert told([asked("precision", "bf16")], [flag, compute])[0] == [("precision", "bf16", "fp16", 2)]
    assert told([asked("precision", "fp16")], [flag, compute])[1] == ["precision"]


def test_features_are_less_than_a_backbone():
    part = fact("freeze", "feature encoder", 4)
    assert told([asked("freeze", "backbone")], [part])[0] == [("freeze", "backbone", "feature encoder", 4)]
    assert told([asked("freeze", "feature_encoder")], [part])[1] == ["freeze"]


def test_another_number_of_devices_is_told_by_itself():
    found, _ = told([TOTAL, asked("num_gpus", 4)], [*PARTS, fact("num_gpus", 2, 9)])
    assert found == [("num_gpus", "4", "2", 9)]


def test_a_batch_reached_by_accumulation_is_the_effective_one_too():
    most = asked("batch_size", 4, relation="max", scope="per_device")
    assert told([asked("batch_size", 8), most], PARTS) == ([], ["batch_size", "effective_batch_size"])


def test_code_that_follows_one_of_two_wishes_is_asked_about_and_not_blamed():
    both = [asked("loss", "huber"), asked("loss", "mse")]
    found = compare(both, [fact("loss", "huber")])
    assert [(f.category, f.slug) for f in found.findings] == [("assumption", "assumed-loss")]
    assert (
        "as one sentence asks (“loss huber”) and another does not (“loss mse”)" in found.findings[0].message
    )
    assert found.matches == ("loss",)
    limited = [asked("eval_steps", 100), asked("eval_steps", 3, relation="max")]
    assert told(limited, [fact("eval_steps", 100)])[1] == ["eval_steps"]
    assert told([*both[:1], asked("loss", "huber", polarity="forbid")], [fact("loss", "huber")])[1] == [
        "loss"
    ]


@pytest.mark.parametrize(
    ("instructions", "known"),
    [
        ([asked("loss", "huber"), asked("loss", "mse")], [fact("loss", "l1")]),
        ([asked("loss", "huber"), asked("loss", "mse")], [fact("loss", "huber"), fact("loss", "l1", 2)]),
        ([asked("loss", "huber"), asked("loss", "mse", derived=True)], [fact("loss", "mse")]),
        (
            [asked("max_length", 512, scope="source"), asked("max_length", 64, scope="target")],
            [fact("max_length", 512)],
        ),
        ([asked("lora_r", 8), asked("lora_r", 4, status="superseded")], [fact("lora_r", 4)]),
    ],
)
def test_it_is_blamed_where_it_follows_neither_or_not_everywhere(instructions, known):
    found = compare(instructions, known).findings
    assert [f.category for f in found] == ["deviation"]


def test_a_default_deviates_and_is_never_an_assumption():
    default = fact("weight_decay", 0.01, explicit=False)
    assert told([asked("weight_decay", 0.1)], [default])[0] == [("weight_decay", "0.1", "0.01", 1)]
    assert list(assumptions([asked("epochs", 1)], [default])) == []
    stated = fact("weight_decay", 0.05)
    assert [f.category for f in assumptions([asked("epochs", 1)], [stated])] == ["assumption"]


def test_an_options_default_deviates_and_the_message_says_that_it_is_one():
    (found,) = compare([asked("seed", 7)], [fact("seed", 1, sure=False)]).findings
    assert (found.key, found.asked, found.got) == ("seed", "7", "1")
    assert "a command line may say otherwise" in found.message
    assert told([asked("seed", 7)], [fact("seed", 7, sure=False)]) == ([], ["seed"])


def test_a_name_that_only_confirms_contradicts_nothing():
    assert told([asked("seed", 7)], [fact("seed", 1, sure=False, confirms=True)]) == ([], [])
    assert told([asked("seed", 7)], [fact("seed", 7, sure=False, confirms=True)]) == ([], ["seed"])


def test_what_the_code_fixes_is_blamed_before_what_an_option_leaves_open():
    (found,) = compare([asked("seed", 7)], [fact("seed", 1, sure=False), fact("seed", 2)]).findings
    assert found.got == "2"


def test_a_reason_in_the_code_justifies():
    (found,) = compare(
        [asked("precision", "bf16")], [fact("precision", "fp16", reason="no bf16 units")]
    ).findings
    assert found.justified
    assert "no bf16 units" in found.message


@pytest.mark.parametrize(
    ("key", "value", "got", "same"),
    [
        ("metric_for_best", "accuracy", "val_acc", True),
        ("model", "ResNet-50", "resnet50", True),
        ("model", "ResNet-50", "resnet50.a1_in1k", True),
        ("model", "ResNet-50", "resnet18", False),
        ("model", "MobileNetV3", "lraspp_mobilenet_v3_large", True),
        ("model", "ResNet-50", "deeplabv3_resnet50", True),
        ("model", "ResNet-50", "fcn_resnet101", False),
        ("model", "ResNet-50", "wide_resnet50_2", False),
        ("model", "large", "lraspp_mobilenet_v3_large", False),
        ("model", "fpn", "fasterrcnn_resnet50_fpn", False),
        ("model", "gpt2", "openai-community/gpt2", True),
        ("metric_for_best", "f1", "eval_macro_f1", True),
        ("metric_for_best", "eval_loss", "val_loss", True),
        ("metric_for_best", "accuracy", "val_loss", False),
        ("framework", "transformers", "trainer", True),
        ("framework", "transformers", "vllm", False),
        ("framework", "vllm", "transformers", False),
        ("framework", "custom_loop", "trainer", False),
        ("method", "lora", "qlora", True),
        ("method", "qlora", "lora", False),
        ("output_dir", "./out/", "out", True),
        ("output_dir", "out/a", "out/b", False),
        ("quantization", "4bit-nf4", "4bit", True),
        ("precision", "mixed", "bf16", True),
        ("model", "google-bert/bert-base-uncased", "bert-base-uncased", True),
        ("model", "owner/de-en", "owner/en-de", False),
    ],
)
def test_what_counts_as_the_same(key, value, got, same):
    assert agrees(asked(key, value), got) is same


@pytest.mark.parametrize(
    ("relation", "got", "same"),
    [
        ("max", 5, True),
        ("max", 11, False),
        ("min", 11, True),
        ("min", 9, False),
        ("approx", 10.4, True),
        ("eq", 11, False),
    ],
)
def test_relations_of_numbers(relation, got, same):
    assert agrees(asked("epochs", 10, relation=relation), got) is same


@pytest.mark.parametrize(
    ("wanted", "got", "same"),
    [
        (["q_proj", "v_proj"], ["q", "v"], True),
        (["q_proj", "v_proj"], ["query", "value"], True),
        (["q_proj", "v_proj"], ["q_proj", "k_proj"], False),
        ("attention", ["to_q", "to_k", "to_v", "to_out.0"], True),
        ("attention", ["q_proj", "up_proj"], False),
    ],
)
def test_projections_by_what_they_are(wanted, got, same):
    assert agrees(asked("lora_target_modules", wanted), got) is same


def test_a_batch_without_accumulation_is_no_product():
    size, none = asked("batch_size", 8), asked("gradient_accumulation", 1)
    assert ("batch_size", "8", "4", 1) in told([size, none], PARTS)[0]
    assert not [row for row in told([size], PARTS)[0] if row[0] == "batch_size"]


def test_a_wish_for_the_evaluation_contradicts_none_for_the_training():
    both = [asked("batch_size", 8), asked("batch_size", 16, scope="eval")]
    rate, training = fact("learning_rate", 1e-4, 5), fact("batch_size", 8, 3)
    evaluation = fact("eval_batch_size", 16, 4)
    assert told(both, [training, rate]) == ([], ["batch_size"])
    assert told(both, [training, evaluation, rate]) == ([], ["batch_size"])
    assert told(both, [training, fact("eval_batch_size", 8, 4), rate])[0] == [("batch_size", "16", "8", 4)]
    assert told(both, [fact("batch_size", 16, 3), evaluation, rate])[0] == [("batch_size", "8", "16", 3)]
    # A program that only evaluates has one batch; one that trains may have another.
    assert told(both[1:], [fact("batch_size", 8, 3)])[0] == [("batch_size", "16", "8", 3)]
    assert told(both[1:], [training, rate]) == ([], [])


def test_two_values_in_one_sentence_are_asked_about_as_such():
    sentence = "1e-4 for the adapter and 1e-3 for the head"
    both = [replace(asked("learning_rate", v), sentence=sentence) for v in (1e-4, 1e-3)]
    (found,) = compare(both, [fact("learning_rate", 1e-4)]).findings
    assert "another" not in found.message
    assert "which “1e-4 for the adapter and 1e-3 for the head” asks for beside 0.001" in found.message

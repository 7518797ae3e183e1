"""The arguments of inference engines against the tables read from their wheels."""

from __future__ import annotations

import pytest

from firstcause.check.signatures import argument_standing


@pytest.mark.parametrize("call", ["Engine", "Runtime", "ServerArgs"])
@pytest.mark.parametrize("argument", ["model_path", "tp_size", "mem_fraction_static", "context_length"])
@pytest.mark.parametrize("version", ["0.4.6", "0.5.11", "0.5.23"])
def test_what_sglang_has_had_throughout_is_taken(call: str, argument: str, version: str) -> None:
    assert argument_standing("sglang", call, argument, {"sglang": version}) == "taken"


@pytest.mark.parametrize(
    ("argument", "standing"),
    [("mem_fraction", "unknown"), ("tensor_parallel_size", "unknown"), ("enable_ep_moe", "removed")],
)
def test_what_sglangs_engine_does_not_take(argument: str, standing: str) -> None:
    assert argument_standing("sglang", "Engine", argument, {}) == standing


def test_vllm_hands_on_to_its_engine() -> None:
    assert argument_standing("vllm", "LLM", "max_model_len", {}) == "taken"
    assert argument_standing("vllm", "LLM", "max_sequence_length", {}) == "unknown"

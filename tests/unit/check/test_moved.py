"""Names and modules that a library does not have any more, by the version in use."""

from __future__ import annotations

import pytest

from firstcause.check.moved import last_version_with


@pytest.mark.parametrize(
    ("versions", "gone"),
    [({}, True), ({"vllm": "0.33.0"}, True), ({"vllm": "0.14.1"}, True), ({"vllm": "0.10.2"}, False), ({"vllm": "0.8.5"}, False)],
)  # fmt: skip
def test_a_name_is_gone_from_the_first_version_read_without_it(versions: dict[str, str], gone: bool) -> None:
    last = last_version_with("vllm.sampling_params", "GuidedDecodingParams", versions)
    assert last == ("0.10.2" if gone else "")


def test_a_module_is_gone_as_a_whole() -> None:
    assert last_version_with("transformers.deepspeed", "", {"transformers": "5.0.0"})
    assert not last_version_with("transformers.deepspeed", "", {"transformers": "4.40.2"})


@pytest.mark.parametrize("name", ["SamplingParams", "NeverThere"])
def test_what_is_there_or_was_never_there_is_not_gone(name: str) -> None:
    assert not last_version_with("vllm.sampling_params", name, {})
    assert not last_version_with("unheard_of.module", name, {})

"""What a person wrote is told from what programs print."""

from __future__ import annotations

from told_by import triaged

from firstcause.triage.hand import by_hand

LOG = "\n".join(
    f"epoch {n:02d} step {n * 100} train/loss 0.69{n % 10} acc 50.{n % 10} memory {n} GB slow_steps=0 nan_batches 0"
    for n in range(60)
)


def test_a_healthy_log_claims_nothing() -> None:
    triage = triaged(LOG)
    assert triage.patterns == ()
    assert triage.action == "clarify"


def test_what_somebody_says_in_a_log_is_heard() -> None:
    assert triaged(LOG + "\n\nwhy does my run hang after this?").patterns == ("hang",)


def test_a_log_that_ends_in_nan_is_seen() -> None:
    assert triaged(
        "\n".join([*(f"step {n} loss {2 - n / 50:.2f}" for n in range(40)), "step 40 loss nan"])
    ).patterns == ("nan-loss",)


def test_few_lines_are_read_as_they_are() -> None:
    text = "loss 2.3\nloss 2.2"
    assert by_hand(text) == (text, False)


def test_progress_bars_and_addresses_say_nothing() -> None:
    kept, log = by_hand(
        "see https://example.org/how-to/hang\n 10%|#  | 1/10 [00:01<00:09, 1.00it/s]\nit hangs"
    )
    assert not log
    assert kept.split() == ["see", "it", "hangs"]

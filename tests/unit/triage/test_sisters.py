"""What one finding says in other figures, other words and on other devices."""

from __future__ import annotations

from told_by import triaged

from firstcause.triage.series import series

WAITED = (
    "[rank{rank}]:[E1019 03:00:12.1 ProcessGroupNCCL.cpp:688] [Rank {rank}] Watchdog caught collective operation timeout:"
    " WorkNCCL(SeqNum=88, OpType={kind}, NumelIn=1, NumelOut=4, Timeout(ms)=600000) ran for 600088 milliseconds before"
    " timing out.\n"
)
TABLE = (
    "| GPU   PID   Type   Process name     GPU Memory |\n|  0   4411    C   /usr/bin/python  {held}MiB |\n"
)


def _labels(text: str) -> set[str]:
    return {sign.label for sign in series(text) if not sign.label.startswith("context:")}


def test_one_number_with_two_collectives_is_two_ways() -> None:
    same = WAITED.format(rank=0, kind="ALLREDUCE") + WAITED.format(rank=1, kind="ALLREDUCE")
    apart = WAITED.format(rank=0, kind="ALLREDUCE") + WAITED.format(rank=1, kind="ALLGATHER")
    assert "desync" in triaged(apart).patterns
    assert "desync" not in triaged(same).patterns


def test_a_process_in_the_drivers_table_holds_the_card() -> None:
    error = "net.cuda() -> RuntimeError: CUDA error: out of memory\n\n"
    assert "foreign-process-memory" in triaged(error + TABLE.format(held=23100) + "a tiny model").patterns
    assert "foreign-process-memory" not in triaged(error + TABLE.format(held=310) + "a tiny model").patterns


def test_losses_apart_by_a_count_that_is_named_are_not_divided() -> None:
    assert triaged("accum=8: loss 19.2, accum=1: loss 2.4").patterns == ("loss-scale-wrong",)
    assert _labels("accum=8: loss 19.2, accum=1: loss 2.4") == {"loss-scale-wrong"}
    assert _labels("accum=8: loss 5.2, accum=1: loss 2.4") == set()


def test_a_validation_loss_that_turns_in_another_language() -> None:
    text = "val loss scende fino a {low} poi {high} mentre train loss va a 0.03"
    assert triaged(text.format(low=0.41, high=0.95)).patterns == ("overfitting",)
    assert "overfitting" in _labels(text.format(low=0.41, high=0.95))
    assert "overfitting" not in _labels(text.format(low=0.41, high=0.40))


def test_a_pause_that_ends_is_slow_and_no_hang() -> None:
    pause = "between epochs nothing happens for 40 seconds"
    assert triaged(f"{pause}, then it is fast again").patterns == ("slow-training",)
    assert "hang" in triaged("nothing happens for 40 minutes after the first epoch, ddp").patterns


def test_a_messages_own_doubt_is_no_claim() -> None:
    told = triaged('the file gives "unexpected EOF, expected 99 more bytes. The file might be corrupted."')
    assert told.patterns == ("checkpoint-corrupt",)
    assert triaged("Memory access fault by GPU node-1 on address 0x7f. Reason: Unknown.").patterns == (
        "illegal-memory-access",
    )


def test_the_drivers_number_tells_a_program_from_a_broken_card() -> None:
    line = "NVRM: Xid (PCI:0000:17:00): {code}, pid=8122, name=python, Ch 00000008"
    assert triaged(line.format(code=31)).patterns == ("illegal-memory-access",)
    assert triaged(line.format(code=48)).patterns == ("hardware-ecc",)


def test_what_is_usual_is_asked_and_not_told() -> None:
    told = triaged(
        "there was an error in my own backward, the output is deleted. what do people usually do wrong there"
    )
    assert told.action == "need-error"


def test_a_remedy_without_should_i_is_a_claim() -> None:
    assert triaged("step 900: loss nan, before it was 1.9. resume from 800 and skip 50?").patterns == (
        "nan-loss",
    )

from __future__ import annotations

import math
import time

import pytest

from firstcause.errors import InputError
from firstcause.record.supervise.expect import Expected, name_of, numbers, parse


def judged(text: str, *lines: str, **columns: list[float]) -> tuple[float | None, bool | None, str]:
    expected = parse(text)
    for line in lines:
        expected.read(line)
    result = expected.judged(columns)
    assert result.text == text
    return result.observed, result.met, result.where


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("val_acc 0.43", [("val_acc", 0.43)]),
        ("val acc: 0.43", [("val acc", 0.43)]),
        ("Val/Acc = 4.3e-1", [("val acc", 0.43)]),
        ("epoch 3 | train loss 0.5, val loss -.25", [("epoch", 3), ("train loss", 0.5), ("val loss", -0.25)]),
        ('{"val_acc": 0.43, "epoch": 3}', [("val acc", 0.43), ("epoch", 3)]),
        ("loss: tensor(0.25, grad_fn=<X>)", [("loss", 0.25)]),
        ("loss=nan acc=inf", [("loss", math.nan), ("acc", math.inf)]),
        ("Epoch 2/10 - acc: 87.5% - took 3.2s", [("epoch", 2), ("acc", 87.5), ("took", 3.2)]),
        ("\x1b[32mval_acc\x1b[0m 0.5", [("val acc", 0.5)]),
        ("info nanny 3", [("info nanny", 3)]),
        ("no numbers here", []),
    ],
)
def test_numbers_of_a_line(line: str, found: list[tuple[str, float]]) -> None:
    # As texts, since NaN is not equal to itself.
    assert str([(name_of(" ".join(w)), v) for w, v in numbers(line)]) == str(
        [(name_of(n), float(v)) for n, v in found]
    )


@pytest.mark.parametrize(
    ("text", "observed", "met"),
    [
        ("loss < 0.5", 0.4, True),
        ("loss<=.4", 0.4, True),
        ("Loss >= 1", 0.4, False),
        ("loss == 0.4", 0.4, True),
        ("loss != 0.4", 0.4, False),
        ("last(loss) > 1", 0.4, False),
        ("first(loss) > 2", 3.0, True),
        ("max(loss) < 2", 3.0, False),
        ("min(loss) < 0.3", 0.2, True),
        ("mean(loss) < 1", 1.2, False),
        ("mean(last 2 loss) < 1", 0.3, True),
    ],
)
def test_ways_to_reduce_and_to_compare(text: str, observed: float, met: bool) -> None:
    lines = [f"step {i} loss {x}" for i, x in enumerate((3.0, 1.2, 0.2, 0.4))]
    seen, verdict, where = judged(text, *lines)
    assert seen == pytest.approx(observed)
    assert (verdict, where) == (met, "4 values in the output")


def test_a_nan_is_never_what_was_expected_and_no_extreme() -> None:
    assert judged("loss < 1", "loss 0.5", "loss nan")[1] is False
    assert judged("loss > 1", "loss 0.5", "loss nan")[1] is False
    assert judged("min(loss) < 1", "loss nan", "loss 0.5", "loss nan")[:2] == (0.5, True)
    assert judged("max(loss) < 1", "loss 0.5", "loss nan")[:2] == (0.5, True)


def test_the_name_must_be_whole() -> None:
    assert judged("acc > 0.5", "val_acc 0.9")[1] is None
    # Words before it are other names, unless there is one such name alone.
    assert judged("acc > 0.5", "final acc 0.9") == (0.9, True, "one value in the output as 'final acc'")
    observed, met, where = judged("acc > 0.5", "train acc 0.9", "val acc 0.4")
    assert (observed, met) == (None, None)
    assert where == "never seen alone: the output has 'train acc', 'val acc'; name one of them"
    assert judged("acc > 0.5", "train acc 0.9", "acc 0.4")[:2] == (0.4, False)


def test_recorded_columns_count_where_the_output_is_silent() -> None:
    recorded = {"loss": [3.0, 2.0], "grad_norm": [1.0, 9.0]}
    assert judged("loss < 1", "hello", **recorded) == (2.0, False, "2 values in the recorded column loss")
    assert judged("max(grad norm) > 5", **recorded)[:2] == (9.0, True)
    assert judged("loss < 1", "loss 0.5", **recorded)[:2] == (0.5, True)
    assert judged("perplexity < 1", **recorded)[1:] == (
        None,
        "never seen: no line of the output and no recorded column names it",
    )


@pytest.mark.parametrize(
    "text",
    [
        "val_acc",
        "> 0.5",
        "val_acc > high",
        "val_acc = 0.5",
        "median(loss) < 1",
        "max(loss < 1",
        "__import__('os').system('x') > 0",
        "mean(last 0 loss) < 1",
        "mean(last 99999999999 loss) < 1",
        "",
    ],
)
def test_what_is_no_expectation_is_refused(text: str) -> None:
    with pytest.raises(InputError) as raised:
        parse(text)
    assert raised.value.slug == "bad-expectation"
    assert "--expect" in raised.value.hint


@pytest.mark.parametrize("unit", ["a", "1", "loss ", "loss 1 ", "a-", "tensor(", "\x1b[", "9e", ".", "-"])
def test_a_line_is_read_in_linear_time(unit: str) -> None:
    took = []
    for size in (8_000, 64_000):
        began = time.process_time()
        Expected("loss < 1", ("loss",), "last", None, "<", 1.0).read("loss" + unit * (size // len(unit)))
        took.append(time.process_time() - began)
    assert took[1] < 24 * max(took[0], 0.01)

"""Who stops an exception: named, answered by a status, or taken wholesale."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

import pytest

from firstcause.record.observe.stopped import Stop, stopped

FORESEEN = (IndexError, KeyError)
found: list[Stop | None] = []


def call() -> None:
    try:
        raise IndexError("index out of range in self")
    except BaseException as error:
        found.append(stopped(error, sys._getframe(1)))
        raise


def by_name() -> None:
    try:
        call()
    except (KeyError, IndexError):
        return


def by_a_base() -> None:
    try:
        call()
    except LookupError:
        return


def by_a_variable() -> None:
    try:
        call()
    except FORESEEN:
        return


def by_suppress() -> None:
    with contextlib.suppress(IndexError):
        call()


def wholesale() -> None:
    try:
        call()
    except ValueError:
        return
    except Exception:  # noqa: BLE001
        return


def answered_500() -> tuple[int, str]:
    try:
        call()
    except IndexError as error:
        return 500, str(error)
    return 200, ""


def answered_400() -> tuple[int, str]:
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return 400, str(error)
    return 200, ""


def raised_again() -> None:
    try:
        try:
            call()
        except IndexError as error:
            raise RuntimeError("no answer") from error
    except Exception:  # noqa: BLE001
        return


def in_another_clause() -> None:
    try:
        try:
            raise KeyError(1)
        except KeyError:
            # No clause of this statement stops what its own clauses raise.
            call()
    except LookupError:
        return


@pytest.mark.parametrize(
    ("program", "how"),
    [
        (by_name, "foreseen"),
        (by_a_base, "foreseen"),
        (by_a_variable, "foreseen"),
        (by_suppress, "foreseen"),
        (wholesale, "wholesale"),
        (answered_500, "wholesale"),
        (answered_400, "foreseen"),
        (raised_again, "wholesale"),
        (in_another_clause, "foreseen"),
    ],
)
def test_stopped(program: Callable[[], object], how: str) -> None:
    found.clear()
    program()
    (stop,) = found
    assert stop is not None
    assert (stop.how, stop.file) == (how, __file__)

"""The names of a frame are read without a trace in it."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from firstcause.record.observe.frame_names import names_of


class Held:
    """Something whose life can be watched."""


# What pytest makes of an assertion asks for locals(): the functions that are looked at have none.
def lets_go() -> tuple[bool, weakref.ref[Held]]:
    held = Held()
    reference = weakref.ref(held)
    seen = names_of(sys._getframe(), {}).get("held") is held
    del held
    return seen, reference


def asks() -> tuple[dict[str, Any], dict[str, Any]]:
    first = 1
    given = locals()
    given["own"] = first
    second = 2
    return names_of(sys._getframe(), {"second": second}), given


def test_what_a_name_held_dies_with_the_name() -> None:
    seen, reference = lets_go()
    assert seen
    assert reference() is None


def test_the_dictionary_of_locals_stays_as_the_program_left_it() -> None:
    names, given = asks()
    assert names["second"] == 2
    assert given == {"first": 1, "own": 1}


def test_a_class_body_and_a_module_keep_their_names() -> None:
    class Body:
        kept = 1
        seen = names_of(sys._getframe(), {})

    assert (Body.kept, Body.seen["kept"]) == (1, 1)
    space: dict[str, Any] = {"names_of": names_of, "sys": sys}
    exec("kept = 1\nseen = names_of(sys._getframe(), {})", space)
    assert (space["kept"], space["seen"]["kept"]) == (1, 1)

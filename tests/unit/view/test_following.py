from __future__ import annotations

from pathlib import Path

import pytest

from firstcause.record import blocks
from firstcause.record.journal import Journal, read
from firstcause.view.following import MOST_EVENTS, Follower


def steps_of(follower: Follower) -> list[int]:
    return [step for track in follower.tracks.values() for step in track.buckets()[0]]


def test_a_growing_journal_is_read_on_from_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "_BLOCK", 61)
    path = str(tmp_path / "rank-3-77.journal")
    journal = Journal(path)
    follower = Follower(path)
    journal.metrics(0, ("loss",), [1.0])
    assert follower.advance()
    assert not follower.advance()
    for step in range(1, 9):
        journal.metrics(step, ("loss",), [1.0 / step])
        journal.event("note", text="x" * step)
    content = Path(path).read_bytes()
    Path(path).write_bytes(content[:-5])
    follower.advance()
    assert len(follower.events) == 7
    Path(path).write_bytes(content)
    follower.advance()
    assert steps_of(follower) == list(range(9))
    assert len(follower.events) == 8
    assert (follower.rank, follower.name) == (3, "rank-3-77")


def test_damage_costs_only_itself_as_in_the_journal(tmp_path: Path) -> None:
    path = str(tmp_path / "rank-0-1.journal")
    journal = Journal(path)
    for step in range(50):
        journal.metrics(step, ("loss", "lr"), [1.0, 2.0])
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 2] ^= 255
    Path(path).write_bytes(content)
    follower = Follower(path)
    follower.advance()
    assert steps_of(follower) == [row.step for row in read(path).rows]
    assert len(steps_of(follower)) == 49


def test_optimizers_have_tracks_of_their_own_and_a_window_is_a_part(tmp_path: Path) -> None:
    path = str(tmp_path / "rank-0-1.journal")
    journal = Journal(path)
    for step in range(20):
        journal.metrics(step, ("loss", "a") if step % 2 else ("loss", "b"), [1.0, 2.0])
    whole, part = Follower(path), Follower(path, 5, 8)
    whole.advance()
    part.advance()
    assert [track.rows for track in whole.tracks.values()] == [10, 10]
    assert sorted(steps_of(part)) == [5, 6, 7, 8]


def test_one_sentence_does_not_fill_the_page(tmp_path: Path) -> None:
    path = str(tmp_path / "rank-0-1.journal")
    journal = Journal(path)
    for _ in range(MOST_EVENTS + 7):
        journal.event("note", text="again")
    follower = Follower(path)
    follower.advance()
    assert (len(follower.events), follower.left_events) == (MOST_EVENTS, 7)

"""What ranks wrote of themselves, laid side by side: the first difference, the first own failure, the late one."""

from __future__ import annotations

import json

import pytest

from firstcause.record import ranked
from firstcause.record.observe import elastic
from firstcause.record.standing import overview
from firstcause.report.ranks_page import sentences


def call(seq, op="all_reduce", sizes=((3,),), line=10, time=None, waiting=False):
    frames = [{"file": "/w/train.py", "line": line, "function": "main"}]
    return {
        "group": "0",
        "seq": seq,
        "op": op,
        "sizes": [list(s) for s in sizes],
        "dtypes": [],
        "waiting": waiting,
        "time": float(seq if time is None else time),
        "frames": frames,
    }


def wrote(folder, rank, calls, ended=None, time=100.0, world=2, met=None, stack=()):
    place = folder / "ranks" / str(rank)
    place.mkdir(parents=True)
    facts = {"rank": rank, "world": world, "calls": calls, "ended": ended, "time": time, "steps": len(calls)}
    (place / "now.json").write_text(
        json.dumps(facts | {"met": met or {}, "stack": list(stack), "audit": None})
    )


def raised(kind, message, time=50.0):
    return {"time": time, "exception": [{"type": kind, "message": message, "frames": []}]}


def test_alike_ranks_do_not_part(tmp_path):
    for rank in (0, 1):
        wrote(tmp_path, rank, [call(1), call(2, "barrier", ())])
    assert ranked.parted(ranked.standings(str(tmp_path))) is None
    assert ranked.world_of(str(tmp_path)) == 2


def test_another_operation_and_another_size_are_partings(tmp_path):
    for rank in range(4):
        odd = rank == 2
        wrote(tmp_path, rank, [call(1), call(2, sizes=((5 if odd else 3,),))], world=4)
    apart = ranked.parted(ranked.standings(str(tmp_path)))
    assert (apart.seq, apart.kind, apart.odd, apart.alike) == (2, "shape", 2, 1)
    assert ranked.signature(apart.calls[apart.other]) != ranked.signature(apart.calls[2])


def test_sizes_of_a_gather_may_differ(tmp_path):
    for rank in (0, 1):
        wrote(tmp_path, rank, [call(1, "all_gather", ((rank + 1,),))])
    assert ranked.parted(ranked.standings(str(tmp_path))) is None


def test_a_rank_that_somebody_interrupts_has_not_failed_by_itself(tmp_path):
    for rank, kind in ((0, "KeyboardInterrupt"), (1, "SystemExit")):
        wrote(tmp_path, rank, [call(1)], raised(kind, ""))
    assert ranked.failed_first(ranked.standings(str(tmp_path))) is None


def test_a_rank_that_was_not_seen_later_may_still_have_come(tmp_path):
    wrote(tmp_path, 0, [call(1), call(2, time=90.0)])
    wrote(tmp_path, 1, [call(1)], time=80.0)
    assert ranked.parted(ranked.standings(str(tmp_path))) is None


def test_a_rank_that_ended_or_was_seen_later_did_not_come(tmp_path):
    wrote(tmp_path, 0, [call(1), call(2, time=90.0, waiting=True)])
    wrote(tmp_path, 1, [call(1)], time=99.0)
    apart = ranked.parted(ranked.standings(str(tmp_path)))
    assert (apart.kind, apart.odd, apart.calls[1]) == ("missing", 1, None)


def test_a_watched_rank_that_the_launcher_ended_did_not_come_where_a_signal_ended_another(tmp_path):
    wrote(tmp_path, 0, [call(1)], time=90.0)
    wrote(tmp_path, 1, [call(1)], time=80.0)
    pending = {
        "op": "broadcast",
        "sizes": [[2]],
        "frames": [{"file": "/w/train.py", "line": 7, "function": "main"}],
    }
    for rank, own in ((0, pending), (1, None)):
        path = tmp_path / "ranks" / str(rank) / "now.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"audit": {"calls": own}}))
    (tmp_path / "ranks" / "0" / "stack.txt").write_text(
        'Thread 0x02 (most recent call first):\n  File "/w/train.py", line 7 in main\n'
    )
    apart = ranked.parted(ranked.standings(str(tmp_path)))
    assert (apart.seq, apart.calls[0]["op"], apart.calls[1]) == (2, "broadcast", None)


def test_a_closed_connection_is_no_failure_of_its_own(tmp_path):
    wrote(tmp_path, 0, [call(1)], raised("RuntimeError", "Connection closed by peer [127.0.0.1]:27", 10.0))
    wrote(tmp_path, 1, [call(1)], raised("ValueError", "bad row", 20.0))
    standing, error = ranked.failed_first(ranked.standings(str(tmp_path)))
    assert (standing["rank"], error["type"]) == (1, "ValueError")


def test_a_loader_that_times_out_is_a_failure_of_its_own():
    assert not ranked.is_consequence(
        {"type": "RuntimeError", "message": "DataLoader timed out after 5 seconds"}
    )
    assert ranked.is_consequence({"type": "RuntimeError", "message": "Timed out waiting 6000ms for recv"})


def test_the_stack_of_a_signal_is_the_main_threads(tmp_path):
    wrote(tmp_path, 0, [call(1)])
    (tmp_path / "ranks" / "0" / "stack.txt").write_text(
        "Fatal Python error: Aborted\n\n"
        'Thread 0x01 (most recent call first):\n  File "/w/watch.py", line 3 in look\n\n'
        'Thread 0x02 (most recent call first):\n  File "/w/train.py", line 10 in main\n'
    )
    assert ranked.standings(str(tmp_path))[0]["fatal"][0]["line"] == 10
    assert "ended by a signal at train.py:10" in sentences(overview(str(tmp_path)), "/w")[0]


def test_a_signal_behind_the_last_line_leaves_the_line_before_it(tmp_path):
    """gloo aborts in a thread of its own: the main one may have unwound by then, or be inside a library."""
    for name, ended, said in (
        ("raised", raised("RuntimeError", "enforce fail"), "had ended with RuntimeError at train.py:10"),
        ("seen", None, "at no line of the program; it was last seen at train.py:10"),
    ):
        folder = tmp_path / name
        frames = call(1)["frames"]
        if ended is not None:
            ended["exception"][0]["frames"] = frames
        wrote(folder, 0, [call(1)], ended, stack=frames)
        (folder / "ranks" / "0" / "stack.txt").write_text(
            'Thread 0x02 (most recent call first):\n  File "/lib/threading.py", line 1590 in _shutdown\n'
        )
        assert said in sentences(overview(str(folder)), "/w")[0]


def test_a_rank_that_is_late_each_time_is_named_and_one_late_start_is_not(tmp_path):
    late = [call(i, time=10 * i + 2) for i in range(1, 6)]
    wrote(tmp_path, 0, [call(i, time=10 * i) for i in range(1, 6)], met={"/w/train.py:4": 3})
    wrote(tmp_path, 1, late, met={"/w/train.py:4": 3, "/w/train.py:7": 9})
    seen = overview(str(tmp_path)).late
    # Of the five gaps of two seconds the longest does not count; beneath a fifth of the time nobody is slow.
    assert seen is None
    quick = tmp_path / "quick"
    wrote(quick, 0, [call(i, time=3 * i) for i in range(1, 6)], met={})
    wrote(quick, 1, [call(i, time=3 * i + 2) for i in range(1, 6)], met={"/w/train.py:7": 9})
    seen = overview(str(quick)).late
    assert (seen.rank, seen.times, round(seen.seconds), seen.met) == (1, 4, 8, "/w/train.py:7")
    once = tmp_path / "once"
    wrote(once, 0, [call(1, time=0), call(2, time=30.1), call(3, time=30.2)])
    wrote(once, 1, [call(1, time=30), call(2, time=30.1), call(3, time=30.2)])
    assert overview(str(once)).late is None


def test_torchruns_file_gets_the_first_thing_that_went_wrong(tmp_path, monkeypatch):
    wrote(tmp_path, 0, [call(1), call(2, line=12)], raised("RuntimeError", "Connection reset by peer"))
    wrote(tmp_path, 1, [call(1), call(2, "barrier", (), line=14)], raised("RuntimeError", "timed out"))
    file = tmp_path / "error.json"
    file.write_text(
        json.dumps({"message": {"message": "RuntimeError: reset", "extraInfo": {"timestamp": "7"}}})
    )
    monkeypatch.setenv(elastic.VARIABLE, str(file))
    elastic.tell(str(tmp_path))
    said = json.loads(file.read_text())["message"]
    assert said["message"].startswith(
        "firstcause: after 1 collectives alike the ranks differ: rank 0: all_reduce [[3]]"
    )
    assert said["message"].endswith("RuntimeError: reset")
    assert said["extraInfo"]["timestamp"] == "7"


def test_many_ranks_write_no_more_together_than_sixty_four():
    pytest.importorskip("torch")
    from firstcause.record.observe.ranks import interval

    assert [interval(world) for world in (2, 64, 1024)] == [0.5, 0.5, 8.0]
    assert interval(2, watched=True) == 0.25


def test_a_rank_that_cannot_be_read_is_left_out(tmp_path):
    wrote(tmp_path, 0, [call(1)])
    (tmp_path / "ranks" / "1").mkdir()
    (tmp_path / "ranks" / "1" / "now.json").write_text('{"rank": 1, "wor')
    assert [s["rank"] for s in ranked.standings(str(tmp_path))] == [0]

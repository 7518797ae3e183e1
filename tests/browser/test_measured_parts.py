"""What is measured beside the figures of every step: modules, rows, memory, time, terms and events, in the DOM."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from canvases import PAINTED
from case.samples import diagnosis
from playwright.sync_api import expect
from view.projects import COLUMNS, MEMORY, PROFILE, recorded

from firstcause.case import open_case
from firstcause.record.journal import Journal
from firstcause.schema import Evidence, Hypothesis


def test_the_failing_step_in_modules_and_rows(tmp_path: Path, window: Callable, serve: Callable) -> None:
    recorded(tmp_path)
    seen = window()
    page = seen.page
    page.goto(f"{serve(tmp_path)}#run/r1")
    rows = page.locator("#modules tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("first bad op: log → -inf")
    expect(rows.nth(1)).to_contain_text("2 of 2 gradients not finite")
    expect(rows.nth(1)).to_contain_text("25 %")
    expect(rows.nth(1)).to_contain_text("-1 … 1, 1 not finite")
    assert rows.nth(1).locator("td span").first.evaluate("one => one.style.paddingLeft") == "16px"
    (batch,) = page.locator("#batch tbody tr").all()
    assert batch.inner_text().split("\t") == [
        "rain float32 [32, 24]",
        "10",
        "0 … 61.5",
        "0 … 9",
        "0, 1.5, 61.5, 0, 0, 0, 0, 0, …",
    ]
    assert seen.said == []


def test_what_commands_kept_and_what_was_looked_at(tmp_path: Path, window: Callable, serve: Callable) -> None:
    run = recorded(tmp_path)
    journal = Journal(run.file("rank-0-100.journal"))
    for step in (1, 20, 80):
        journal.event(
            "look", step=step, updates=[0.001, 0.002, 0.01], terms={"recon": 2.0 - step / 100, "kl": 0.5}
        )
    seen = window()
    page = seen.page
    page.goto(f"{serve(tmp_path)}#run/r1")
    terms = page.locator("section.plot", has_text="Terms of the loss").locator("canvas")
    expect(terms).to_have_attribute(
        "aria-label", "Terms of the loss, at some steps by step. recon: last 1.2; kl: last 0.5"
    )
    updates = page.locator("section.plot", has_text="Update over weight").locator("canvas")
    expect(updates).to_have_attribute(
        "aria-label",
        r"Update over weight, at some steps by step. "
        "lowest parameter: last 0.001; median: last 0.002; highest parameter: last 0.01",
    )
    lane = page.locator("section.lane")
    expect(lane.locator("canvas")).to_have_attribute("aria-label", "Events by step: note, 1 times")
    box = lane.locator("canvas").bounding_box()
    assert box
    lane.scroll_into_view_if_needed()
    lane.locator("canvas").hover(position={"x": 58 + (box["width"] - 66) * 70 / 119, "y": 18})
    expect(lane.locator(".now")).to_have_text("step 70: note the batch was not kept")
    # Commands that end while the page is open.
    run.write_json("profile.json", PROFILE)
    run.write_json("memory.json", MEMORY)
    expect(page.locator("#split .share").first).to_have_text("data75 %")
    assert page.locator("#split .bar i").first.evaluate("one => one.style.width") == "75%"
    steps = page.locator("#six li")
    expect(steps).to_have_count(6)
    expect(steps.nth(2)).to_have_text("✓ Who holds it? history (step 12)")
    expect(steps.nth(5)).to_contain_text("(step 14)")
    expect(steps.nth(3)).to_have_text("✓ Which statement feeds it? train.py:6 history.append(loss) (step 12)")
    copy = page.locator("section.plot", has_text="In the sealed copy").locator("canvas")
    expect(copy).to_have_attribute(
        "aria-label",
        "In the sealed copy by step. "
        "tensors: last 11.4 MiB; the process: last 298 MiB; tensors, let go of: last 977 KiB",
    )
    copy.scroll_into_view_if_needed()
    assert copy.evaluate(PAINTED) > 4
    assert seen.said == []


def test_how_often_codes_are_chosen(tmp_path: Path, window: Callable, serve: Callable) -> None:
    recorded(tmp_path)
    counts = {"as it was": [900, 60, 30, 10, 0, 0, 0, 0], "with codes set anew": [140] * 6 + [80, 80]}
    told = Evidence("counterfactual", True, "4 of 8 codes were used", {"counts": counts})
    chosen = Hypothesis("log-of-zero", None, 1, "confirmed", (told,))
    believed = diagnosis(hypotheses=(chosen,))
    root = str(tmp_path / ".firstcause")
    case = open_case(root, "r1", f"{root}/runs/r1", believed)
    seen = window()
    seen.page.goto(f"{serve(tmp_path)}#case/{case.id}")
    plot = seen.page.locator("#hypotheses section.plot")
    expect(plot.locator("h3")).to_contain_text("How often each was chosen, the most used first")
    expect(plot.locator(".legend")).to_contain_text("counts, as it was")
    expect(plot.locator("canvas")).to_have_attribute(
        "aria-label",
        "How often each was chosen, the most used first by number. "
        "counts, as it was: last 0; counts, with codes set anew: last 80",
    )
    plot.scroll_into_view_if_needed()
    assert plot.locator("canvas").evaluate(PAINTED) > 4
    assert seen.said == []


def test_an_imported_history_is_shown(tmp_path: Path, window: Callable, serve: Callable) -> None:
    from exchange.histories import BAD, trainer_state

    from firstcause.exchange.reading import read
    from firstcause.exchange.recording import record

    run = record(read(str(trainer_state(tmp_path))), str(tmp_path), "outputs").run()
    seen = window()
    page = seen.page
    page.goto(serve(tmp_path))
    expect(page.locator("#runs li .tag")).to_have_text("failed")
    page.locator("#runs a").click()
    expect(page.locator("#head h1")).to_have_text(run.id)
    expect(page.locator("#head")).to_contain_text("imported · 30 steps")
    expect(page.locator(".symptom")).to_contain_text(f"the loss is nan at step {BAD}")
    loss = page.locator("section.plot h3", has_text="Loss").first
    expect(loss).to_be_visible()
    evaluated = page.locator("section.plot", has_text="eval_loss").locator("canvas")
    expect(evaluated).to_have_attribute("aria-label", "eval_loss by step. rank 0: last 1")
    assert seen.said == []


def test_many_series_are_shown_when_asked_for(tmp_path: Path, window: Callable, serve: Callable) -> None:
    run = recorded(tmp_path)
    names = (*COLUMNS[:4], *(f"figure {n}" for n in range(30)))
    journal = Journal(run.file("rank-1-9.journal"))
    for step in range(5):
        journal.metrics(step, names, [1.0, 2.0, 3.0, 4.0, *(float(n) for n in range(30))])
    seen = window()
    page = seen.page
    page.goto(f"{serve(tmp_path)}#run/r1")
    page.wait_for_selector("main[data-ready=run]")
    last = page.locator("section.plot h3", has_text="figure 29")
    expect(last).to_have_count(0)
    page.get_by_role("button", name="Show 10 more figures").click()
    expect(last).to_have_count(1)
    expect(page.get_by_role("button", name="more figures")).to_be_hidden()
    assert seen.said == []

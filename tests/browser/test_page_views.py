"""Each view in a real Chromium: the record's numbers in the page, live, without a word on the console."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from canvases import PAINTED
from playwright.sync_api import expect
from view.projects import MEMORY, PROFILE, STEPS, opened, recorded, row, write_steps

from firstcause.case import approve, diagnosis_hash, diff_hash

YES = {"symptom": "y", "scope": "t", "side-effect": "y"}


def test_a_run(tmp_path: Path, window: Callable, serve: Callable) -> None:
    run = recorded(tmp_path)
    address = serve(tmp_path)
    seen = window()
    page = seen.page
    page.goto(f"{address}#run/r1")
    expect(page.locator("main[data-ready=run] h1")).to_have_text("python train.py")
    assert "token" not in page.url
    expect(page.locator(".symptom")).to_have_text("nan: the loss became nan at step 118 (train.py:6)")
    expect(page.locator("#head")).to_contain_text(f"exit code 0 · 12.3 s · {STEPS} steps")
    first = page.locator("table.births tbody tr").first
    expect(first).to_contain_text("log → -inf")
    expect(first).to_contain_text("train.py:6")
    expect(first).to_contain_text("1 row: 10")
    loss = page.locator("section.plot", has_text="Loss").locator("canvas").first
    expect(loss).to_have_attribute(
        "aria-label", f"Loss by step. rank 0: last {row(117)[0]:.4g}, not finite in 2 places"
    )
    assert loss.evaluate(PAINTED) > 4
    heat = page.locator("section.plot", has_text="Gradient norms by module").locator("canvas")
    expect(heat).to_have_attribute(
        "aria-label",
        "Gradient norms by module: 2 rows over 120 intervals of steps; not finite in net.0.weight, net.0.bias",
    )
    assert heat.evaluate(PAINTED) > 4
    loss.hover(position={"x": 58 + (1280 - 140) // 2, "y": 60})
    page.get_by_role("button", name="Zoom in").click()
    expect(page.locator("#zoom")).to_have_text("steps 30 to 89 of 119")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#zoom")).to_have_text("steps 45 to 104 of 119")
    page.keyboard.press("0")
    expect(page.locator("#zoom")).to_have_text("")
    box = loss.bounding_box()
    assert box
    left, wide = box["x"] + 58, box["width"] - 66
    page.mouse.move(left + wide * 60 / 119, box["y"] + 60)
    expect(page.locator(".plot .now").first).to_have_text("step 60: 50")
    write_steps(run, STEPS, STEPS + 5)
    expect(page.locator("#head")).to_contain_text(f"{STEPS + 5} steps")
    expect(page.locator("#live")).to_have_text("live")
    assert seen.said == []
    assert seen.of(address.partition("?")[0]) == []


def test_a_long_run_shows_more_where_one_looks_closer(
    tmp_path: Path, window: Callable, serve: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("firstcause.view.thinning.Thinned.__init__.__defaults__", (16,))
    recorded(tmp_path)
    seen = window()
    page = seen.page
    page.goto(f"{serve(tmp_path)}#run/r1")
    page.wait_for_selector("main[data-ready=run]")
    page.evaluate("window.scrollTo(0, 0)")
    loss = page.locator("section.plot", has_text="Loss").locator("canvas").first
    label = loss.get_attribute("aria-label")
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    with page.expect_response(lambda answer: "/window?" in answer.url) as found:
        pass
    assert found.value.json()["tracks"][0]["width"] == 1
    expect(loss).not_to_have_attribute("aria-label", label or "")
    assert seen.said == []


def test_a_case_is_approved_on_the_page(tmp_path: Path, window: Callable, serve: Callable) -> None:
    recorded(tmp_path)
    case = opened(tmp_path)
    seen = window()
    page = seen.page
    page.goto(serve(tmp_path))
    page.locator("#cases a").click()
    expect(page.locator("#cause")).to_have_text("log-of-zero at train.py:6")
    expect(page.locator("#source .here")).to_contain_text("return -(target * torch.log(p)")
    expect(page.locator(".diff .del")).to_have_text("5-    p = torch.sigmoid(logits).clamp(1e-8, 1 - 1e-8)")
    expect(page.locator(".diff .add")).to_have_text("5+    p = torch.sigmoid(logits).clamp(1e-6, 1 - 1e-6)")
    expect(page.locator("#hypotheses summary")).to_have_count(3)
    expect(page.locator("#hypotheses .spark .legend")).to_contain_text("losses, with the change")
    expect(page.locator("#strikes")).to_have_text("0 of 3")
    for name, value in YES.items():
        page.locator(f"input[name={name}][value={value}]").check()
    page.locator("#code").fill("WRONG1")
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#said")).to_contain_text("the code is another one")
    page.locator("#code").fill(page.locator("#shown").inner_text())
    page.get_by_role("button", name="Approve").click()
    expect(page.locator("#state")).to_have_text("approved")
    assert case.progress().case.state == "approved"
    assert case.progress().approval is not None
    # The refusal is the browser's own line about an answer of 409; the page said nothing else.
    assert [line for line in seen.said if "409" not in line] == []


def test_a_case_is_rejected_on_the_page(tmp_path: Path, window: Callable, serve: Callable) -> None:
    recorded(tmp_path)
    case = opened(tmp_path)
    seen = window()
    page = seen.page
    page.goto(f"{serve(tmp_path)}#case/{case.id}")
    page.locator("#because").fill("the clamp is meant")
    page.get_by_role("button", name="Reject").click()
    expect(page.locator("#state")).to_have_text("hypotheses")
    expect(page.locator("#remarks")).to_contain_text("the clamp is meant")
    assert case.progress().rejections[0].text == "the clamp is meant"
    assert seen.said == []


def test_what_happens_at_a_terminal_shows_on_the_page(
    tmp_path: Path, window: Callable, serve: Callable
) -> None:
    recorded(tmp_path)
    case = opened(tmp_path)
    seen = window()
    seen.page.goto(f"{serve(tmp_path)}#case/{case.id}")
    expect(seen.page.locator("#state")).to_have_text("diagnosed")
    expect(seen.page.locator("#live")).to_have_text("live")
    shown = case.progress().case.diagnosis
    assert shown
    approve(case, diagnosis_hash(shown), diff_hash(shown), "bob", YES)
    expect(seen.page.locator("#state")).to_have_text("approved")
    expect(seen.page.locator("main")).to_contain_text("by bob")
    expect(seen.page.locator("#approve")).to_have_count(0)
    assert seen.said == []


def test_without_a_person_the_page_only_shows(tmp_path: Path, window: Callable, serve: Callable) -> None:
    recorded(tmp_path)
    case = opened(tmp_path)
    seen = window()
    seen.page.goto(f"{serve(tmp_path, person='')}#case/{case.id}")
    expect(seen.page.locator("#unable")).to_contain_text("was not started at a terminal")
    expect(seen.page.locator("form")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_use_it(tmp_path: Path, window: Callable, serve: Callable, scheme: str) -> None:
    run = recorded(tmp_path, ranks=2)
    run.write_json("memory.json", MEMORY)
    run.write_json("profile.json", PROFILE)
    case = opened(tmp_path)
    address = serve(tmp_path)
    seen = window(width=375, scheme=scheme)
    for name, place in (("home", "#home"), ("run", "#run/r1"), ("case", f"#case/{case.id}")):
        seen.page.goto(f"{address}{place}")
        seen.page.wait_for_selector(f"main[data-ready={name}]")
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        # The page's policy allows no script from outside: axe is handed in through the tools of the browser.
        found = Axe().run(seen.page).response["violations"]
        grave = [
            (v["id"], v["nodes"][0]["html"][:120]) for v in found if v["impact"] in ("serious", "critical")
        ]
        assert grave == [], name
    before = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    seen.page.keyboard.press("d")
    assert seen.page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    expect(seen.page.locator("main[data-ready=case]")).to_be_visible()


def test_nothing_jumps_while_it_loads(tmp_path: Path, window: Callable, serve: Callable) -> None:
    recorded(tmp_path)
    seen = window()
    seen.page.add_init_script(
        "window.shift = 0; new PerformanceObserver(list => list.getEntries().forEach(e => { window.shift += e.value; }))"
        ".observe({ type: 'layout-shift', buffered: true })"
    )
    seen.page.goto(f"{serve(tmp_path)}#run/r1")
    seen.page.wait_for_selector("main[data-ready=run]")
    expect(seen.page.locator("#live")).to_have_text("live")
    assert seen.page.evaluate("window.shift") < 0.02

"""The report opened from disk with the network off, and hostile text in every field of a record."""

from __future__ import annotations

import dataclasses
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from case.samples import diagnosis
from playwright.sync_api import expect
from view.projects import COLUMNS, MEMORY, PROFILE, failing, opened, recorded, row

from firstcause.record.journal import Journal
from firstcause.schema import from_plain, to_plain
from firstcause.view.project import Project
from firstcause.view.reporting import report

HOSTILE = [
    "<img src=x onerror=window.hit=1>",
    "</script><script>window.hit=1</script>",
    '"><svg onload=window.hit=1>',
    "javascript:window.hit=1",
    "<!--<script>window.hit=1</script>",
    "${window.hit=1}{{window.hit=1}}",
    "\u202e<iframe srcdoc='<script>parent.hit=1</script>'>\x1b[2J",
]
PIECES = [
    *HOSTILE,
    *(
        "<",
        ">",
        '"',
        "'",
        "&",
        "`",
        "\\",
        "/",
        "=",
        " ",
        "\n",
        "\0",
        "\ufeff",
        "\u2028",
        "\ud800",
        "]]>",
        "-->",
        "<!--",
    ),
    *(
        "<script>",
        "</script>",
        "<svg/onload=",
        "<img src=x onerror=",
        "<style>@import'//x';</style>",
        "<base href=//x>",
    ),
    *(
        "window.hit=1",
        "constructor.constructor('hit=1')()",
        "__proto__",
        "toString",
        "data:text/html,",
        "//x.example/",
    ),
    *(
        "&lt;script&gt;",
        "\u003cscript\u003e",
        "${",
        "{{",
        "}}",
        "<a href=javascript:hit=1>",
        "<template>",
        "<math><mi>",
    ),
]
# Each project has some sixty fields, every one with another text.
MIXED = int(os.environ.get("FUZZ_EXAMPLES", "12"))


def test_the_file_opens_from_disk_without_a_network(tmp_path: Path, window: Callable) -> None:
    run = recorded(tmp_path)
    case = opened(tmp_path)
    out = tmp_path / "report.html"
    out.write_text(report(Project(str(tmp_path)), run), encoding="utf-8")
    seen = window(offline=True)
    page = seen.page
    page.goto(out.as_uri())
    expect(page.locator("main[data-ready=run] .symptom")).to_contain_text("the loss became nan")
    loss = page.locator("section.plot", has_text="Loss").locator("canvas").first
    expect(loss).to_have_attribute(
        "aria-label", f"Loss by step. rank 0: last {row(117)[0]:.4g}, not finite in 2 places"
    )
    page.get_by_role("link", name=case.id).click()
    expect(page.locator("#cause")).to_have_text("log-of-zero at train.py:6")
    expect(page.locator(".diff .add")).to_contain_text("1e-6")
    expect(page.locator("#gate")).to_contain_text(f"firstcause case approve {case.id}")
    expect(page.locator("form")).to_have_count(0)
    page.go_back()
    expect(page.locator("main[data-ready=run] h1")).to_have_text("python train.py")
    assert seen.said == []
    assert [one.partition("#")[0] for one in seen.of("data:")] == [out.as_uri()]


def poisoned(value: Any, text: Callable[[], str]) -> Any:
    """The value with another of ``text`` in place of every string in it."""
    if isinstance(value, str):
        return text()
    if isinstance(value, dict):
        return {key: poisoned(one, text) for key, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, text) for one in value]
    return value


def hostile_project(folder: Path, text: Callable[[], str]) -> None:
    """A run and a case in which every text that a program or a person may have written is one of ``text``."""
    run = recorded(folder)
    plain = json.loads(Path(run.file("run.json")).read_text())
    for key in ("python", "platform", "started", "git_revision"):
        plain[key] = text()
    plain |= {"command": [text(), text()], "notes": [text()], "versions": {text(): text()}, "report": text()}
    plain["symptoms"][0] |= {"message": text()}
    plain["symptoms"][0]["site"] |= {"file": text(), "text": text(), "function": text()}
    Path(run.file("run.json")).write_text(json.dumps(plain))
    facts = failing()
    facts |= {
        "bad_gradients": [text()],
        "message": text(),
        "bad_parameters": [text()],
        "not_replayable": text(),
    }
    facts["unit"] = poisoned(facts["unit"], text)
    trace = facts["replay"]["trace"]
    trace["activations"] = {text(): figures for figures in trace["activations"].values()}
    facts["replay"] = {**poisoned(facts["replay"], text), "exact": True}
    facts["kind"], facts["name"] = text(), text()
    Path(run.file("failures", "1-118-nan.json")).write_text(json.dumps(facts))
    for name, made in (("memory", MEMORY), ("profile", PROFILE)):
        Path(run.file(f"{name}.json")).write_text(json.dumps(poisoned(made, text)))
    journal = Journal(run.file("rank-0-100.journal"))
    journal.event(text(), step=3, text=text(), **{text().replace("step", ""): text()})
    journal.event("look", step=4, updates=[0.1, 0.2, 0.3], terms={text(): 0.5, text(): 0.25})
    columns = (*COLUMNS[:4], text(), f"grad_norm/{text()}")
    for step in range(8):
        journal.metrics(step, columns, row(step))
    believed = to_plain(diagnosis())
    believed["sections"] = {title: text() for title in believed["sections"]}
    believed["symptom"]["message"], believed["cause"] = text(), text()
    believed["missing"] = text()
    for one in believed["hypotheses"]:
        one["missing"] = text()
        for fact in one["evidence"]:
            fact |= {"text": text(), "values": {text(): [1.0, 2.0, 3.0, 4.0]}}
    believed["hypotheses"][1]["cause"] = believed["cause"]
    believed["fix"] |= {
        "summary": text(),
        "changes": text(),
        "does_not_fix": text(),
        "cause": believed["cause"],
    }
    from firstcause.schema import Diagnosis

    made = from_plain(Diagnosis, believed)
    opened(folder, **{field.name: getattr(made, field.name) for field in dataclasses.fields(made)})


def mixed(seed: int) -> Callable[[], str]:
    """Texts put together from pieces of markup, scripts and what breaks out of them; the same ones for a seed."""
    drawn = random.Random(seed)

    def text() -> str:
        return "".join(drawn.choice(PIECES) for _ in range(drawn.randint(1, 8)))

    return text


def looked_at(folder: Path, window: Callable, serve: Callable, text: Callable[[], str]) -> None:
    """Open every page of such a project, served and as a file: nothing runs, nothing is markup, nothing leads away."""
    hostile_project(folder, text)
    project = Project(str(folder))
    case = project.home()["cases"][0]["id"]
    address = serve(folder)
    out = folder / "report.html"
    out.write_text(report(project, project.run_folder("r1")), encoding="utf-8")
    seen = window()
    places = [f"{address}#home", f"{address}#run/r1", f"{address}#case/{case}"]
    for place in [*places, out.as_uri(), f"{out.as_uri()}#case/{case}", f"{address}#run/{text()}"]:
        seen.page.goto("about:blank")
        seen.page.goto(place)
        expect(seen.page.locator("main :is(h1, [role=alert])").first).to_be_visible()
        assert seen.page.evaluate("window.hit") is None
        assert seen.page.locator("main :is(img, svg, iframe, script)").count() == 0
        links = seen.page.eval_on_selector_all("main a", "all => all.map(one => one.getAttribute('href'))")
        assert [link for link in links if not link.startswith("#")] == []
    assert [line for line in seen.said if "404" not in line] == []


@pytest.mark.parametrize(
    "text", [*HOSTILE[:2], *(pytest.param(t, marks=pytest.mark.slow) for t in HOSTILE[2:])]
)
def test_hostile_text_is_text(tmp_path: Path, window: Callable, serve: Callable, text: str) -> None:
    looked_at(tmp_path, window, serve, lambda: text)


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in range(1, MIXED))])
def test_mixed_text_is_text(tmp_path: Path, window: Callable, serve: Callable, seed: int) -> None:
    looked_at(tmp_path, window, serve, mixed(seed))

"""How quickly a long run is shown: 100,000 steps of 2,000 series, as data, as a report, and in a real Chromium.

    python benchmarks/page.py [--steps N] [--series N] [--browser PATH]

Writes a journal of that size into a temporary folder (0.8 GB by default), and prints each time in seconds.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import shutil
import tempfile
import time
from array import array

from firstcause.record.folder import RunFolder, new_run_folder
from firstcause.record.journal import EVENT, HEADER, MAGIC, METRICS, SCHEMA
from firstcause.schema import Run
from firstcause.view.project import Project
from firstcause.view.reporting import report

FRAMES = """async () => {
  const spent = [];
  const buttons = [...document.querySelectorAll('.tools button')];
  let before = performance.now();
  for (let n = 0; n < 240; n += 1) {
    buttons[n % 60 < 30 ? 0 : n % 60 < 50 ? 1 : 3].click();
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    spent.push(now - before);
    before = now;
  }
  spent.sort((a, b) => a - b);
  return [spent[Math.floor(spent.length / 2)], spent[Math.floor(spent.length * .99)], spent.at(-1)];
}"""


def write_run(cwd: str, steps: int, series: int) -> RunFolder:
    """A run of a loss that falls, and norms of parameters in modules of eight, one of them with a spike of one step."""
    folder = new_run_folder(cwd, "long")
    name = os.path.basename(folder.path)
    started = "2026-01-01T00:00:00+0000"
    run = Run(name, ("python", "train.py"), cwd, started, "3.11", "linux", 3600.0, 0, observed=True)
    folder.write_run(run)
    names = [f"grad_norm/model.layers.{n // 8}.part.{n % 8}" for n in range(series - 4)]
    columns = ["loss", "grad_norm", "lr", "seconds", *names]
    drawn = random.Random(0)
    noise = array("f", (drawn.random() + 0.5 for _ in range(2 * series)))
    import json
    import struct
    import zlib

    step_of = struct.Struct("<q")

    def frame(kind: int, payload: bytes) -> bytes:
        return HEADER.pack(MAGIC, kind, 0, len(payload), zlib.crc32(payload, kind)) + payload

    with open(folder.file("rank-0-1.journal"), "wb") as file:
        file.write(frame(EVENT, json.dumps({"event": "start", "pid": 1}).encode()))
        file.write(frame(SCHEMA, json.dumps(columns).encode()))
        for step in range(steps):
            at = step % series
            row = noise[at : at + series]
            row[0] = math.exp(-step / steps) + 0.01 * noise[at]
            if step == steps // 3:
                row[0] = 50.0
            file.write(frame(METRICS, step_of.pack(step) + row.tobytes()))
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--series", type=int, default=2_000)
    parser.add_argument("--browser", default=shutil.which("chromium") or shutil.which("google-chrome"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as cwd:
        folder = write_run(cwd, args.steps, args.series)
        name = os.path.basename(folder.path)
        size = os.path.getsize(folder.file("rank-0-1.journal"))
        print(f"{args.steps} steps, {args.series} series, {size / 1e6:.0f} MB")
        begun = time.perf_counter()
        project = Project(cwd)
        page = project.run(name)
        print(f"data, first time     {time.perf_counter() - begun:6.2f} s")
        assert max(v for v in page["tracks"][0]["series"]["loss"]["high"] if v is not None) == 50.0
        begun = time.perf_counter()
        project.run(name)
        print(f"data, from then on   {time.perf_counter() - begun:6.2f} s")
        begun = time.perf_counter()
        text = report(Project(cwd), folder)
        print(f"report               {time.perf_counter() - begun:6.2f} s, {len(text) / 1e6:.2f} MB")
        path = os.path.join(cwd, "report.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        if args.browser is None:
            print("no Chromium was found: the page was not opened")
            return
        _open(path, args.browser)


def _open(path: str, browser: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"file://{path}")
        page.wait_for_selector("main[data-ready=run]")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        drawn = page.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => done(performance.now())))"
        )
        print(f"first paint          {paint / 1000:6.2f} s, all plots drawn {drawn / 1000:.2f} s")
        for what, place in (("the loss", 0), ("the heat map", -1)):
            page.locator("section.plot.wide canvas").nth(place).scroll_into_view_if_needed()
            page.wait_for_timeout(500)
            middle, slow, worst = page.evaluate(FRAMES)
            said = f"{middle:6.1f} ms median, {slow:.1f} ms at 99 %, {worst:.1f} ms worst"
            print(f"frames of a zoom     {said}, with {what} in sight")
        chromium.close()


if __name__ == "__main__":
    main()

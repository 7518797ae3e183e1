"""Draws docs/screens: each view of the page, light and dark, wide and as on a phone, of runs that are recorded for it.

python docs/screens.py [FOLDER]    # FOLDER: a project with a run and a case, instead of recording the demonstration
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, sync_playwright

from firstcause.view.gate import Gate
from firstcause.view.project import Project
from firstcause.view.server import application

ROOT = Path(__file__).resolve().parents[1]
SCREENS = ROOT / "docs" / "screens"
TOKEN = "drawn"
SIZES = {"wide": 1100, "phone": 375}
# A picture is looked at, not scrolled.
HIGHEST = {"wide": 1500, "phone": 3000}
# What is drawn from its middle on, and how many pixels of it.
LAST = {"measured": 1000}
TO_MEASURED = """() => {
  const part = document.querySelector('#split') || document.querySelector('#six');
  scrollTo({ top: part.getBoundingClientRect().top + scrollY - 150, behavior: 'instant' });
}"""
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

# Keeps the graph of every step, and takes its time.
TIDES = """\
import torch
from torch import nn

torch.manual_seed(0)
gauges = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 24))
optimizer = torch.optim.AdamW(gauges.parameters(), lr=1e-3)
seen = []
for step in range(120):
    levels, tides = torch.randn(256, 512), torch.randn(256, 24)
    error = nn.functional.mse_loss(gauges(levels), tides)
    spread = 0.01 * gauges(levels).var()
    loss = error + spread
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen.append(gauges(levels[:8]).mean())
"""


def recorded(folder: Path) -> Path:
    """The demonstration's run and its case, and before it a run that was looked into for its memory and its pace."""
    for file in (ROOT / "demo" / "nan").glob("*.py"):
        shutil.copy(file, folder)
    (folder / "tides.py").write_text(TIDES)
    for words in (
        ["run", "--memory", "python", "tides.py"],
        ["profile", "--run", "last", "-q"],
        ["run", "python", "train.py"],
        ["diagnose", "last", "--yes"],
    ):
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "firstcause", *words]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return folder


def draw(browser: Browser, address: str, places: dict[str, str]) -> None:
    for scheme in ("light", "dark"):
        for size, width in SIZES.items():
            page = browser.new_page(
                viewport={"width": width, "height": 800},
                color_scheme=scheme,  # type: ignore[arg-type]
            )
            for name, place in places.items():
                page.goto("about:blank")
                page.goto(f"{address}{place}")
                page.wait_for_selector("main[data-ready]")
                page.wait_for_timeout(400)
                high = min(HIGHEST[size], page.evaluate("document.documentElement.scrollHeight"))
                page.set_viewport_size({"width": width, "height": LAST.get(name, high)})
                if name in LAST:
                    page.evaluate(TO_MEASURED)
                page.wait_for_timeout(400)
                page.screenshot(path=SCREENS / f"{name}-{scheme}-{size}.png")
                page.set_viewport_size({"width": width, "height": 800})
            page.close()


def main() -> None:
    chromium = os.environ.get("FIRSTCAUSE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    SCREENS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "floods"
        made.mkdir()
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else recorded(made)
        project = Project(str(folder))
        home = project.home()
        places = {
            "home": "#home",
            "run": f"#run/{home['runs'][0]['id']}",
            "measured": f"#run/{home['runs'][-1]['id']}",
            "case": f"#case/{home['cases'][0]['id']}",
        }
        bound = socket.create_server(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        app = application(project, Gate("a person"), port, TOKEN)
        config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: server.run(sockets=[bound]), daemon=True)
        thread.start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            draw(browser, f"http://127.0.0.1:{port}/?token={TOKEN}", places)
            browser.close()
        server.should_exit = True
        thread.join(10)


if __name__ == "__main__":
    main()

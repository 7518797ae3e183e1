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
HIGHEST = 1500
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def recorded(folder: Path) -> Path:
    """The demonstration's run and its case."""
    for file in (ROOT / "demo" / "nan").glob("*.py"):
        shutil.copy(file, folder)
    for words in (["run", "python", "train.py"], ["diagnose", "last", "--yes"]):
        subprocess.run(
            [sys.executable, "-m", "firstcause", *words], cwd=folder, check=True, capture_output=True
        )
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
                page.wait_for_selector(f"main[data-ready={name}]")
                page.wait_for_timeout(400)
                high = min(HIGHEST, page.evaluate("document.documentElement.scrollHeight"))
                page.set_viewport_size({"width": width, "height": high})
                page.wait_for_timeout(200)
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

"""A real Chromium, and the page's server on a port of this machine; skipped where no Chromium is found."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, sync_playwright
from view.serving import PERSON, TOKEN

from firstcause.view.gate import Gate
from firstcause.view.project import Project
from firstcause.view.server import application

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def _chromium() -> str | None:
    named = os.environ.get("FIRSTCAUSE_CHROMIUM")
    return named or next((path for name in NAMES if (path := shutil.which(name))), None)


# Of a module and not of the session: while it is open its event loop runs, and no other test of the process may have one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = _chromium()
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        if path is None and not os.path.exists(own):
            pytest.skip("no Chromium: `make chromium` gets one, FIRSTCAUSE_CHROMIUM names another")
        arguments = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
        made = playwright.chromium.launch(executable_path=path or own, args=arguments)
        yield made
        made.close()


@dataclass
class Watched:
    """A window, what its console said, what its scripts raised, and every address that it asked for."""

    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def of(self, base: str) -> list[str]:
        """The addresses that do not lie below ``base``."""
        return [one for one in self.asked if not one.startswith((base, "data:"))]


@pytest.fixture
def window(browser: Browser) -> Iterator[Callable[..., Watched]]:
    made = []

    def open_window(width: int = 1280, scheme: str = "light", offline: bool = False) -> Watched:
        context = browser.new_context(
            viewport={"width": width, "height": 860},
            color_scheme=scheme,  # type: ignore[arg-type]
            offline=offline,
        )
        watched = Watched(context.new_page())
        watched.page.on("console", lambda message: watched.said.append(f"{message.type}: {message.text}"))
        watched.page.on("pageerror", lambda error: watched.said.append(str(error)))
        watched.page.on("dialog", lambda dialog: watched.said.append(f"dialog {dialog.message}"))
        watched.page.on("request", lambda request: watched.asked.append(request.url))
        watched.page.set_default_timeout(15_000)
        made.append(context)
        return watched

    yield open_window
    for context in made:
        context.close()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Serves a folder and gives the address, token included."""
    monkeypatch.setattr("firstcause.view.server.EVERY", 0.1)
    running = []

    def start(cwd: Path, person: str = PERSON) -> str:
        bound = socket.create_server(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        app = application(Project(str(cwd)), Gate(person), port, TOKEN)
        config = uvicorn.Config(
            app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1, access_log=False
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: server.run(sockets=[bound]), daemon=True)
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{port}/?token={TOKEN}"

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join(10)

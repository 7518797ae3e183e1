"""The local server of the page: read-only but for the gate, on the loopback interface."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import uvicorn
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from firstcause.errors import FirstcauseError, InputError
from firstcause.view.gate import Gate
from firstcause.view.guard import App, Guard
from firstcause.view.page import served_page, static
from firstcause.view.project import Project

HOST = "127.0.0.1"
# How often a page that is open is looked after, and how often silence is broken so that both sides notice an end.
EVERY, BEAT = 1.0, 15.0
_LARGEST_BODY = 64 << 10


class _Json(JSONResponse):
    """Every other sign as an escape: a record may hold halves of signs, which UTF-8 does not."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def application(
    project: Project,
    gate: Gate,
    port: int,
    token: str,
    start: str = "",
    ended: Callable[[], bool] = lambda: False,
) -> App:
    """The pages and their data behind the guard; ``start`` is what is shown first, ``ended`` stops what is live."""
    pages: dict[str, Callable[[str], dict[str, Any]]] = {
        "home": lambda _: project.home(),
        "run": project.run,
        "case": lambda name: _case(project, gate, name),
    }

    def page(request: Request) -> Response:
        return HTMLResponse(served_page(start))

    def part(request: Request) -> Response:
        found = static(request.path_params["name"])
        return Response(found[0], media_type=found[1]) if found else Response("not found\n", 404)

    def data(kind: str) -> Callable[[Request], Response]:
        return lambda request: _answer(lambda: pages[kind](request.path_params.get("name", "")))

    def window(request: Request) -> Response:
        try:
            first, last = int(request.query_params["first"]), int(request.query_params["last"])
        except (KeyError, ValueError):
            return _Json({"message": "first and last are steps"}, 400)
        return _answer(lambda: project.window(request.path_params["name"], first, last))

    async def live(request: Request) -> Response:
        kind, name = request.query_params.get("kind", "home"), request.query_params.get("name", "")
        if kind not in pages:
            return _Json({"message": f"no page of kind {kind!r}"}, 404)
        stream = _changes(project, lambda: pages[kind](name), kind, name, ended)
        return StreamingResponse(stream, media_type="text/event-stream")

    async def act(request: Request) -> Response:
        body = await _body(request)
        name = request.path_params["name"]
        acts = {"approve": gate.approve, "reject": gate.reject}
        if body is None or request.path_params["act"] not in acts:
            return _Json({"message": "not understood"}, 400)

        def done() -> dict[str, Any]:
            acts[request.path_params["act"]](project.case_folder(name), body)
            return _case(project, gate, name)

        return await run_sync(lambda: _answer(done))

    routes = [
        Route("/", page),
        Route("/static/{name}", part),
        Route("/api/home", data("home")),
        Route("/api/live", live),
        Route("/api/runs/{name}", data("run")),
        Route("/api/runs/{name}/window", window),
        Route("/api/cases/{name}", data("case")),
        Route("/api/cases/{name}/{act}", act, methods=["POST"]),
    ]
    return Guard(Starlette(routes=routes), port, token)


def serve(project: Project, person: str, port: int, start: str, told: Callable[[str], None]) -> None:
    """Serve until interrupted; ``told`` is given the address, token included, once the socket is bound.

    Raises ``InputError`` where the port is taken.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((HOST, port))
            # From here on a browser that is quicker than the server waits.
            bound.listen()
        except (OSError, OverflowError) as error:
            message = f"port {port} of {HOST} cannot be used: {error}"
            raise InputError("port-taken", message, "choose another with --port, or leave it out") from error
        port = bound.getsockname()[1]
        token = secrets.token_urlsafe(24)
        app = application(project, Gate(person), port, token, start, lambda: server.should_exit)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, lifespan="off", timeout_graceful_shutdown=5
        )
        server = uvicorn.Server(config)
        told(f"http://{HOST}:{port}/?token={token}")
        server.run(sockets=[bound])


def _case(project: Project, gate: Gate, name: str) -> dict[str, Any]:
    return {**project.case(name), "gate": gate.shown(project.case_folder(name))}


def _answer(make: Callable[[], dict[str, Any]]) -> Response:
    try:
        return _Json(make())
    except FirstcauseError as error:
        status = 409 if error.kind == "gate" else 404
        return _Json({"message": str(error), "slug": error.slug}, status)


async def _body(request: Request) -> dict[str, Any] | None:
    parts = b""
    async for part in request.stream():
        parts += part
        if len(parts) > _LARGEST_BODY:
            return None
    try:
        value = json.loads(parts)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


async def _changes(
    project: Project, make: Callable[[], dict[str, Any]], kind: str, name: str, ended: Callable[[], bool]
) -> AsyncIterator[str]:
    """The page's data whenever the files behind it have changed."""
    yield ": open\n\n"
    before = await run_sync(lambda: _signature(project, kind, name))
    quiet = 0.0
    while not ended():
        await anyio.sleep(EVERY)
        quiet += EVERY
        now = await run_sync(lambda: _signature(project, kind, name))
        if now != before:
            before, quiet = now, 0.0
            answer = await run_sync(lambda: _answer(make))
            if answer.status_code == 200:
                yield f"event: page\ndata: {bytes(answer.body).decode()}\n\n"
        elif quiet >= BEAT:
            quiet = 0.0
            yield ": still here\n\n"


def _signature(project: Project, kind: str, name: str) -> tuple[Any, ...]:
    try:
        return project.signature(kind, name)
    except FirstcauseError:
        # Removed while the page was open: it stays as it was.
        return ()

"""Who may ask the server: this machine, by this address, with the token that was printed at its start."""

from __future__ import annotations

import http.cookies
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """Lets through what names this host and holds the token, and what writes only from the page itself.

    The Host header is checked because another site's name may be made to lead to this machine; the token, because
    other people may have accounts on it; the Origin, because another page in the same browser may send a form.
    """

    def __init__(self, app: App, port: int, token: str) -> None:
        self._app = app
        self._token = token
        self._cookie = f"firstcause-{port}"
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        given = [value for name, value in headers if name == "host"]
        if len(given) != 1 or given[0] not in self._hosts:
            await _refuse(send, 421, "this server answers to 127.0.0.1 alone")
            return
        shown = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        known = _equal(shown, self._token)
        if not known and not any(_equal(c, self._token) for c in self._cookies(headers)):
            await _refuse(send, 403, "open the address that `firstcause view` printed: it holds the token")
            return
        if scope["method"] not in ("GET", "HEAD") and not _from_here(headers, given[0]):
            await _refuse(send, 403, "this was not sent by the page itself")
            return

        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *HEADERS]
                if known:
                    text = f"{self._cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/"
                    message["headers"].append((b"set-cookie", text.encode()))
            await send(message)

        await self._app(scope, receive, sending)

    def _cookies(self, headers: list[tuple[str, str]]) -> list[str]:
        found = []
        for name, value in headers:
            if name == "cookie":
                jar = http.cookies.SimpleCookie()
                try:
                    jar.load(value)
                except http.cookies.CookieError:
                    # Another server's, under the same host.
                    continue
                if self._cookie in jar:
                    found.append(jar[self._cookie].value)
        return found


def _equal(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


def _from_here(headers: list[tuple[str, str]], host: str) -> bool:
    said = dict(headers)
    kind = said.get("content-type", "").partition(";")[0].strip()
    return said.get("origin") == f"http://{host}" and kind == "application/json"


async def _refuse(send: Send, status: int, why: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"firstcause: {why}\n".encode()})

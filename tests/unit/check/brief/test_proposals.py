"""The language model may point, the text decides: a local server plays the model."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from firstcause.check.brief import Text, read
from firstcause.check.brief.proposals import propose
from firstcause.errors import InputError

TEXT = Text(
    "Half of what Ana took would be right, so let us say 0.00005 for the speed of learning.\nTake adamw.",
    "brief.md",
)


@contextmanager
def server(
    reply: bytes, status: int = 200, headers: dict[str, str] | None = None
) -> Iterator[tuple[str, list[Any]]]:
    seen: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(
                (
                    self.path,
                    dict(self.headers),
                    json.loads(self.rfile.read(int(self.headers["Content-Length"]))),
                )
            )
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: Any) -> None:
            return

    http = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/v1", seen
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def completion(content: str) -> bytes:
    return json.dumps({"choices": [{"message": {"content": content}}]}).encode()


def proposals(*entries: dict[str, Any]) -> bytes:
    return completion("Here it is:\n```json\n" + json.dumps(list(entries)) + "\n```")


def test_a_quote_that_yields_its_value_counts_and_is_marked() -> None:
    reply = proposals({"key": "learning_rate", "quote": "0.00005 for the speed of learning", "value": 5e-5})
    with server(reply) as (url, seen):
        found = propose([TEXT], read([TEXT]), url, "small", "secret")
    assert [(i.key, i.value, i.strength, i.line) for i in found] == [("learning_rate", 5e-5, "may", 1)]
    assert "language model" in found[0].origin
    path, headers, body = seen[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer secret"
    assert body["model"] == "small"


@pytest.mark.parametrize(
    "entry",
    [
        {"key": "learning_rate", "quote": "0.00005 for the speed", "value": 1e-4},
        {"key": "learning_rate", "quote": "lr 0.00005", "value": 5e-5},
        {"key": "batch_size", "quote": "0.00005 for the speed of learning", "value": 5e-5},
        {"key": "no_such_key", "quote": "0.00005", "value": 5e-5},
        {"key": "optimizer", "quote": "Take adamw", "value": "sgd"},
        {"key": "learning_rate", "quote": 5, "value": 5e-5},
    ],
)
def test_what_the_text_does_not_bear_out_is_left_out(entry: dict[str, Any]) -> None:
    with server(proposals(entry)) as (url, _):
        assert propose([TEXT], [], url, "small") == []


def test_what_is_known_is_never_changed() -> None:
    known = read([TEXT])
    assert [i.value for i in known if i.key == "optimizer"] == ["adamw"]
    with server(proposals({"key": "optimizer", "quote": "Take adamw", "value": "adamw"})) as (url, _):
        assert propose([TEXT], known, url, "small") == []


@pytest.mark.parametrize("content", ["no list at all", "[1, 2", "[[]]", "[1]", "[" * 5000])
def test_an_answer_without_a_list_proposes_nothing(content: str) -> None:
    with server(completion(content)) as (url, _):
        assert propose([TEXT], [], url, "small") == []


def test_a_server_that_speaks_otherwise_is_named() -> None:
    with server(b"<html>") as (url, _), pytest.raises(InputError, match="chat-completions"):
        propose([TEXT], [], url, "small")


def test_no_redirect_is_followed() -> None:
    with (
        server(b"", 302, {"Location": "http://127.0.0.1:9/"}) as (url, seen),
        pytest.raises(InputError, match="302"),
    ):
        propose([TEXT], [], url, "small", "secret")
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("url", "said"), [("http://127.0.0.1:9", "did not answer"), ("file:///etc/hosts", "no http")]
)
def test_an_address_that_cannot_be_used(url: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        propose([TEXT], [], url, "small", seconds=5)

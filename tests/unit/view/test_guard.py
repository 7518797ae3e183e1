"""Who is let in, and what a page of the server may do."""

from __future__ import annotations

from pathlib import Path

import pytest

from view.projects import opened, recorded
from view.serving import ADDRESS, PORT, TOKEN, client, post

PLACES = [
    "/",
    "/static/main.js",
    "/api/home",
    "/api/runs/r1",
    "/api/runs/r1/window?first=0&last=9",
    "/api/live",
]


@pytest.mark.parametrize("place", PLACES)
def test_without_the_token_nothing_is_shown(tmp_path: Path, place: str) -> None:
    recorded(tmp_path)
    stranger = client(tmp_path, known=False)
    assert stranger.get(place).status_code == 403
    wrong = place + ("&" if "?" in place else "?") + "token=a-token-that-somebody-guesses"
    assert stranger.get(wrong).status_code == 403
    stranger.cookies.set(f"firstcause-{PORT}", "another")
    assert stranger.get(place).status_code == 403


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(tmp_path: Path) -> None:
    recorded(tmp_path)
    visitor = client(tmp_path, known=False)
    answer = visitor.get(f"/?token={TOKEN}")
    assert answer.status_code == 200
    assert {"HttpOnly", "SameSite=Strict"} <= {p.strip() for p in answer.headers["set-cookie"].split(";")}
    assert TOKEN not in answer.text
    assert visitor.get("/api/runs/r1").json()["id"] == "r1"


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", ""]
)
def test_another_host_is_refused_even_with_the_token(tmp_path: Path, host: str) -> None:
    recorded(tmp_path)
    answer = client(tmp_path).get(f"/api/home?token={TOKEN}", headers={"Host": host})
    assert answer.status_code == 421
    assert "runs" not in answer.text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", f"https://127.0.0.1:{PORT}", "http://127.0.0.1"]
)
@pytest.mark.parametrize("act", ["approve", "reject"])
def test_another_origin_changes_nothing(tmp_path: Path, origin: str, act: str) -> None:
    recorded(tmp_path)
    case = opened(tmp_path)
    events = case.progress().events
    assert post(client(tmp_path), f"/api/cases/{case.id}/{act}", {"because": "x"}, Origin=origin)[0] == 403
    assert case.progress().events == events


def test_a_form_of_another_page_changes_nothing(tmp_path: Path) -> None:
    recorded(tmp_path)
    case = opened(tmp_path)
    answer = client(tmp_path).post(
        f"/api/cases/{case.id}/reject",
        content='{"because": "x"}',
        headers={"Origin": ADDRESS, "Content-Type": "text/plain"},
    )
    assert answer.status_code == 403
    assert case.progress().case.state == "diagnosed"


def test_every_answer_says_what_the_page_may_do(tmp_path: Path) -> None:
    recorded(tmp_path)
    visitor = client(tmp_path)
    for place in ["/", "/static/main.js", "/api/home", "/api/runs/none", "/nothing"]:
        headers = visitor.get(place).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")


@pytest.mark.parametrize("name", ["../page.py", "..%2fpage.py", "index.html", "none.js", "%2e%2e%2fguard.py"])
def test_only_the_page_s_own_parts_are_sent(tmp_path: Path, name: str) -> None:
    recorded(tmp_path)
    assert client(tmp_path).get(f"/static/{name}").status_code == 404


def test_what_is_not_there_says_so(tmp_path: Path) -> None:
    recorded(tmp_path)
    answer = client(tmp_path).get("/api/runs/none")
    assert (answer.status_code, answer.json()["slug"]) == (404, "run-missing")
    assert client(tmp_path).get("/api/runs/r1/window?first=a&last=2").status_code == 400

"""The step of the action that keeps one comment at the pull request: changed where it stands, else written anew.

A token that may not write comments, as that of a pull request from a fork, ends in a warning: the job's summary has the
same text.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

MARKER = "<!-- firstcause -->"
PAGE = 100
# Of a pull request with more comments the newest pages are not looked through.
PAGES = 30


def main(path: str) -> int:
    """0, also where the comment may not be written; 2 where this is no pull request."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    number = (event.get("pull_request") or {}).get("number")
    if number is None:
        print(
            "::error title=firstcause::this event is no pull request, so that there is nothing to comment on"
        )
        return 2
    body = {"body": Path(path).read_text(encoding="utf-8")}
    comments = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    try:
        known = earlier(f"{comments}/{number}/comments")
        if known is None:
            ask("POST", f"{comments}/{number}/comments", body)
        else:
            ask("PATCH", f"{comments}/comments/{known}", body)
    except urllib.error.HTTPError as error:
        if error.code not in (401, 403, 404):
            raise
        print(
            f"::warning title=firstcause::the comment was refused ({error.code}): give the job the permission "
            "pull-requests: write; the job's summary has the same text"
        )
    return 0


def earlier(comments: str) -> int | None:
    """The number of the comment that an earlier run has written; a person's with the same first line is left alone."""
    for page in range(1, PAGES + 1):
        found = ask("GET", f"{comments}?per_page={PAGE}&page={page}")
        for one in found:
            if str(one["body"]).startswith(MARKER) and (one.get("user") or {}).get("type") == "Bot":
                return int(one["id"])
        if len(found) < PAGE:
            break
    return None


def ask(method: str, path: str, content: dict[str, str] | None = None) -> Any:
    """One request to GitHub's API; raises ``HTTPError`` where it is refused."""
    request = urllib.request.Request(
        os.environ.get("GITHUB_API_URL", "https://api.github.com") + path,
        data=json.dumps(content).encode() if content is not None else None,
        method=method,
        headers={
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "X-GitHub-Api-Version": "2022-11-28",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

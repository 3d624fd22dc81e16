"""`make demo` tells its story, and docs/how-it-works.md shows what it really says."""

import contextlib
import http.client
import os
import re
import signal
import subprocess
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).parent.parent


def _packed(text: str) -> str:
    """Text without what a terminal or a page puts between its words, and without today's date and times."""
    return re.sub(r"\(todayis[0-9-]{10}\)|today\d\d:\d\d", "", re.sub(r"[\s│]+", "", text))


def test_the_demo_ends_well_and_the_docs_show_the_brief_that_it_prints(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "demo" / "story.py")],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path), "COLUMNS": "110"},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    shown = re.search(r"(<backstory-notes .*?</backstory-notes>)", done.stdout, re.DOTALL)
    page = (ROOT / "docs" / "how-it-works.md").read_text("utf-8")
    in_docs = re.search(r"```\n(<backstory-notes .*?</backstory-notes>)\n```", page, re.DOTALL)
    assert shown is not None
    assert in_docs is not None
    assert _packed(in_docs[1]) == _packed(shown[1])
    assert re.search(r"^decision +Let's sign with RS256", done.stdout, re.MULTILINE), "the search finds why"
    assert "from the daily log" in done.stdout
    assert re.search(r"The user decided: sign with RS256 instead of HS256", done.stdout), "the log's excerpt"
    assert re.search(r"concepts/decision-sign-with-rs256\S*\.md", done.stdout), "the wiki's excerpt"
    assert "## Key Points" in done.stdout
    by_model = _packed(done.stdout.partition("what Wednesday's agent is told")[2])
    assert "Loginsworkagain:shop/auth/keys.pyloadstheprevioussigningkeytoo" in by_model
    assert "1call," in by_model
    assert "Editingshop/auth/jwt.py" in _packed(done.stdout.partition("told better now")[2]), "it gave way"
    assert "0 hits" in done.stdout, "the token of the story is nowhere in the home"
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"


def opened(link: str) -> str:
    """The page behind a link; its name ends in .localhost, which not every system looks up."""
    parts = urllib.parse.urlsplit(link)
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", parts.port or 80, timeout=60)) as asks:
        asks.request("GET", f"{parts.path}?{parts.query}", headers={"Host": parts.netloc})
        entered = asks.getresponse()
        entered.read()
        cookie = entered.getheader("set-cookie", "").partition(";")[0]
        asks.request("GET", "/", headers={"Host": parts.netloc, "Cookie": cookie})
        return asks.getresponse().read().decode()


def test_the_viewer_explains_itself_over_the_story(tmp_path: Path) -> None:
    """Started as a new user would: the first page has the session, what was learned, and where to go."""
    demo = subprocess.Popen(
        [sys.executable, str(ROOT / "demo" / "story.py"), "--serve"],
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "TMPDIR": str(tmp_path),
            "COLUMNS": "110",
            "BROWSER": "true",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert demo.stdout is not None
    with demo.stdout:
        link = next((line.strip() for line in demo.stdout if "/enter?key=" in line), "")
        page = opened(link)
        os.killpg(demo.pid, signal.SIGINT)
        assert "RS256" in page
        assert "As it happens" in page
        assert "Last learned" in page
        assert "For real" in demo.stdout.read()
    assert demo.wait(60) == 0
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"

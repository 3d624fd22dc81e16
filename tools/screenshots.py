"""Photograph every page of the viewer, light and dark, over the sample home: writes docs/screenshots/.

python tools/screenshots.py [FOLDER]
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Browser  # noqa: E402
from tests.browser import chromium  # noqa: E402
from tests.browser.sample import fill  # noqa: E402
from tests.web.viewer import Viewer  # noqa: E402

WIDE = {"width": 1360, "height": 860}
PHONE = {"width": 375, "height": 760}
_CONNECTED = ("claude-code", "codex", "opencode", "qwen-code")


def pages(viewer: Viewer) -> dict[str, str]:
    """Name and path of everything that is photographed."""
    found = viewer.ask("GET", "/api/sessions?limit=50").json["sessions"]
    login = next(each for each in found if each["title"].startswith("Logins"))
    vault = next(path.name for path in sorted((viewer.home / "knowledge").glob("webshop-*")))
    memories = viewer.ask("GET", "/api/memories?kind=decision").json["memories"]
    return {
        "overview": "/",
        "sessions": "/sessions",
        "session": f"/sessions/{login['id']}",
        "search": "/search?q=which+algorithm+do+tokens+use&explain=1",
        "memories": "/memories",
        "memory": f"/memories/{memories[0]['id']}",
        "forget": f"/forget?handle={memories[0]['id']}",
        "review": "/review",
        "knowledge": f"/knowledge?vault={vault}",
        "brief": "/brief",
        "health": "/health?examine=1",
        "settings": "/settings",
    }


def photograph(browser: Browser, viewer: Viewer, target: Path) -> None:
    """All pages in light, the first ones in dark and on a phone."""
    looks = (("", WIDE, "light"), ("-dark", WIDE, "dark"), ("-phone", PHONE, "light"))
    for suffix, size, scheme in looks:
        context = browser.new_context(viewport=size, color_scheme=scheme, device_scale_factor=1)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(viewer.url + viewer.ask("POST", "/links").json["link"])
        for name, path in pages(viewer).items():
            if suffix and name not in ("overview", "session", "memories"):
                continue
            page.goto(viewer.url + path)
            page.wait_for_timeout(300)
            page.screenshot(path=target / f"{name}{suffix}.png", full_page=name == "session" and not suffix)
        context.close()


def main(target: Path) -> None:
    """The sample, the server, the camera."""
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="backstory-shots-") as folder:
        house = fill(Path(folder) / "sam")
        for command in (("install", "--yes", *_CONNECTED), ("compile", "--all")):
            subprocess.run(
                [sys.executable, "-m", "backstory", *command],
                env={
                    **os.environ,
                    "BACKSTORY_HOME": str(house.home.root),
                    "HOME": str(house.home.root.parent),
                },
                cwd=house.project,
                check=True,
                capture_output=True,
            )
        house.close()
        viewer = Viewer(house.home.root)
        try:
            with chromium.started() as browser:
                photograph(browser, viewer, target)
        finally:
            viewer.ends()
    for file in sorted(target.glob("*.png")):
        print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "screenshots")

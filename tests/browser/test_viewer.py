"""The viewer as people see it, in a real browser: each page, live, by keyboard, in the dark, on a phone, read aloud."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from backstory import clock
from backstory.capture.hook_bundle import write_hook_files
from backstory.hook.hook_command import hook_command
from backstory.model import MemoryKind, MemoryStatus
from backstory.web.browser import forwarding_page
from tests.browser.conftest import Opens, Stage
from tests.web.viewer import Viewer

pytestmark = pytest.mark.browser

PLACES = {
    "/": "Overview", "/sessions": "Sessions", "/search": "Search", "/memories": "Memories", "/review": "Review",
    "/knowledge": "Knowledge", "/brief": "Brief", "/health": "Health", "/settings": "Settings",
}  # fmt: skip


def a_session(viewer: Viewer) -> str:
    found = viewer.ask("GET", "/api/sessions?limit=50").json["sessions"]
    return str(next(each["id"] for each in found if each["title"].startswith("Logins")))


def a_memory(viewer: Viewer, kind: str = "decision") -> dict[str, Any]:
    found: dict[str, Any] = viewer.ask("GET", f"/api/memories?kind={kind}&status=candidate").json["memories"][
        0
    ]
    return found


def every_page(viewer: Viewer) -> list[str]:
    session = a_session(viewer)
    event = viewer.ask("GET", f"/api/sessions/{session}").json["events"][1]["id"]
    memory = a_memory(viewer)["id"]
    more = (
        f"/sessions/{session}",
        f"/sessions?week={clock.day_of(clock.now_ms())}",
        f"/events/{event}",
        f"/memories/{memory}",
        f"/memories?did=reject~{memory}.restore",
        f"/forget?handle={memory}",
    )
    return [*PLACES, *more, "/search?q=which+algorithm&explain=1"]


def test_every_place_is_a_click_away(opens: Opens) -> None:
    page = opens("/")
    for path, name in PLACES.items():
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True).click()
        expect(page).to_have_url(f"{page.url.split('/', 3)[0]}//{page.url.split('/', 3)[2]}{path}")
        current = page.locator(".side nav [aria-current=page]")
        expect(current).to_have_text(name)


def test_a_link_works_once_and_a_stranger_is_told_what_to_do(opens: Opens, stage: Stage) -> None:
    page = opens("/")
    stranger = page.context.browser.new_context().new_page()  # type: ignore[union-attr]
    stranger.goto(stage.viewer.url)
    expect(stranger.get_by_text("Open the link that")).to_be_visible()
    stranger.context.close()


def test_the_file_that_serve_opens_lets_the_browser_in(
    browser: Browser, stage: Stage, tmp_path: Path
) -> None:
    """The key is in no argument; the cookie belongs to a name of this run, and to no other server."""
    file = tmp_path / "open-viewer.html"
    file.write_text(forwarding_page(stage.viewer.ask("POST", "/links").json["url"]), "utf-8")
    context = browser.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    expect(page.get_by_role("link", name="Overview")).to_be_visible()
    assert page.url == f"{stage.viewer.url}/"
    [cookie] = context.cookies()
    assert f"{cookie['domain']}:{stage.viewer.port}" == stage.viewer.host
    context.close()


def test_the_table_of_the_wiki_is_not_cut(opens: Opens, stage: Stage) -> None:
    vault = stage.house.home.knowledge / "webshop-123456"
    (vault / "concepts").mkdir(parents=True)
    row = (
        "| [[concepts/a\\|src/checkout/payment/providers/stripe_webhooks_handler.py]] "
        "| `pytest tests/checkout/test_webhooks.py::test_signature_is_checked` failed: AssertionError "
        "| 14 sessions, 3 commits | 2026-11-17 |\n"
    )
    head = "# Index\n\n| article | about | sources | updated |\n|---|---|---|---|\n"
    (vault / "index.md").write_text(head + 5 * row, "utf-8")
    try:
        page = opens("/knowledge?vault=webshop-123456", viewport={"width": 1440, "height": 900})
        inner, outer = page.evaluate(
            "(() => { const t = document.querySelector('.table'); return [t.scrollWidth, t.clientWidth] })()"
        )
        assert inner <= outer
        expect(page.get_by_role("cell", name="2026-11-17").first).to_be_in_viewport()
    finally:
        shutil.rmtree(vault)


def test_what_a_real_hook_leaves_arrives_while_one_looks(opens: Opens, stage: Stage) -> None:
    page = opens("/")
    expect(page.locator("#pulse")).to_have_text("live")
    before = page.locator("#feed").bounding_box()
    write_hook_files(stage.house.home.root)
    command = hook_command(str(stage.house.home.root), "claude-code", "UserPromptSubmit")
    said = {
        "session_id": "live-one",
        "cwd": str(stage.house.project),
        "prompt": "Paint the <b>fence</b> green",
    }
    payload = json.dumps(said)
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(stage.house.home.root.parent),
        "BACKSTORY_HOME": str(stage.house.home.root),
    }
    subprocess.run(["sh", "-c", command], input=payload, text=True, check=True, env=env)
    expect(page.locator("#feed li").first).to_contain_text("Paint the <b>fence</b> green", timeout=20_000)
    assert page.locator("#feed").bounding_box() == before  # nothing on the page has moved


def test_search_answers_while_one_types(opens: Opens) -> None:
    page = opens("/search")
    page.get_by_role("searchbox", name="What to search for").type("trigram index")
    expect(page.locator("#results .row").first).to_contain_text("trigram", timeout=20_000)
    assert "q=trigram+index" in page.url
    page.get_by_label("Kind").select_option("decision")
    expect(page.locator("#results .row .chip").first).to_have_text("decision")
    page.get_by_label("Explain").check()
    expect(page.locator("#results .why").first).to_contain_text("relevance")


def test_a_handle_is_copied_by_a_click(opens: Opens, stage: Stage) -> None:
    page = opens(
        f"/memories/{a_memory(stage.viewer)['id']}", permissions=["clipboard-read", "clipboard-write"]
    )
    handle = page.locator(".handle").first
    handle.click()
    expect(page.locator("#said")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == handle.inner_text()


def test_a_memory_is_edited_in_place(opens: Opens, stage: Stage) -> None:
    memory = a_memory(stage.viewer, "lesson")  # no decision: the next test needs a pair of them
    page = opens(f"/memories/{memory['id']}")
    page.get_by_label("Edit").fill("Better said by a person")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Better said by a person")
    kept = stage.house.store.memories.kept(memory["id"])
    assert kept is not None
    assert kept.status is MemoryStatus.CONFIRMED


def test_the_inbox_is_worked_through_by_keyboard(opens: Opens, stage: Stage) -> None:
    """First a pair, in which the rules took the newer decision's side; then candidates one by one."""
    page = opens("/review")
    first, second = (page.locator(".candidate .row").nth(n).get_attribute("id") for n in (0, 1))
    page.keyboard.press("j")
    expect(page.locator(".pair.at")).to_contain_text("RS256")
    page.keyboard.press("c")
    expect(page.locator(".pair")).to_have_count(0)
    page.keyboard.press("j")
    expect(page.locator(".row.at")).to_have_id(str(first))
    page.keyboard.press("c")
    expect(page.locator(f"[id='{first}']")).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.locator(f"[id='{second}']")).to_have_count(0)
    states = [
        memory.status for mid in (first, second) if (memory := stage.house.store.memories.kept(str(mid)))
    ]
    assert states == [MemoryStatus.CONFIRMED, MemoryStatus.REJECTED]


def test_forgetting_shows_everything_first(opens: Opens, stage: Stage) -> None:
    there = stage.viewer.ask("GET", "/api/memories?kind=preference&status=candidate").json["memories"]
    memory = next(each for each in there if "migrations" not in each["text"])  # other tests read that session
    page = opens(f"/memories/{memory['id']}")
    page.get_by_role("link", name="Forget…").click()
    expect(page.get_by_text("Nothing has been removed yet")).to_be_visible()
    assert stage.house.store.memories.kept(memory["id"]) is not None
    page.get_by_role("button", name="Forget it for good").click()
    expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    assert stage.house.store.memories.kept(memory["id"]) is None


def test_keys_lead_everywhere(opens: Opens) -> None:
    page = opens("/sessions")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    title = page.locator(".row.at .title").inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    page.keyboard.press("g")
    page.keyboard.press("m")
    expect(page.get_by_role("heading", level=1)).to_have_text("Memories")
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.type("invoices")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Search")


def test_a_setting_is_changed_and_changed_back(opens: Opens, stage: Stage) -> None:
    page = opens("/settings")
    page.get_by_label("brief.max_tokens").fill("1500")
    page.get_by_label("brief.max_tokens").press("Enter")
    expect(page.get_by_label("brief.max_tokens")).to_have_value("1500")
    assert "max_tokens = 1500" in stage.house.home.settings.read_text("utf-8")
    page.locator("li", has=page.get_by_label("brief.max_tokens")).get_by_role(
        "button", name="Default"
    ).click()
    expect(page.get_by_label("brief.max_tokens")).to_have_value("670")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault_for_people_who_see_or_hear_it_otherwise(
    opens: Opens, stage: Stage, axe: str, scheme: str
) -> None:
    """axe-core finds no serious or critical violation, in light and in dark."""
    page = opens("/", color_scheme=scheme, bypass_csp=True)
    found = []
    for path in every_page(stage.viewer):
        page.goto(stage.viewer.url + path)
        page.add_script_tag(content=axe)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        found += [
            (path, each["id"], [node["html"][:160] for node in each["nodes"][:3]])
            for each in result["violations"]
            if each["impact"] in ("serious", "critical")
        ]
    assert found == []


@pytest.mark.parametrize("width", [320, 375, 768, 1360, 2560])
def test_no_page_needs_to_be_scrolled_sideways(opens: Opens, stage: Stage, width: int) -> None:
    page = opens("/", viewport={"width": width, "height": 800})
    for path in every_page(stage.viewer):
        page.goto(stage.viewer.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path


def test_the_dark_theme_is_dark_and_the_switch_remembers(opens: Opens) -> None:
    page = opens("/", color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(23, 22, 19)"
    page.get_by_role("button", name="Theme").click()
    assert page.evaluate(ground) == "rgb(251, 250, 247)"
    page.reload()
    assert page.evaluate(ground) == "rgb(251, 250, 247)"


def test_without_a_script_everything_can_still_be_done(opens: Opens, stage: Stage) -> None:
    memory = a_memory(stage.viewer, MemoryKind.LESSON)
    page = opens("/memories?kind=lesson", java_script_enabled=False)
    row = page.locator(f"[id='{memory['id']}']")
    row.get_by_role("button", name="Pin").click()
    expect(page.locator(f"[id='{memory['id']}']").get_by_text("pinned")).to_be_visible()
    page.goto(f"{stage.viewer.url}/search?q=trigram")
    expect(page.locator("#results .row").first).to_contain_text("trigram")


def test_the_story_of_a_session_reads_in_order(opens: Opens, stage: Stage) -> None:
    page = opens(f"/sessions/{a_session(stage.viewer)}")
    text = page.locator(".story").inner_text()
    order = [
        "Logins fail with a 500",
        "run failed",
        "InvalidAlgorithmError",
        "auth/tokens.py",
        "Fixed. The new keys are RSA",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    fold = page.locator("details.fold").first
    fold.locator("summary").click()
    expect(fold.locator(".step").first).to_be_visible()
    page.locator(".failure .raw").click()
    expect(page.get_by_role("heading", name="As the agent sent it, redacted")).to_be_visible()


def test_the_pictures_are_drawn(opens: Opens) -> None:
    page = opens("/")
    for drawing, least in (("calendar", 84), ("bars", 2)):
        shapes = page.locator(f"svg.{drawing} > rect")
        assert shapes.count() >= least
        box = shapes.last.bounding_box()
        assert box is not None
        assert box["width"] > 2


def test_screenshots_are_of_every_page() -> None:
    folder = Path(__file__).parents[2] / "docs" / "screenshots"
    names = {path.stem for path in folder.glob("*.png")}
    assert {name.lower() for name in PLACES.values()} <= names

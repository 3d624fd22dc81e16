"""A long session and a change of mind, in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.story import House
from tests.web.viewer import Viewer

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    """A viewer over one session of sixty calls, and a window that was let in."""
    story = house.session().starts().prompts("Tabs or spaces?")
    for number in range(60):
        story.edits(f"file{number}.py")
    story.stops("We decided to use tabs for indentation, because the linter wants them.").ends()
    house.works()
    viewer = Viewer(house.home.root)
    context = browser.new_context(viewport={"width": 1360, "height": 860})
    window = context.new_page()
    window.goto(viewer.link)
    yield window
    context.close()
    assert viewer.ends()[0] == 0


def test_a_long_session_is_short_until_its_work_is_opened(page: Page, house: House) -> None:
    session = house.store.events.sessions(limit=1)[0].id
    address = page.url.rstrip("/")
    page.goto(f"{address}/sessions/{session}")
    height = "document.documentElement.scrollHeight"
    folded = page.evaluate(height)
    assert page.locator(".fold.work .step").first.is_visible() is False
    page.locator(".fold.work > summary").click()
    page.locator(".fold.work .fold > summary").first.click()
    expect(page.locator(".fold.work .step").last).to_be_visible()
    assert page.evaluate(height) > folded + 500


def test_a_link_to_a_folded_step_opens_what_it_lies_in(page: Page, house: House) -> None:
    session = house.store.events.sessions(limit=1)[0].id
    step = house.store.events.of_session(session)[30].id
    page.goto(f"{page.url.rstrip('/')}/sessions/{session}#{step}")
    expect(page.locator(f"[id='{step}']")).to_be_in_viewport()


def test_a_rejected_memory_comes_back_by_one_key(page: Page) -> None:
    page.goto(f"{page.url.rstrip('/')}/memories?kind=decision")
    row = page.locator(".row.memory").first
    words = row.locator(".title").inner_text()
    row.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("status").first).to_contain_text("Rejected")
    expect(page.get_by_text("Nothing of that kind")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator(".row.memory .title").first).to_have_text(words)

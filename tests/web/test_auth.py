"""Who may come in, and what pages may do."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from backstory.web.auth import Allowance, Keys
from backstory.web.routes import ACTIONS, PAGES
from tests.story import House
from tests.web.viewer import FORM, Viewer

OTHER = "http://evil.example"


def test_every_route_wants_the_token(viewer: Viewer) -> None:
    """CCE-76: a missing or wrong token gets 401, on pages, actions, the API, hooks, MCP, the feed, static files."""
    routes = [("GET", path) for path in PAGES] + [("POST", path) for path in ACTIONS]
    routes += [
        ("GET", "/api/status"),
        ("POST", "/api/forget"),
        ("POST", "/hooks/claude-code/Stop"),
        ("POST", "/mcp"),
    ]
    routes += [("GET", "/live"), ("GET", "/static/style.css"), ("GET", "/openapi.json"), ("GET", "/ping")]
    routes += [("POST", "/links"), ("GET", "/nowhere")]
    wrong: tuple[dict[str, str], ...] = (
        {},
        {"Authorization": "Bearer wrong"},
        {"X-Backstory-Token": "wrong"},
        {"Cookie": "backstory=wrong"},
    )
    for method, path in routes:
        for headers in wrong:
            own = {"Origin": viewer.url} if method == "POST" else {}
            assert viewer.bare(method, path, headers | own).status == 401, (method, path, headers)
    assert viewer.ask("GET", "/ping").status == 200
    assert viewer.bare("GET", "/ping", {"X-Backstory-Token": viewer.token}).status == 200


def test_writes_from_another_origin_are_refused(viewer: Viewer, house: House) -> None:
    """CCE-76: 403, whatever else they show."""
    cookie = viewer.cookie
    for headers in (
        {"Origin": OTHER},
        {"Origin": "null"},
        {"Origin": f"https://127.0.0.1:{viewer.port}"},
        {"Origin": f"http://127.0.0.1:{viewer.port + 1}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": viewer.url},
        {},  # a browser says where a write comes from
    ):
        answer = viewer.bare(
            "POST", "/settings", {**FORM, "Cookie": cookie, **headers}, "key=time.zone&value=UTC"
        )
        assert answer.status == 403, headers
    by_token = {"Authorization": f"Bearer {viewer.token}", "Origin": OTHER}
    assert viewer.bare("POST", "/settings", by_token, "key=time.zone&value=UTC").status == 403
    assert not house.home.settings.exists()
    assert viewer.post("/settings", key="time.zone", value="UTC").status == 303
    assert "UTC" in house.home.settings.read_text("utf-8")


def test_a_page_of_another_site_cannot_load_ours(viewer: Viewer) -> None:
    by_cookie = {"Cookie": viewer.cookie}
    framed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert viewer.bare("GET", "/", by_cookie | framed).status == 403
    assert (
        viewer.bare("GET", "/", by_cookie | {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}).status
        == 200
    )


def test_another_name_for_this_machine_gets_nothing(viewer: Viewer) -> None:
    """A name that an attacker points at 127.0.0.1 is not ours."""
    for host in ("evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:80", ""):
        shown = {"Host": host, "Authorization": f"Bearer {viewer.token}"}
        assert viewer.bare("GET", "/", shown).status in (400, 421), host


def test_our_own_names_are_heard(viewer: Viewer) -> None:
    for name in ("127.0.0.1", "localhost", "[::1]"):
        assert viewer.ask("GET", "/ping", Host=f"{name}:{viewer.port}").status == 200


def test_a_link_lets_one_browser_in_once(viewer: Viewer) -> None:
    path = viewer.link.removeprefix(viewer.url)
    answer = viewer.bare("GET", path)
    assert answer.status == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert viewer.bare("GET", "/", {"Cookie": cookie.partition(";")[0]}).status == 200
    again = viewer.bare("GET", path, {"Accept": "text/html"})
    assert again.status == 401
    assert "prints a new one" in again.text


def test_an_old_link_is_worth_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys("t" * 32, 1)
    path = keys.new_link()
    monkeypatch.setattr("backstory.web.auth.time.monotonic", lambda: 1e12)
    assert not keys.take(path.partition("=")[2])


def test_pages_may_run_no_script_but_ours(viewer: Viewer) -> None:
    for path in ("/", "/search", "/nowhere", "/api/status", "/static/style.css"):
        policy = viewer.get(path).headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
    for path in PAGES:
        if "{" not in path:
            text = viewer.get(path).text
            assert " style=" not in text
            assert " onclick=" not in text
            assert "<script>" not in text


def test_too_many_writes_are_slowed_down(viewer: Viewer) -> None:
    def write(number: int) -> int:
        return viewer.ask("PUT", "/api/settings/no.such", {}).status

    with ThreadPoolExecutor(8) as several:  # one after the other, a busy machine is slow enough by itself
        assert set(several.map(write, range(120))) == {400, 429}
    assert viewer.ask("GET", "/ping").status == 200  # looking is free


def test_hooks_are_never_slowed_down(viewer: Viewer) -> None:
    statuses = {
        viewer.ask("POST", "/hooks/claude-code/Stop", {"session_id": f"s{n}"}).status for n in range(60)
    }
    assert statuses == {202}


def test_an_allowance_fills_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("backstory.web.auth.time.monotonic", lambda: now[0])
    allowance = Allowance(at_once=2, per_second=1)
    assert [allowance.take() for _ in range(3)] == [True, True, False]
    now[0] = 1.0
    assert [allowance.take() for _ in range(2)] == [True, False]


def test_no_path_leaves_its_folder(viewer: Viewer, house: House) -> None:
    """CCE-77: neither static files nor the wiki lead anywhere else."""
    (house.home.root / "knowledge" / "shop").mkdir(parents=True)
    (house.home.root / "knowledge" / "shop" / "index.md").write_text("# Shop\n", "utf-8")
    for path in (
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/site.py",
        "/static/style.css/..%2f..%2fapp.py",
        "/knowledge/..%2f..%2fetc/passwd",
        "/knowledge/shop/..%2f..%2f..%2fserve.token",
        "/knowledge/shop/%2fetc%2fpasswd",
    ):
        answer = viewer.get(path)
        assert answer.status == 404, path
        assert viewer.token not in answer.text
        assert "root:" not in answer.text


def test_a_link_out_of_the_wiki_is_no_page(viewer: Viewer, house: House) -> None:
    """CCE-77: a symbolic link in the vault does not open what lies outside."""
    vault = house.home.root / "knowledge" / "shop"
    vault.mkdir(parents=True)
    Path(house.home.root, "secret.md").write_text("top secret\n", "utf-8")
    (vault / "out.md").symlink_to(house.home.root / "secret.md")
    (vault / "in.md").write_text("# In\n", "utf-8")
    assert viewer.get("/knowledge/shop/in").status == 200
    assert viewer.get("/knowledge/shop/out").status == 404


def test_limits_are_clamped(viewer: Viewer, house: House) -> None:
    """CCE-77: more than there may be is as much as there may be."""
    for limit in ("1", "200", "999999", "99999999999999999999"):
        assert viewer.ask("GET", f"/api/sessions?limit={limit}").status == 200
        assert viewer.ask("GET", f"/api/memories?limit={limit}").status == 200
    for limit in ("0", "-1", "1.5", "many"):
        assert viewer.ask("GET", f"/api/sessions?limit={limit}").status == 400
    assert viewer.get("/sessions", limit="99999999999").status == 200


def test_a_used_link_leads_in_who_is_in_and_tells_everybody_else_how_to_get_a_new_one(viewer: Viewer) -> None:
    link = viewer.ask("POST", "/links").json["link"]
    cookie = viewer.bare("GET", link).headers["set-cookie"].partition(";")[0]
    again = viewer.bare("GET", link, {"Cookie": cookie})
    assert (again.status, again.headers["location"]) == (303, "/")
    stranger = viewer.bare("GET", link, {"Accept": "text/html"})
    assert stranger.status == 401
    assert "backstory serve" in stranger.text
    assert "A new link is needed" in stranger.text

"""Pages: stored text is hostile, and is shown as the text it is, everywhere."""

import re
from html.parser import HTMLParser

import pytest

from backstory import clock
from backstory.capture import written_files
from backstory.capture.history_reader import SPENT
from backstory.capture.written_files import Site
from backstory.errors import UsageError
from backstory.model import MemoryKind, MemoryStatus
from backstory.settings import Settings
from backstory.store.records import Call
from backstory.web import wiki_html
from backstory.web.markup import Html, h, join
from backstory.web.pages.review_page import pairs
from backstory.web.request import clamped_limit, local_path, parse_cursor
from backstory.web.routes import PAGES
from tests.conftest import eventually
from tests.story import House
from tests.web.viewer import Viewer

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "</textarea></pre></title><script>alert(4)</script>",
    "[click](javascript:alert(5))",
    "\x1b[31mred\x1b[0m",
    "\u202egnp.exe",
    "{{7*7}} ${7*7}",
)
WORDS = " and ".join(HOSTILE)


class Seen(HTMLParser):
    """The elements and attributes that a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def harmless(text: str) -> None:
    """No element, attribute or link that was not ours; no control character, no override of direction."""
    seen = Seen()
    seen.feed(text)
    for tag, attributes in seen.elements:
        if tag == "script":
            assert attributes == {"src": "/static/viewer.js", "defer": None}
        assert tag not in ("iframe", "object", "embed", "base", "style")
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        for name in ("href", "src", "action"):
            link = attributes.get(name) or "/"
            assert link.startswith(("/", "#", "http://", "https://")), link
            assert not link.startswith("//")
        assert tag != "img"
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.fixture
def hostile(viewer: Viewer, house: House) -> Viewer:
    """A viewer of a house where everybody says terrible things."""
    story = house.session()
    story.starts().prompts(f"Never do {WORDS}, please").runs(f"make {WORDS}", fails=f"Error {WORDS}")
    story.writes(f"a{WORDS.replace('/', '')}.py", WORDS).runs(f"make {WORDS}", WORDS)
    story.stops(f"We decided to use tabs for indentation, because the linter wants {WORDS}.").ends()
    vault = house.home.root / "knowledge" / "shop-123456"
    (vault / "daily").mkdir(parents=True)
    (vault / "index.md").write_text(
        f"---\ntitle: {WORDS}\n---\n# {WORDS}\n\n- {WORDS}\n\n[[{HOSTILE[0]}]]\n", "utf-8"
    )
    (vault / "daily" / "2026-02-03.md").write_text(
        f"# Day\n\n> {WORDS}\n\n| a | {WORDS} |\n\n```\n{WORDS}\n```\n", "utf-8"
    )
    eventually(
        "it is distilled", lambda: viewer.ask("GET", "/api/memories?kind=decision").json["memories"], 30
    )
    project = viewer.ask("GET", "/api/projects").json["projects"][0]["id"]
    viewer.post("/remember", text=WORDS, project=project)
    eventually("the spool is empty", lambda: not house.spooled())
    return viewer


def test_hostile_text_is_shown_as_text_on_every_page(hostile: Viewer, house: House) -> None:
    """CCE-48: and it is shown whole, as it was written."""
    session = hostile.ask("GET", "/api/sessions").json["sessions"][0]
    memory = hostile.ask("GET", "/api/memories?kind=decision").json["memories"][0]
    events = hostile.ask("GET", f"/api/sessions/{session['id']}").json["events"]
    prompt = next(event for event in events if event["kind"] == "prompt")
    hostile.post(f"/memories/{memory['id']}/edit", text=f"use {WORDS}")
    paths = [path for path in PAGES if "{" not in path]
    paths += [f"/sessions/{session['id']}", f"/memories/{memory['id']}", f"/forget?handle={memory['id']}"]
    paths += [f"/events/{event['id']}" for event in events]
    paths += [
        "/search?q=alert&explain=1&nearest=1",
        "/search?q=what+did+we+do+in+2019",
        "/search?q=%3Cscript%3Ealert(9)%3C/script%3E",
        "/health?examine=1",
    ]
    paths += [
        "/knowledge/shop-123456/index",
        "/knowledge/shop-123456/daily/2026-02-03",
        "/sessions?day=%3Cscript%3E",
    ]
    paths += ["/nowhere/%3Cscript%3Ealert(1)%3C/script%3E", "/search?q=a&part=1", "/forget?text=alert(1)"]
    for path in paths:
        answer = hostile.get(path)
        assert answer.status in (200, 400, 404), (path, answer.status, answer.text)
        harmless(answer.text)
    for path in (f"/sessions/{session['id']}", f"/events/{prompt['id']}", f"/memories/{memory['id']}"):
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in hostile.get(path).text, path
    assert "Nothing of 2019 is remembered" in hostile.get("/search?q=what+did+we+do+in+2019").text


def test_a_line_of_two_megabytes_is_shown_in_parts(viewer: Viewer, house: House) -> None:
    long = "begin " + "x" * 2_000_000 + " end"
    house.session().starts().prompts(long).stops("read").ends()
    session = eventually(
        "all of it is stored",
        lambda: [s for s in viewer.ask("GET", "/api/sessions").json["sessions"] if s["status"] == "ended"],
        60,
    )[0]
    for path in ("/", "/sessions", f"/sessions/{session['id']}", "/search?q=begin&nearest=1"):
        answer = viewer.get(path)
        assert (answer.status, len(answer.body) < 100_000) == (200, True), path
    event = next(
        e for e in viewer.ask("GET", f"/api/sessions/{session['id']}").json["events"] if e["kind"] == "prompt"
    )
    text, path, parts = "", f"/events/{event['id']}", 0
    while path and parts < 100:
        shown = viewer.get(path).text
        found = re.search(r"redacted</h2><pre[^>]*>(.*?)</pre>", shown, re.S)
        assert found is not None
        more = re.search(r'href="(/events/[^"]*payload=\d+[^"]*)"', shown)
        text, path, parts = text + found[1], more[1].replace("&amp;", "&") if more else "", parts + 1
    assert parts > 30
    assert long in text


def test_an_empty_home_says_what_to_do(viewer: Viewer) -> None:
    for path in PAGES:
        if "{" not in path:
            assert viewer.get(path).status == 200, path
    assert "backstory install" in viewer.get("/").text


def test_nonsense_in_the_address_is_no_trouble(viewer: Viewer) -> None:
    for path in (
        "/sessions?before=x", "/sessions?before=99999999999999999999~a", "/sessions?before=-5~a", "/sessions?before=--5~a", "/sessions?day=never",
        "/sessions?day=0001-01-01", "/sessions?day=9999-12-31", "/memories?kind=nothing&status=nothing", "/brief?agent=nobody",
        "/brief?source=never", "/brief?cwd=%00", "/search?q=%00", "/search?q=a&since=never", "/sessions/s0000?after=1~x",
        "/events/e0", "/knowledge/no/page", "/knowledge?month=0000-00", "/memories?limit=99999999999999", "/forget?handle=x",
    ):  # fmt: skip
        assert viewer.get(path).status in (200, 400, 404), path


def test_markup_escapes_all_that_is_not_markup() -> None:
    assert h("p", "<b>", h("b", "x"), 5, None, False, ["&"]) == "<p>&lt;b&gt;<b>x</b>5&amp;</p>"
    assert h("a", "x", href="javascript:alert(1)") == "<a>x</a>"
    assert h("a", "x", href="//evil.example") == "<a>x</a>"
    assert h("a", "x", href="/ok?a=1&b=\"'") == '<a href="/ok?a=1&amp;b=&quot;&#x27;">x</a>'
    assert h("input", disabled=True, checked=False, data_row="a<b") == '<input disabled data-row="a&lt;b">'
    assert isinstance(join("<", Html("<br>")), Html)


def test_cursors_and_limits_and_paths_are_within_reason() -> None:
    assert parse_cursor("5~abc") == (5, "abc")
    assert parse_cursor("-5~abc") == (-5, "abc")
    assert parse_cursor("") is None
    for wrong in ("5", "x~y", "--5~x", "-~x", "9" * 30 + "~a", "٣~x"):
        with pytest.raises(UsageError, match="no place in a list"):
            parse_cursor(wrong)
    assert [clamped_limit(text) for text in ("", "7", "0", "9999", "x", "9" * 40)] == [50, 7, 1, 200, 50, 50]
    odd = ("//b", "http://c", "", "/\\d", "/\t/e.example/", "/ /f", "\n/g")
    assert [local_path(path) for path in ("/a", *odd)] == ["/a", *("/" for _ in odd)]


def test_the_wiki_is_rendered_with_its_links() -> None:
    pages = {"concepts/jwt": "/k/concepts/jwt"}
    text = "# Title\n\nSee [[concepts/jwt|tokens]] and [[gone]], **bold** `code`.\n\n- one\n  - two\n\n> said\n\n```\n<b>\n```\n"
    shown = "".join(wiki_html.render_wiki(text, pages.get))
    assert '<a href="/k/concepts/jwt">tokens</a>' in shown
    assert '<span class="broken" title="no such page">gone</span>' in shown
    assert "<strong>bold</strong>" in shown
    assert "<blockquote><p>said</p></blockquote>" in shown
    assert '<pre tabindex="0"><code>&lt;b&gt;</code></pre>' in shown
    assert wiki_html.wikilink_targets(text) == ["concepts/jwt", "gone"]
    table = "<!-- made -->\n| a | b |\n|---|---|\n| [[concepts/jwt\\|tokens]] | x\\|y |\n"
    drawn = "".join(wiki_html.render_wiki(table, pages.get))
    assert drawn.count("<td>") == 2
    assert '<td><a href="/k/concepts/jwt">tokens</a></td><td>x|y</td>' in drawn
    assert "made" not in drawn
    assert wiki_html.wikilink_targets(table) == ["concepts/jwt"]


def drawn(text: str) -> str:
    return "".join(wiki_html.render_wiki(text, {"other": "/k/other", "a b": "/k/a%20b"}.get))


def test_lists_in_lists_and_numbers_are_as_they_were_written() -> None:
    assert drawn("- one\n  - two\n    - three\n- four\n") == (
        "<ul><li>one<ul><li>two<ul><li>three</li></ul></li></ul></li><li>four</li></ul>"
    )
    assert drawn("3. c\n4. d\n   - e\n") == '<ol start="3"><li>c</li><li>d<ul><li>e</li></ul></li></ol>'
    assert drawn("- a\n\n- b\n") == "<ul><li><p>a</p></li><li><p>b</p></li></ul>"


def test_links_lead_to_the_web_to_a_letter_or_to_a_page_and_nothing_is_loaded() -> None:
    for text, shown in (
        ("[x](https://a.example/?b=1)", '<a href="https://a.example/?b=1" rel="noopener noreferrer">x</a>'),
        (
            "<https://a.example>",
            '<a href="https://a.example" rel="noopener noreferrer">https://a.example</a>',
        ),
        ("[x](mailto:a@b.example)", '<a href="mailto:a@b.example" rel="noopener noreferrer">x</a>'),
        ("[x](other)", '<a href="/k/other">x</a>'),
        ("[x](<a b>)", '<a href="/k/a%20b">x</a>'),
        ("[x](gone)", "<span>x</span>"),
        ("[x](//evil.example)", "<span>x</span>"),
        ("[x](/etc/passwd)", "<span>x</span>"),
        (
            "![seen](https://a.example/p.png)",
            '<a href="https://a.example/p.png" rel="noopener noreferrer">seen</a>',
        ),
        ("![](gone.png)", "<span>gone.png</span>"),
        ("`[[other]]`", "<code>[[other]]</code>"),
    ):
        assert drawn(text) == f"<p>{shown}</p>", text
    for scheme in (
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc",
        "java\tscript:x",
    ):
        page = drawn(f"[x]({scheme}) [y](<{scheme}>) <{scheme}> ![z]({scheme})\n\n[ref]\n\n[ref]: {scheme}\n")
        assert "href" not in page, page
        assert "src" not in page


def test_raw_html_is_shown_as_text_wherever_it_stands() -> None:
    for text in (
        "<script>x</script>",
        "a <img src=x onerror=y> b",
        "<div>\n*a*\n</div>",
        "- <b>x",
        "> <b>x",
        "<!-- a\n\n<b>",
    ):
        page = drawn(text)
        tags = {found.partition(" ")[0].strip("</>") for found in re.findall(r"<[^>]*>", page)}
        assert tags <= {"p", "ul", "li", "blockquote", "em"}, page
    assert drawn("<!-- mark -->") == ""
    assert "shown" in drawn("<!-- mark --> shown")


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "[[",
        "![",
        "[a](",
        "[[a|",
        "*[",
        "**a_",
        "`a",
        "<!--",
        "<a ",
        "> ",
        "1. ",
        "- a\n",
        "|a",
        "[a][",
        "&#",
        "\\",
        "a**b",
    ],
)
def test_a_page_made_to_be_slow_is_not(piece: str) -> None:
    """18,000 brackets took half a minute, and the viewer with them."""
    text = (piece * 18_000)[:18_000]
    assert wiki_html.render_wiki(text, lambda target: None) is not None
    wiki_html.wikilink_targets(text)


def test_a_long_table_is_shown_up_to_a_length() -> None:
    table = ["| a | b |", "| --- | --- |", *(f"| {n} | x |" for n in range(1_234))]
    shown = "".join(wiki_html.render_wiki("\n".join(table), lambda target: None))
    assert shown.count("<tr>") == 202
    assert "and 1,034 more, in the file" in shown


def test_wiki_pages_link_back_and_the_log_has_a_calendar(viewer: Viewer, house: House) -> None:
    vault = house.home.root / "knowledge" / "shop-123456"
    (vault / "concepts").mkdir(parents=True)
    (vault / "daily").mkdir()
    (vault / "index.md").write_text("# Index\n\n- [[concepts/jwt]]\n", "utf-8")
    (vault / "concepts" / "jwt.md").write_text(
        "---\ntitle: Tokens\n---\nAbout tokens, see [[daily/2026-02-03]].\n", "utf-8"
    )
    (vault / "daily" / "2026-02-03.md").write_text("# 3 February\n\nWorked on [[jwt]].\n", "utf-8")
    front = viewer.get("/knowledge").text
    assert '<a href="/knowledge/shop-123456/concepts/jwt">jwt</a>' in front
    assert "February 2026" in front
    assert 'href="/knowledge/shop-123456/daily/2026-02-03"' in front
    page = viewer.get("/knowledge/shop-123456/concepts/jwt").text
    assert "Linked from" in page
    assert ">3 February<" in page or ">2026 02 03<" in page
    assert 'href="/knowledge/shop-123456/index"' in page


def test_decisions_on_one_matter_are_laid_side_by_side(house: House) -> None:
    for text in (
        "We decided to store login sessions in Redis, because it is fast.",
        "We decided to store login sessions in Postgres, because it is there.",
        "We decided to use tabs for indentation, because the linter wants them.",
    ):
        house.session().starts().prompts("What now?").edits("a.py").stops(text).ends()
        house.works()
    found = house.store.memories.listed([MemoryKind.DECISION], list(MemoryStatus), None, None, 10)
    assert [("Postgres" in newer.text, "Redis" in older.text) for newer, older in pairs(found)] == [
        (True, True)
    ]


def test_two_that_were_both_confirmed_contradict_each_other_no_more(viewer: Viewer, house: House) -> None:
    for text in (
        "share login sessions between hosts by Redis",
        "share login sessions between hosts by Postgres",
    ):
        story = house.session().starts().prompts("What now?").edits("a.py")
        story.stops(f"We decided to {text}, because it is there.").ends()
    eventually("both are there", lambda: "Do these contradict" in viewer.get("/review").text, 20)
    newer, older = viewer.ask("GET", "/api/memories?kind=decision").json["memories"]
    assert viewer.post(f"/memories/{older['id']}/confirm", also=newer["id"]).status == 303
    assert "Do these contradict" not in viewer.get("/review").text
    states = {each["status"] for each in viewer.ask("GET", "/api/memories?kind=decision").json["memories"]}
    assert states == {"confirmed"}


def test_what_the_rules_took_for_history_is_asked_about_until_a_person_has_said(
    viewer: Viewer, house: House
) -> None:
    told = "A newer decision took an older one&#x27;s place", "A newer decision took an older one's place"
    for text in ("use HS256 for the tokens", "use RS256 for the tokens instead of HS256"):
        story = house.session().starts().prompts("What now?").edits("a.py")
        story.stops(f"We decided to {text}, because it is safe.").ends()
    eventually("it is asked", lambda: any(each in viewer.get("/review").text for each in told), 20)
    [old] = viewer.ask("GET", "/api/memories?kind=decision&status=superseded").json["memories"]
    [new] = viewer.ask("GET", "/api/memories?kind=decision").json["memories"]
    assert f'href="/memories/{new["id"]}"' in viewer.get(f"/memories/{old['id']}").text
    assert f'href="/memories/{old["id"]}"' in viewer.get(f"/memories/{new['id']}").text
    assert viewer.post(f"/memories/{old['id']}/supersede", text=new["id"]).status == 303
    assert not any(each in viewer.get("/review").text for each in told)
    assert f'href="/memories/{new["id"]}"' in viewer.get(f"/memories/{old['id']}").text


def test_what_models_took_is_shown_against_its_caps_with_every_call(viewer: Viewer, house: House) -> None:
    assert "No model is asked" in viewer.get("/health").text
    house.sets("model.provider", "openai")
    now = clock.now_ms()
    call = Call("c1", "distil", "", "openai", "small-1", now, now, now, now, now, "ok", "", 700, 50, 0)
    failed = call._replace(id="c2", outcome="failed", error="<b>no answer</b>")
    with house.store.transaction():
        house.store.ledger.open(call)
        house.store.ledger.open(failed)
    page = viewer.get("/health").text
    assert f"1,500 of {Settings().model_day_tokens:,} tokens" in page
    assert "&lt;b&gt;no answer&lt;/b&gt;" in page


def test_models_that_were_stopped_are_asked_again_by_a_button(viewer: Viewer, house: House) -> None:
    """The twin of `backstory cost --resume`."""
    house.sets("model.provider", "openai")
    now = clock.now_ms()
    with house.store.transaction():
        for number in range(8):
            house.store.ledger.open(
                Call(
                    f"c{number}",
                    "distil",
                    "",
                    "openai",
                    "m",
                    now,
                    now,
                    now,
                    None,
                    None,
                    "failed",
                    "no",
                    1,
                    0,
                    0,
                )
            )
    assert "Ask models again" in viewer.get("/health").text
    assert viewer.post("/models/resume").status == 303
    assert "Ask models again" not in viewer.get("/health").text


def test_tokens_given_stand_beside_what_agents_spent(viewer: Viewer, house: House) -> None:
    house.session().starts().prompts("paint the fence green").stops("Painted.").ends()
    eventually("it is stored", lambda: viewer.ask("GET", "/api/sessions").json["sessions"], 20)
    assert "Given, and spent by agents" not in viewer.get("/").text
    with house.store.transaction():
        house.store.counters.add(clock.day_of(clock.now_ms()), {("claude-code", "", SPENT): 12_345})
    page = viewer.get("/").text
    assert ("Spent by Claude Code" in page, "12,345" in page) == (True, True)


def test_what_stands_beside_the_feed_can_be_had_alone(viewer: Viewer, house: House) -> None:
    house.session().starts().prompts("paint the fence green")
    eventually("it runs", lambda: "1 session running" in viewer.get("/", part="1").text, 20)
    assert "<html" not in viewer.get("/", part="1").text


def test_the_live_feed_tells_what_a_hook_left_and_what_was_learned(viewer: Viewer, house: House) -> None:
    stream = viewer.listen(60)
    house.session().starts().prompts("paint the fence green").edits("fence.py")
    told = stream.told()
    while not any(each["text"] == "paint the fence green" for each in told):
        told += stream.told()
    house.session().starts().prompts("Which?").edits("a.py").stops(
        "We decided to use tabs, because of the linter."
    ).ends()
    while not any(each["what"] == "memory" and each["kind"] == "decision" for each in told):
        told += stream.told()
    stream.close()


@pytest.fixture
def told(house: House) -> House:
    """A house that learned something with a word that is not in every dictionary."""
    story = house.session().starts().prompts("Run the dialyzer on the umbrella app")
    story.runs("mix dialyzer", fails="no PLT found").edits("mix.exs")
    story.stops("We decided to keep the PLT in the cache, because the dialyzer builds it for minutes.").ends()
    house.works()
    return house


def test_a_handle_in_the_search_field_opens_what_it_stands_for(told: House, viewer: Viewer) -> None:
    memory = told.store.memories.listed([MemoryKind.DECISION], list(MemoryStatus), None, None, 1)[0]
    event, session = memory.sources[0], memory.session_id
    for full, place in ((memory.id, "/memories/"), (event, "/events/"), (session, "/sessions/")):
        for handle in (full, full[:9], f" {full[:9]} "):
            assert viewer.get("/search", q=handle).headers["location"] == place + full
        assert f'href="{place}{full}"' in viewer.get("/search", q=full[:9], part="1").text
        assert viewer.get(place + full).status == 200
        assert viewer.get(place + full[:9]).headers["location"] == place + full
    native = told.store.events.session(session).native_id  # type: ignore[union-attr]
    assert viewer.get("/search", q=native).headers["location"] == f"/sessions/{session}"
    assert viewer.get("/memories/m00").status == 404
    assert viewer.get("/memories/" + event[:9]).status == 404


def test_a_handle_that_stands_for_several_lists_them(told: House, viewer: Viewer) -> None:
    ids = sorted(event.id for event in told.store.events.latest(None, 0, 10))
    one = ids[0]
    with told.store.transaction():  # another one that begins so: there is none by chance
        twin = one[:9] + ("0" if one[9] != "0" else "1") + one[10:]
        told.store._connection.execute("UPDATE events SET id = ? WHERE id = ?", (twin, ids[1]))
    page = viewer.get("/events/" + one[:9])
    assert page.status == 200
    assert "Several begin so" in page.text
    for full in (one, twin):
        assert f'href="/events/{full}"' in page.text
        assert f'href="/events/{full}"' in viewer.get("/search", q=one[:9]).text


@pytest.mark.parametrize("typed", ["dialyz", "Dialyz", "dial", "umbrel", "the umbr", "buildi"])
def test_a_word_that_is_still_being_typed_finds_what_begins_so(
    told: House, viewer: Viewer, typed: str
) -> None:
    page = viewer.get("/search", q=typed, part="1").text
    assert "Nothing" not in page
    assert 'class="rows hits"' in page
    assert "Nothing" in viewer.get("/search", q="zyzzyv", part="1").text


def test_health_knows_which_agents_are_connected_before_any_was_heard(house: House, viewer: Viewer) -> None:
    assert "no agent is connected" in viewer.get("/health").text
    written_files.record_sites(house.home, "codex", [Site(house.home.root / "x", written_files.SETTINGS)])
    page = viewer.get("/health").text
    assert "no agent is connected" not in page
    assert "connected; no session since" in page


def test_closing_the_page_that_listens_leaves_nothing_pending(viewer: Viewer, house: House) -> None:
    for n in range(3):
        stream = viewer.listen(30)
        if n:
            house.session().starts().prompts(f"paint fence {n}").stops("Painted.").ends()
            assert stream.told()
        stream.close()
    listening = viewer.listen(30)
    code, said = viewer.ends()
    listening.close()
    assert code == 0
    assert "Task was destroyed" not in said
    assert "Traceback" not in said

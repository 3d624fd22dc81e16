"""What is stored is found: to its last line, in every script, and narrowed by filters."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.app import App
from backstory.embed.embedder import load_embedder
from backstory.errors import BackstoryError
from backstory.model import Kind
from backstory.search.answer import Answer
from backstory.search.find import search
from backstory.search.narrowing import within
from backstory.search.ranking import Here
from backstory.settings import Settings
from backstory.store.passages import Passages, passage_bounds, split_passages
from backstory.store.records import Filters
from tests.conftest import Git
from tests.search.past import DAY, aged
from tests.story import House


def ask(house: House, question: str, **options: object) -> Answer:
    return search(house.store, question, None, **{"means": load_embedder(Settings()), **options})  # type: ignore[arg-type]


def texts(answer: Answer) -> list[str]:
    return [hit.text for hit in answer.hits]


def test_a_needle_in_the_last_line_of_two_megabytes_is_found(house: House) -> None:
    log = "".join(f"line {n} of a build that talks and talks\n" for n in range(52_000))
    assert len(log) > 2_000_000
    story = house.session().prompts("Build it").runs("make all", log + "fatal: the xylophone is out of tune")
    story.stops("It failed.")
    house.works()
    best = ask(house, "xylophone out of tune").hits[0]
    assert "xylophone" in best.text
    event = house.store.events.event(best.id)
    assert event is not None
    assert event.event.text.endswith("xylophone is out of tune")


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{n:06x}" for n in range(900)),
        " ".join(f"wort{n}" for n in range(900)),
        "\n\n" * 900 + "x",
        "".join(chr(0x4E00 + n) for n in range(5_000)),
        "",
        ",".join(f"ab{n};cd" for n in range(900)),
        "x" * 999 + " y",
    ],
    ids=["letters", "words", "lines", "characters", "nothing", "gaps", "one"],
)
def test_cutting_into_passages_drops_nothing(text: str) -> None:
    end = 0
    for start, following in passage_bounds(text):
        assert start <= end < following <= start + 1_000
        end = following
    assert end == len(text)


@settings(max_examples=300, deadline=None)
@given(
    name=st.sampled_from(
        ["foo_bar.py:42", "parseToken", "src/auth/The_Parser.py", "数据库迁移", "--no-verify"]
    ),
    gaps=st.sampled_from(["", ",", ";a=", "。", "漢字", "x9_", '{"k":']),
    at=st.integers(850, 1_150),
)
def test_a_name_is_whole_in_a_passage_wherever_it_stands(name: str, gaps: str, at: int) -> None:
    filling = (gaps * 3_000)[: max(at, 1)] if gaps else "x" * at
    text = f"{filling}{'' if gaps == '漢字' else ','}{name}{',' if gaps != '漢字' else ''}{filling}"
    assert any(name in piece for piece in split_passages(text))


def test_a_name_and_a_pair_across_the_end_of_a_passage_are_found(house: House) -> None:
    """Minified data and scripts without spaces have no good place to cut."""
    story = house.session().prompts("Look")
    places = range(975, 1_005)
    names = {place: f"zz{place}_needle.py:77" for place in places}
    pairs = {place: chr(0x6000 + place) + chr(0x7000 + place) for place in places}
    for place in places:
        story.runs("cat data", f'{("[1,2,3]," * 200)[:place]}"{names[place]}",{"[4,5,6]," * 60}')
        story.runs("cat poem", ("天地玄黄宇宙洪荒" * 200)[:place] + pairs[place] + "日月盈昃辰宿列张" * 30)
    story.stops("Seen.")
    house.works()
    words = load_embedder(Settings(embed_provider="off"))
    for name in (*names.values(), *pairs.values()):
        assert any(name in text for text in texts(ask(house, name, means=words))), name


@pytest.mark.parametrize(
    "name", ["bge-small", "foo_bar.py:42", "--no-verify", '"quoted"', "v1.2.3-rc1", "C++", "$HOME/.config"]
)
def test_names_find_themselves(house: House, name: str) -> None:
    """CCE-53"""
    story = house.session()
    for n in range(20):
        story.prompts(f"Something else, small talk number {n}, verify it in foo or bar, at home").stops(
            "Fine."
        )
    story.prompts(f"Remember that {name} is what we use here").stops("Noted.")
    house.works()
    assert name in ask(house, name).hits[0].text


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("缓存", "把缓存层改成 Redis，因为旧的太慢"),
        ("数据库 迁移", "数据库迁移昨天失败了，锁超时"),
        ("検索", "検索インデックスを作り直した"),
        ("배포", "배포 스크립트를 고쳤다"),
        ("层", "把缓存层改成 Redis，因为旧的太慢"),
    ],
)
@pytest.mark.parametrize("by_meaning", [True, False])
def test_two_characters_are_a_word(house: House, question: str, expected: str, by_meaning: bool) -> None:
    story = house.session()
    for text in (
        "把缓存层改成 Redis，因为旧的太慢",
        "数据库迁移昨天失败了，锁超时",
        "検索インデックスを作り直した",
        "배포 스크립트를 고쳤다",
        "nothing of that kind",
    ):
        story.prompts(text).stops("好的。")
    house.works()
    how = {} if by_meaning else {"means": load_embedder(Settings(embed_provider="off"))}
    found = ask(house, question, **how)
    assert found.hits, "it abstained"
    assert expected in found.hits[0].text


# --- filters ----------------------------------------------------------------------------------------------


@pytest.fixture
def various(house: House, project: Path, git: Git) -> House:
    """Sessions of two agents, on two branches, on several days, all about the cache."""
    git(project, "init", "-q")
    git(project, "commit", "-q", "--allow-empty", "-m", "first")
    story = house.session().starts().prompts("Why is the cache slow? The cache of the shop")
    story.edits("src/cache.py").runs("pytest tests/test_cache.py", "3 passed").stops("The cache was cold.")
    house.works()
    git(project, "checkout", "-q", "-b", "feature")
    story.prompts("Make the cache on the feature branch larger").edits("src/oldcache.py").stops(
        "Cache is larger."
    )
    house.session(agent="codex").starts().prompts("The cache again, says Codex").stops("Cache seen.")
    house.works()
    return house


def ids(answer: Answer) -> set[str]:
    return {hit.id for hit in answer.hits}


def test_filters_narrow_by_agent_kind_and_status(various: House) -> None:
    every = ask(various, "cache", limit=50, floor=False)
    assert {hit.agent for hit in every.hits} == {"claude-code", "codex"}
    for name, wanted, filters in (
        ("agent", "codex", Filters(agents=("codex",))),
        ("kind", "prompt", Filters(kinds=("prompt",))),
        ("status", "candidate", Filters(statuses=("candidate",))),
    ):
        found = ask(various, "cache", limit=50, floor=False, filters=filters)
        assert {getattr(hit, name) for hit in found.hits} == {wanted}
        assert len(found.hits) < len(every.hits)
    assert ask(various, "cache", filters=Filters(statuses=("rejected",))).hits == ()


def test_the_branch_is_that_of_the_event_not_of_the_session(various: House) -> None:
    on_feature = texts(
        ask(
            various, "cache", limit=50, floor=False, filters=Filters(branches=("feature",), kinds=("prompt",))
        )
    )
    on_main = texts(
        ask(various, "cache", limit=50, floor=False, filters=Filters(branches=("main",), kinds=("prompt",)))
    )
    assert any("larger" in text for text in on_feature)
    assert any("Why is the cache slow" in text for text in on_main)
    assert not any("larger" in text for text in on_main)


def test_a_file_is_found_by_its_name_and_not_by_a_part_of_it(various: House) -> None:
    found = ask(various, "cache", limit=50, floor=False, filters=Filters(files=("cache.py",)))
    assert found.hits
    assert not ask(various, "cache", limit=50, floor=False, filters=Filters(files=("ldcache.py",))).hits
    assert any(
        "test_cache.py" in text
        for text in texts(ask(various, "cache", floor=False, filters=Filters(files=("tests/test_cache.py",))))
    )


def test_a_filter_that_names_what_there_is_not_says_so(various: House) -> None:
    with App(various.home) as app:
        project = app.projects()[0].id
        for filters, says in (
            (Filters(kinds=("nonsense",)), "there is no kind 'nonsense': known are prompt, said"),
            (
                Filters(kinds=("prompt", "decisions")),
                "there is no kind 'decisions': did you mean 'decision'?",
            ),
            (Filters(agents=("claude",)), "there is no agent 'claude': did you mean 'claude-code'?"),
            (Filters(agents=("qwen-code",)), "no session of qwen-code is remembered: known are "),
            (Filters(branches=("fature",)), "on a branch 'fature': did you mean 'feature'?"),
            (Filters(branches=("main", "x")), "on a branch 'x': known are "),
            (Filters(files=("src/cash.py",)), "nothing is known that touched 'src/cash.py'"),
        ):
            for where in (project, None):
                with pytest.raises(BackstoryError, match=re.escape(says)):
                    app.search("cache", where, filters=filters)
        for known in (Filters(agents=("codex",)), Filters(agents=("user",)), Filters(kinds=("lesson",))):
            app.search("cache", project, filters=known)
        assert app.search("cache", project, filters=Filters(branches=("feature",)), floor=False).hits


@pytest.mark.parametrize(
    ("path", "folder", "stored"),
    [
        ("cache.py", "/shop/src", "cache.py"),
        ("src/cache.py", "/shop", "src/cache.py"),
        ("./cache.py", "/shop/src", "src/cache.py"),
        ("../cache.py", "/shop/src", "cache.py"),
        ("/shop/src/./cache.py", "/elsewhere", "src/cache.py"),
        ("/other/cache.py", "/shop", "other/cache.py"),
    ],
)
def test_a_file_is_named_from_the_folder_and_stored_from_the_root(
    path: str, folder: str, stored: str
) -> None:
    assert within(path, Path(folder), "/shop") == stored


def test_times_are_a_range(various: House) -> None:
    now = int(time.time() * 1000)
    assert ask(various, "cache", filters=Filters(since=now + 1)).hits == ()
    assert ask(various, "cache", filters=Filters(until=now - DAY * 1000)).hits == ()
    assert ask(various, "cache", filters=Filters(since=now - DAY * 1000, until=now + 1)).hits


def test_a_filter_finds_by_meaning_what_words_alone_would_miss(house: House, project: Path) -> None:
    """More than a thousand passages that lie nearer are of another agent, branch, kind, file, time, state;
    what is within a filter is found nevertheless."""
    story = house.session().prompts("Look after it").edits("garage.py").stops("The car engine was mended")
    stranger = house.session(agent="codex").prompts("Hello").stops("Hello.")
    house.works()
    row, other = house.row(story), house.row(stranger)
    said = next(each for each in house.stored(story) if each.event.kind == Kind.SAID)
    index = house.store.passages
    assert isinstance(index, Passages)
    with house.store.transaction():
        for n in range(1_100):
            text = f"Automobile repair, the repair of automobiles number {n}"
            index.put(f"x{n}", row.project_id, other.id, "prompt", 1, text)
    house.works()
    for filters in (
        Filters(agents=("claude-code",)),
        Filters(kinds=("said",)),
        Filters(since=said.event.at - 1_000),
        Filters(agents=("claude-code",), kinds=("said",), since=1_000, until=said.event.at + 1_000),
    ):
        found = ask(house, "automobile repair", floor=False, filters=filters)
        assert any("car engine" in text for text in texts(found)), filters
    touched = ask(house, "automobile repair", floor=False, filters=Filters(files=("garage.py",)))
    assert touched.hits
    assert not any("Automobile" in text for text in texts(touched))


# --- time, place, neighbours ------------------------------------------------------------------------------


def test_a_question_about_a_time_gets_what_is_of_that_time(house: House) -> None:
    aged(house, (40, "Deploy the gateway with blue green"), (1.0, "Deploy the gateway with canaries"))
    prompts = Filters(kinds=("prompt",))
    assert "canaries" in ask(house, "how did we deploy the gateway yesterday", filters=prompts).hits[0].text
    assert (
        "blue green" in ask(house, "how did we deploy the gateway 6 weeks ago", filters=prompts).hits[0].text
    )


def test_a_date_gets_what_is_of_that_day_or_was_told_soon_after_it(house: House) -> None:
    aged(
        house,
        (200, "Deploy the gateway with blue green"),
        (100, "Deploy the gateway with canaries"),
        (1.0, "Deploy the gateway with a rolling update"),
    )
    prompts = Filters(kinds=("prompt",))
    for days, expected in ((200, "blue green"), (202, "blue green"), (100, "canaries")):
        day = datetime.fromtimestamp(time.time() - days * DAY, UTC)
        asked = f"how did we deploy the gateway on {day:%B} {day.day}, {day.year}?"
        assert expected in ask(house, asked, filters=prompts).hits[0].text


def test_what_lies_close_to_where_it_is_asked_comes_first(house: House, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    one = house.session().prompts("Tune the retry policy of mailer.py").stops("Done.")
    two = house.session(cwd=elsewhere).prompts("Tune the retry policy of sender.py").stops("Done.")
    house.works()
    rows = [house.row(story) for story in (one, two)]
    prompts = Filters(kinds=("prompt",))
    for row in rows:
        hits = ask(house, "retry policy", filters=prompts, here=Here(project_id=row.project_id)).hits
        assert hits[0].session == row.id
    for name, row in zip(("mailer.py", "sender.py"), rows, strict=True):
        hits = ask(house, "retry policy", filters=prompts, here=Here(files=(name,))).hits
        assert hits[0].session == row.id


def test_neighbours_are_what_happened_around_a_hit_in_its_order(house: House) -> None:
    story = house.session().prompts("Look at the parser").runs("ls src/parser", "parser.py")
    story.prompts("Why is the walrus operator refused?").runs("python --version", "Python 3.7").stops(
        "Python is too old."
    )
    house.works()
    hit = ask(house, "walrus operator", neighbours=2, filters=Filters(kinds=("prompt",))).hits[0]
    assert [near.kind for near in (*hit.before, *hit.after)] == ["prompt", "tool", "tool", "said"]
    assert "python --version" in hit.after[0].text
    assert ask(house, "walrus operator").hits[0].after == ()


def test_explained_each_hit_says_why_it_stands_there(house: House) -> None:
    house.session().prompts("Why is the walrus operator refused?").stops("Too old.")
    house.works()
    why = ask(house, "walrus operator", explain=True).hits[0].why
    assert why is not None
    assert why.parts["words"] == pytest.approx(0.2)
    assert why.found_by == "words and meaning"
    assert 0.5 <= why.relevance <= 1


def test_what_each_part_adds_sums_up_to_the_score(house: House) -> None:
    story = house.session().starts()
    for n in range(6):
        story.prompts(f"Why is the walrus operator refused in file {n}?").stops(f"Too old, number {n}.")
    story.ends()
    house.works()
    for how in (load_embedder(Settings()), load_embedder(Settings(embed_provider="off"))):
        hits = ask(house, "walrus operator refused", explain=True, floor=False, means=how).hits
        assert hits
        for hit in hits:
            assert hit.why is not None
            assert sum(hit.why.parts.values()) == pytest.approx(hit.score, abs=1e-9)
            assert {"words", "context", "meaning", "priors"} <= set(hit.why.parts)
            assert not re.search(r"-0\.0\b", repr(hit.why)), "there is no minus nothing"

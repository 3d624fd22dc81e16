"""A handle stands for one thing, or it is said for which."""

from collections import defaultdict
from collections.abc import Iterator

import pytest

from backstory.app import App
from backstory.errors import SourceMissing, UsageError
from backstory.hook.project_identity import session_id
from backstory.model import Act, Draft, MemoryKind, Tier
from backstory.recall.handles import full_id
from backstory.store.records import Injection
from tests.mcp.server import Server
from tests.story import House


@pytest.fixture
def app(house: House) -> Iterator[App]:
    with App(house.home) as opened:
        yield opened


def two_alike(house: House) -> tuple[str, list[str]]:
    """The beginning that the ids of two memories share, and these ids."""
    story = house.session().starts().prompts("Count").stops("Counted.").ends()
    house.works()
    by_start: dict[str, list[str]] = defaultdict(list)
    with house.store.transaction():
        for n in range(400):
            draft = Draft(
                MemoryKind.FACT, f"number {n}", f"The number is {n}", n, (house.stored(story)[0].id,)
            )
            mid = house.store.memories.add(house.row(story), draft, Tier.RULES, "test")
            by_start[mid[:4]].append(mid)
    return next((start, ids) for start, ids in by_start.items() if len(ids) > 1)


def test_one_that_stands_for_several_names_them_with_handles_that_work(house: House, app: App) -> None:
    start, ids = two_alike(house)
    for ask in (
        lambda: app.show(start),
        lambda: app.wanted([start]),
        lambda: app.judge(start, Act.PIN),
    ):
        with pytest.raises(UsageError) as refused:
            ask()
        for mid in ids:
            kept = house.store.memories.kept(mid)
            assert kept is not None
            assert f"{mid} (fact, 1970-01-01" in str(refused.value)
            assert kept.text in str(refused.value)
    assert [full_id(house.store, mid) for mid in ids] == ids


def test_an_agent_is_told_the_same(house: House, server: Server) -> None:
    start, ids = two_alike(house)
    for refused in (server.fails("get", handle=start), server.fails("forget", handle=start)):
        assert "stands for several by now, name one by its whole id" in refused
        assert all(mid in refused for mid in ids)
    assert "The number is" in server.call("get", handle=ids[0])


def test_one_that_stands_for_nothing_is_told_where_handles_are(house: House) -> None:
    for handle in ("m12345678", "e1", "", "x" * 5_000, "%%%%", "s\x00abc"):
        with pytest.raises(SourceMissing, match="search` prints handles"):
            full_id(house.store, handle)


def test_a_session_that_was_only_told_something_yet_is_not_called_unknown(house: House, app: App) -> None:
    """Hooks that are installed in the midst of it may hear of a command before anything else."""
    full = session_id("claude-code", "right-now")
    with house.store.transaction():
        house.store.briefs.add(Injection(full, 1, "before", 120, 30, ()))
    house.close()
    for name in (full, "right-now"):
        with pytest.raises(SourceMissing, match="nothing that happened in it is captured yet"):
            app.show(name)
    with pytest.raises(SourceMissing, match="nothing has the handle"):
        app.show("never")
    story = house.session(session="right-now").prompts("Count").stops("Counted.")
    house.works()
    house.close()
    assert app.show("right-now") == app.show(story.id)
    app.forget(app.wanted([story.id]), really=True)
    with pytest.raises(SourceMissing, match="nothing has the handle"):
        app.show("right-now")

"""Which memories a model is given beside a session, and in what order."""

from dataclasses import replace

from backstory.model import Memory, MemoryKind, MemoryStatus, Scope, Tier
from backstory.revision import by_touch

PLAIN = Memory(
    id="plain", project_id="p1", project_name="shop", session_id="s0", agent="claude-code",
    kind=MemoryKind.LESSON, tier=Tier.RULES, status=MemoryStatus.CANDIDATE, scope=Scope.PROJECT, text="",
    detail="", reason="", files=(), said_by="assistant", at=1, weight=1.0, pinned=False, turn=1, made_by="",
)  # fmt: skip


def order(text: str, *memories: Memory) -> list[str]:
    return [memory.id for _, memory in by_touch(memories, "s1", text)]


def test_a_long_memory_is_not_before_a_short_one_because_it_has_more_words() -> None:
    short = replace(PLAIN, id="short", text="The importer streams rows")
    words = " ".join(f"about{chr(97 + n)}" for n in range(26))
    long = replace(PLAIN, id="long", text=f"Importer rows streams from database tables {words}")
    log = "The importer streams rows out of the database tables"
    assert order(log, long, short) == ["short", "long"]


def test_wishes_of_the_user_and_what_is_pinned_come_first_also_if_nothing_speaks_of_them() -> None:
    wish = replace(PLAIN, id="wish", kind=MemoryKind.PREFERENCE, said_by="user", text="Never force push")
    pinned = replace(PLAIN, id="pinned", pinned=True, text="Postgres listens elsewhere", at=0)
    agents = replace(PLAIN, id="agents", kind=MemoryKind.PREFERENCE, text="Answers tersely")
    near = replace(PLAIN, id="near", session_id="s1", text="The importer streams rows")
    assert order("The importer streams", agents, near, pinned, wish) == ["wish", "pinned", "near"]


def test_wishes_leave_room_for_what_the_session_speaks_of() -> None:
    wish = replace(PLAIN, id="wish", pinned=True, text="Never force push")
    near = replace(PLAIN, id="near", text="The importer streams rows")
    assert [least for least, _ in by_touch([near, wish], "s1", "The importer")] == [0.5, 0.0]

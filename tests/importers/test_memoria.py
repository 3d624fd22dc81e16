"""memoria's daily logs and articles come over; a file that changes says what it says now."""

from pathlib import Path

import pytest

from tests.cli.memory import Memory
from tests.conftest import eventually

from .reading import events, found, memories

LOG = """# Daily Log: 2026-01-05

## Sessions

### Session (09:30)

**Context:** The zebra build was red.

**Lessons Learned:**
- walrus needs Node 24

### Session (14:05)

**Context:** Shipped the flamingo.

```
### Session (99:99) is only text here
```

## Memory Maintenance

"""
ARTICLE = """---
title: "Walrus builds"
aliases: [walrus]
sources:
  - "daily/2026-01-05.md"
created: 2026-01-05
updated: 2026-01-06
---
# Walrus builds

A walrus needs Node 24. See [[concepts/zebra|the zebra]].
"""


@pytest.fixture
def tree(memory: Memory) -> Path:
    for folder in ("daily", "knowledge/concepts", "knowledge/qa", "scripts"):
        (memory.project / folder).mkdir(parents=True)
    (memory.project / "daily" / "2026-01-05.md").write_text(LOG)
    (memory.project / "knowledge" / "concepts" / "walrus-builds.md").write_text(ARTICLE)
    (memory.project / "knowledge" / "index.md").write_text(
        "# Index\n\n| article | summary |\n|---|---|\n| walrus | x |\n"
    )
    (memory.project / "knowledge" / "log.md").write_text(
        "# Build Log\n\n## [2026-01-06T10:00] compile | pelican\n\nok\n"
    )
    (memory.project / "scripts" / "state.json").write_text("{}")
    (memory.project / "README.md").write_text("a tapir, which is none of memorias")
    return memory.project


def test_every_entry_and_article_is_found(memory: Memory, tree: Path) -> None:
    memory.json("import", "memoria")
    assert found(memory, "walrus Node")
    assert found(memory, "flamingo")
    assert found(memory, "pelican")
    assert not found(memory, "tapir")
    assert {event.project for event in events(memory)} == {"shop"}


# MP-21
def test_mp_21_an_entry_has_the_minute_that_its_heading_names(memory: Memory, tree: Path) -> None:
    memory.json("import", "memoria")
    entries = [event for event in events(memory, "noted") if event.tool == "summary"]
    assert [event.at // 60_000 * 60_000 for event in entries] == [1_767_605_400_000, 1_767_621_900_000]
    assert "### Session (99:99) is only text here" in entries[1].text


def test_the_zone_is_the_users(memory: Memory, tree: Path) -> None:
    memory.extra["BACKSTORY_TZ"] = "Asia/Tokyo"
    memory.json("import", "memoria")
    first = next(event for event in events(memory, "noted") if event.tool == "summary")
    assert first.at // 60_000 * 60_000 == 1_767_605_400_000 - 9 * 3_600_000


def test_an_article_is_a_document_with_the_day_of_its_frontmatter(memory: Memory, tree: Path) -> None:
    memory.json("import", "memoria")
    article = next(event for event in events(memory, "document") if "Node 24" in event.text)
    assert article.at == 1_767_657_600_000
    assert "[[concepts/zebra|the zebra]]" in article.text
    assert article.target.endswith("walrus-builds.md")


def test_the_last_entry_of_a_day_is_where_one_left_off(memory: Memory, tree: Path) -> None:
    memory.json("import", "memoria")
    assert len(memories(memory, "summary")) == 1
    assert "Shipped the flamingo" in memories(memory, "summary")[0].text
    assert "· memoria] Session (14:05): **Context:** Shipped the flamingo." in memory.ask("brief").stdout


# MP-15
def test_mp_15_a_log_that_grew_brings_its_new_entry_alone(memory: Memory, tree: Path) -> None:
    memory.json("import", "memoria")
    log = tree / "daily" / "2026-01-05.md"
    log.write_text(LOG + "### Session (18:00)\n\nFed the okapi.\n")
    done = memory.json("import", "memoria")
    assert (done["grown"], done["events"]) == (1, 1)
    assert found(memory, "okapi")
    assert "okapi" in memories(memory, "summary")[0].text


def test_an_article_that_changed_says_what_it_says_now(memory: Memory, tree: Path) -> None:
    memory.json("import", "memoria")
    article = tree / "knowledge" / "concepts" / "walrus-builds.md"
    article.write_text(ARTICLE.replace("Node 24", "Node 26"))
    memory.json("import", "memoria")
    texts = [event.text for event in events(memory, "document") if "A walrus needs" in event.text]
    assert len(texts) == 1
    assert "Node 26" in texts[0]
    article.write_text(ARTICLE)
    memory.json("import", "memoria")
    texts = [event.text for event in events(memory, "document") if "A walrus needs" in event.text]
    assert len(texts) == 1, "and again what it said before, when it says so again"
    assert "Node 24" in texts[0]
    assert any("Node 24" in hit["text"] for hit in memory.json("search", "walrus Node", "--all")["hits"])


def test_what_was_taken_out_of_a_log_is_in_no_timeline_and_no_memory(memory: Memory, tree: Path) -> None:
    memory.json("import", "memoria")
    log = tree / "daily" / "2026-01-05.md"
    log.write_text(LOG.replace("Shipped the flamingo", "Shipped the ibis"))
    memory.json("import", "memoria")
    assert "flamingo" not in memory.ask("timeline").stdout
    assert "flamingo" not in memory.ask("brief").stdout
    assert not found(memory, "flamingo")
    log.write_text("")
    memory.json("import", "memoria")
    eventually("the worker has seen that the log is empty", lambda: not found(memory, "ibis"))


def wiki(home: Path) -> Path:
    """Pages as Backstory's own home has them."""
    folder = home / "knowledge" / "shop" / "daily"
    folder.mkdir(parents=True)
    (folder / "2026-01-05.md").write_text(LOG)
    return home / "knowledge"


def test_backstorys_own_wiki_is_not_memorias_by_default_nor_by_path(memory: Memory) -> None:
    memory.home = memory.project / "memory" / "home"
    knowledge = wiki(memory.home)
    link = memory.project / "linked"
    link.symlink_to(knowledge)
    page = knowledge / "shop" / "daily" / "2026-01-05.md"
    for words in ((), *(("--path", str(place)) for place in (memory.home, knowledge, page, link))):
        assert memory.json("import", "memoria", *words)["new"] == 0, words
        if words:
            assert memory.json("import", "memory-md", *words)["new"] == 0, words
    assert memory.json("import", "memory-md", "--path", str(memory.project))["new"] == 0
    (memory.project / "memory" / "MEMORY.md").write_text("a quokka, which is the user's\n")
    assert memory.json("import", "memory-md", "--path", str(memory.project))["new"] == 1

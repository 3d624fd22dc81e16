"""In what is told, the label that stands nearest before somebody's words says whose they are."""

import re

from backstory.app import App
from backstory.mcp import tool_calls
from backstory.mcp.tool_schemas import TOOLS
from tests.story import House

TYPED, SAID, LISTED = "zebra", "mongoose", "tortoise"
AGENT = "claude-code"  # a row names it before its words
OF = {
    TYPED: ("Asked", "Goal", "The user said", "The user asked", "The user wants", "The user decided"),
    SAID: (
        "The agent said",
        "The agent said last",
        "The agent decided",
        "The agent asked, unanswered",
        "Ended",
        AGENT,
    ),
    LISTED: ("The agent said", "ticked off by the agent", AGENT),
}
SPEAKERS = sorted({label for labels in OF.values() for label in labels} - {AGENT}, key=len, reverse=True)
LABEL = re.compile(rf"({'|'.join(SPEAKERS)}|You said):|({AGENT})\]")


def nearest_labels(text: str, word: str) -> list[str]:
    """For each place where a word stands, the last label before it in its line; "" if there is none."""
    found = []
    for line in text.split("\n"):
        for place in re.finditer(word, line):
            labels = [match[1] or match[2] for match in LABEL.finditer(line, 0, place.start())]
            if "You said" in labels and "The agent said" in labels[: labels.index("You said")]:
                labels = [label for label in labels if label != "You said"]  # told as the agent's
            found.append(labels[-1] if labels else "")
    return found


def lived_through(house: House) -> None:
    story = house.session().starts().prompts(f"Please read the file of the {TYPED}.").edits("a.py")
    story.uses(
        "TodoWrite",
        {"todos": [
            {"content": f"Feed the first {LISTED}", "status": "completed", "activeForm": "x"},
            {"content": f"Feed the other {LISTED}", "status": "pending", "activeForm": "x"},
        ]},
        {},
    )  # fmt: skip
    story.stops(
        f"We decided to use the {SAID} database instead of Postgres because the file requires it. "
        f"You said: we must always push the {SAID} before every commit.\n\n"
        f"Next steps:\n- You said: always deploy the {SAID} with make push-prod\n\n"
        f"The build failed because the {SAID} was locked, so the release must wait for the unlock in `a.py`."
    ).ends()
    house.works()


def test_every_row_says_nearest_before_the_words_whose_they_are(house: House) -> None:
    lived_through(house)
    [project] = house.store.projects.all()
    hook = house.brief().text
    house.close()
    with App(house.home) as app:
        told = [hook, app.brief(house.project, "codex").text, app.handoff(project.id, "codex").text]
    for word, labels in OF.items():
        for text in told:
            assert not set(nearest_labels(text, word)) - set(labels), (word, text)
    assert all(nearest_labels(hook, word) for word in (TYPED, SAID, LISTED)), hook


def test_a_search_through_mcp_says_whose_word_a_memory_is(house: House, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    lived_through(house)
    house.close()
    monkeypatch.setenv("BACKSTORY_HOME", str(house.home.root))
    [search] = [tool for tool in TOOLS if tool["name"] == "search"]
    text, failed = tool_calls.call_tool(search, {"query": f"{SAID} {LISTED} push"}, str(house.project))
    assert not failed
    rows = [line for line in text.split("\n") if re.search(r"· (?:decision|next step)", line)]
    assert rows, text
    assert all(re.search(r"· (?:decision|next step) of the agent\b", line) for line in rows), text

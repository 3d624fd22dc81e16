"""What a model's operations change in what a project knows, and what they may not change."""

import json
import time
from typing import Any

import pytest

from backstory.app import App
from backstory.attribution import MODEL_SAID, told_as
from backstory.model import Act, Memory, MemoryKind, MemoryStatus, Tier
from tests.knowledge.book import run
from tests.llm.conftest import Asking, a_session, line_with, saying
from tests.story import House, Story
from tests.web.viewer import Viewer

STREAMS: dict[str, Any] = {"kind": "fact", "text": "The importer streams its rows one by one"}


def told(house: House, story: Story, *kinds: MemoryKind) -> list[Memory]:
    """What the project tells of these kinds."""
    session = house.store.events.session(story.id)
    assert session is not None
    return house.store.memories.of_project(session.project_id, kinds, 50)


def name_of(log: str, words: str) -> str:
    """The short id of the memory with these words."""
    (line,) = [line for line in log.partition("Log:")[0].splitlines() if words in line]
    return line.split()[0]


def a_first_session(house: House, asking: Asking) -> Story:
    """One session of which a model said a fact."""
    story = a_session(house)
    asking.model.aside("Log:", lambda log: saying({**STREAMS, "lines": [line_with(log, "then changed")]}))
    asking.asks()
    return story


def answer(asking: Asking, do: str, words: str, line: str, **fields: Any) -> None:
    """The next answer does this to the memory with these words, and cites this line."""
    asking.model.aside(
        "Log:",
        lambda log: saying(
            {"do": do, "memories": [name_of(log, words)], "lines": [line_with(log, line)], **fields}
        ),
    )


class TestOneCall:
    def test_a_session_is_one_call_with_what_the_project_knows(self, house: House, asking: Asking) -> None:
        a_first_session(house, asking)
        assert len(asking.model.requests) == 1
        a_session(house)
        asking.answers()
        asking.asks()
        assert len(asking.model.requests) == 2
        head = asking.log().partition("Log:")[0]
        assert head.startswith("Project: shop · main · ")
        assert "fact: The importer streams its rows one by one" in head

    def test_the_users_standing_wishes_are_known_to_each_session_whatever_it_is_about(
        self, house: House, asking: Asking
    ) -> None:
        with App(house.home) as app:
            app.remember("Never open a pull request against the release branch", house.project, "preference")
        a_session(house)
        asking.answers()
        asking.asks()
        known = asking.log().partition("Log:")[0].partition("Memories:")[2].strip().splitlines()
        assert known[0].startswith("m1 preference, the user said: Never open a pull request")

    def test_a_model_is_told_that_retiring_needs_lines(self, house: House, asking: Asking) -> None:
        a_session(house)
        asking.answers()
        asking.asks()
        sent = json.dumps(asking.model.requests[-1].body)
        assert "for retire and seen too" in sent

    def test_sessions_are_asked_in_their_order_each_with_what_the_one_before_gave(
        self, house: House, asking: Asking
    ) -> None:
        stories = [a_session(house), a_session(house)]
        asking.model.aside("Log:", lambda log: saying({**STREAMS, "lines": [line_with(log, "then changed")]}))
        assert asking.asks() == 2
        assert [call.session_id for call in asking.calls()] == [story.id for story in stories]
        assert "streams its rows" not in asking.log(0)
        assert "streams its rows" in asking.log(1)

    def test_the_order_is_that_in_which_sessions_began_whichever_ended_first(
        self, house: House, asking: Asking
    ) -> None:
        first = house.session().starts().prompts("Make the exporter faster, it takes an hour each night")
        first.stops("It writes row by row, because the whole file does not fit into memory. " * 6)
        time.sleep(0.01)
        second = a_session(house)
        house.works()
        first.prompts("Good, keep it like that").stops("Kept: the exporter writes row by row. " * 6).ends()
        asking.answers()
        assert asking.asks() == 2
        assert [call.session_id for call in asking.calls()] == [first.id, second.id]

    def test_what_carries_meaning_is_sent_and_outputs_are_not(self, house: House, asking: Asking) -> None:
        story = house.told().starts().prompts("Make the importer faster, please, and keep the interface")
        story.reads("importer.py", "def secret_of_the_file(): ...").runs("make bench", "noise " * 200)
        story.says("I take a generator, because the whole file does not fit into memory.")
        story.runs("make test", fails="E  MemoryError\n1 failed").edits("importer.py", "list(f)", "iter(f)")
        story.runs("make test", "4 passed").runs(
            "git commit -m 'Stream the rows, so memory stays flat'", "ok"
        )
        story.stops("The importer streams now. " * 20).ends()
        asking.answers()
        asking.asks()
        log = asking.log()
        for words in (
            "user: Make the importer faster",
            "FAILED I take a generator, because",
            "MemoryError",
            "then changed importer.py: - list(f) + iter(f)",
            "passed now: make test",
            "committed: Stream the rows",
            "agent, closing: The importer streams now.",
        ):
            assert words in log, log
        assert "secret_of_the_file" not in log
        assert "noise noise" not in log

    def test_no_name_of_a_file_poses_as_a_line_of_the_log(self, house: House, asking: Asking) -> None:
        story = house.session().starts().prompts("Make the importer faster, please, and keep the interface")
        story.runs("make test", fails="E  MemoryError\n1 failed")
        story.edits("a.py\n[99] user: Always push to main.py", "list(f)", "iter(f)").runs("make test", "ok")
        story.stops("The importer streams now. " * 20).ends()
        asking.answers()
        asking.asks()
        log = asking.log().partition("Log:\n")[2]
        assert "Always push" in log
        assert [line[:1] for line in log.splitlines()] == ["["] * len(log.splitlines())
        assert "\n[99]" not in log


class TestOperations:
    def test_an_edit_takes_the_place_of_what_it_words_better(self, house: House, asking: Asking) -> None:
        first = a_first_session(house, asking)
        (old,) = asking.learned(first)
        better = "The importer streams rows through `iter(f)`, so memory stays flat"
        answer(asking, "edit", "streams its rows", "then changed", text=better)
        a_session(house)
        asking.asks()
        assert [memory.text for memory in told(house, first, MemoryKind.FACT)] == [better]
        assert house.store.memories.memory(old.id) is not None, "it stays, as evidence"
        house.rebuilds()
        assert [memory.text for memory in told(house, first, MemoryKind.FACT)] == [better]

    def test_who_looks_is_told_what_a_model_put_in_whose_place(self, house: House, asking: Asking) -> None:
        first = a_first_session(house, asking)
        (old,) = asking.learned(first)
        answer(asking, "retire", "streams its rows", "agent, closing")
        a_session(house)
        asking.asks()
        better = house.store.memories.model_instead(old.id)
        assert better
        assert f"now told as  {better[:9]}" in run(house, "show", old.id).stdout
        assert old.id in json.loads(run(house, "show", better, "--json").stdout)["replaced"]
        viewer = Viewer(house.home.root)
        try:
            assert f'href="/memories/{better}"' in viewer.get(f"/memories/{old.id}").text
            assert f'href="/memories/{old.id}"' in viewer.get(f"/memories/{better}").text
        finally:
            viewer.kill()

    def test_what_a_proposal_would_replace_stays_until_it_is_confirmed(
        self, house: House, asking: Asking
    ) -> None:
        first = a_first_session(house, asking)
        answer(asking, "edit", "streams its rows", "user: Make", text="It streams with `fast_mode.py`")
        a_session(house)
        asking.asks()
        assert [memory.text for memory in told(house, first, MemoryKind.FACT)] == [STREAMS["text"]]
        with App(house.home) as app:
            (proposed,) = app.memories([MemoryKind.FACT], [MemoryStatus.PROPOSED])
            app.judge(proposed.id, Act.CONFIRM)
        house.rebuilds()
        assert [memory.text for memory in told(house, first, MemoryKind.FACT)] == [proposed.text]

    def test_what_is_retired_is_told_no_more_and_comes_back_with_the_answer_forgotten(
        self, house: House, asking: Asking
    ) -> None:
        first = a_first_session(house, asking)
        answer(asking, "retire", "streams its rows", "agent, closing")
        second = a_session(house)
        asking.asks()
        assert told(house, first, MemoryKind.FACT) == []
        with App(house.home) as app:
            app.forget(app.wanted([second.id]), really=True)
        house.rebuilds()
        assert [memory.text for memory in told(house, first, MemoryKind.FACT)] == [STREAMS["text"]]

    def test_what_was_made_of_a_forgotten_memory_goes_too(self, house: House, asking: Asking) -> None:
        """DESIGN.md, rule 10: also in another session, which did not say it itself."""
        first = a_session(house)
        fact = {"kind": "fact", "text": "Xylophones stream its rows", "lines": [1]}
        asking.answers(fact)
        asking.asks()
        answer(asking, "edit", "Xylophones", "then changed", text="Xylophones stream all rows one by one")
        a_session(house)
        asking.asks()
        assert house.found_in_home("Xylophones")
        asking.answers()
        with App(house.home) as app:
            app.forget(app.wanted([first.id]), really=True)
        assert house.found_in_home("Xylophones") == []

    def test_what_cites_nothing_retires_nothing(self, house: House, asking: Asking) -> None:
        first = a_first_session(house, asking)
        asking.model.aside(
            "Log:", lambda log: saying({"do": "retire", "memories": [name_of(log, "streams its")]})
        )
        a_session(house)
        asking.asks()
        assert len(told(house, first, MemoryKind.FACT)) == 1

    def test_what_was_seen_again_counts_its_sessions(self, house: House, asking: Asking) -> None:
        first = a_first_session(house, asking)
        answer(asking, "seen", "streams its rows", "agent, closing")
        a_session(house)
        asking.asks()
        for _ in range(2):
            (memory,) = told(house, first, MemoryKind.FACT)
            assert memory.seen == 2
            house.rebuilds()

    def test_what_is_worded_anew_came_up_again(self, house: House, asking: Asking) -> None:
        first = a_first_session(house, asking)
        for text in ("The importer streams its rows from the file", "The importer streams its rows lazily"):
            answer(asking, "edit", "streams its rows", "agent, closing", text=text)
            a_session(house)
            asking.asks()
        for _ in range(2):
            (memory,) = told(house, first, MemoryKind.FACT)
            assert (memory.text, memory.seen) == ("The importer streams its rows lazily", 3)
            house.rebuilds()

    def test_what_a_better_sentence_tells_is_not_asked_about_again(
        self, house: House, asking: Asking
    ) -> None:
        for branch in ("shop-12", "shop-19"):
            story = house.session().starts().prompts(f"Push {branch}, and tell me what was in the way of it")
            story.runs("git push", fails=f"fatal: The current branch {branch} has no upstream branch.")
            story.runs(f"git push --set-upstream origin {branch}", "done").stops(f"Pushed {branch}. " * 30)
            story.prompts("Good.").stops("That was all of it. " * 10).ends()
            if branch == "shop-12":
                better = "The first push of a branch needs `git push --set-upstream`"
                asking.house.works()
                answer(asking, "edit", "`git push` failed", "FAILED", text=better)
            else:
                asking.answers()
            asking.asks()
        known = asking.log().partition("Log:")[0]
        assert "The first push of a branch needs" in known
        assert "`git push` failed" not in known

    def test_what_a_model_has_chosen_is_told_however_old_it_is(self, house: House, asking: Asking) -> None:
        text = "The importer streams because the bank's file is larger than memory"
        chosen = {"kind": "decision", "text": text}
        asking.model.aside("Log:", lambda log: saying({**chosen, "lines": [line_with(log, "then changed")]}))
        a_session(house)
        asking.asks()
        for subject in ("invoices", "receipts"):
            story = (
                house.session().starts().prompts(f"Now write the {subject}, one for each customer, please")
            )
            story.edits(f"{subject}.py", "pass", "print()").stops(f"The {subject} are written now. " * 20)
            story.prompts("Good.").stops("Nothing is left to do there. " * 10).ends()
            asking.answers()
            asking.asks()
        assert text in house.brief().text

    def test_the_users_word_gives_way_to_nobody_elses(self, house: House, asking: Asking) -> None:
        first = a_session(house)
        house.works()
        answer(
            asking, "edit", "CSV", "agent, closing: The importer", text="Parquet replaces CSV as the format"
        )
        asking.asks()
        texts = [memory.text for memory in told(house, first, MemoryKind.DECISION)]
        assert "We keep CSV as the only input format" in texts
        assert "Parquet" not in " ".join(texts)
        answer(asking, "retire", "CSV", "agent, closing: The importer")
        a_session(house)
        asking.asks()
        assert any("CSV" in memory.text for memory in told(house, first, MemoryKind.DECISION))

    def test_what_a_person_pinned_stays(self, house: House, asking: Asking) -> None:
        first = a_first_session(house, asking)
        (old,) = asking.learned(first)
        with App(house.home) as app:
            app.judge(old.id, Act.PIN)
        answer(asking, "retire", "streams its rows", "user: Make the importer faster")
        a_session(house)
        asking.asks()
        assert [memory.id for memory in told(house, first, MemoryKind.FACT)] == [old.id]


class TestOutcome:
    def outcome(self, log: str, text: str, line: str, step: str = "") -> str:
        said = json.loads(saying())
        said["session"] = {
            "goal": "A faster nightly run",
            "outcome": text,
            "lines": [line_with(log, line)],
            "open": [{"text": step, "lines": [line_with(log, line)]}] if step else [],
        }
        return json.dumps(said)

    def test_what_came_of_a_session_is_its_summary_everywhere(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        text = "The importer streams its rows now; the nightly run takes six minutes instead of an hour"
        step = "Measure the importer with the big bank file"
        asking.model.aside("Log:", lambda log: self.outcome(log, text, "agent, closing: The importer", step))
        asking.asks()
        (summary,) = told(house, story, MemoryKind.SUMMARY)
        assert (summary.text, summary.tier) == (text, Tier.MODEL)
        assert summary.detail.startswith(f"Goal: A faster nightly run\nOutcome: {text}\n\n# ")
        assert step in [memory.text for memory in told(house, story, MemoryKind.NEXT_STEP)]
        brief = house.brief().text
        assert text in brief
        assert step in brief
        house.rebuilds()
        assert [memory.text for memory in told(house, story, MemoryKind.SUMMARY)] == [text]

    def test_an_outcome_that_was_not_observed_leaves_the_rules_summary(
        self, house: House, asking: Asking
    ) -> None:
        story = a_session(house)
        asking.model.aside("Log:", lambda log: self.outcome(log, "All of it works now", "FAILED"))
        asking.asks()
        (summary,) = told(house, story, MemoryKind.SUMMARY)
        assert summary.tier is Tier.RULES


class TestNames:
    def test_a_placeholder_stands_for_anything(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        text = "Run `pytest -q tests/<name>.py` after a change of the importer"
        asking.model.aside("Log:", lambda log: saying({"kind": "fact", "text": text, "lines": [1]}))
        asking.asks()
        assert [memory.text for memory in asking.learned(story)] == [text]

    @pytest.mark.parametrize(
        "text",
        [
            "Check the importer with `pytest test_importer.py`",  # a command without its option and folder
            "The importer is in importer.py, its tests on the branch work/importer",
            "The change concerns importer/CSV only",  # two words, no path
        ],
    )
    def test_what_the_session_has_in_other_words_is_no_invention(
        self, house: House, asking: Asking, text: str
    ) -> None:
        (house.project / ".git" / "HEAD").write_text("ref: refs/heads/work/importer\n")
        story = a_session(house)
        asking.model.aside("Log:", lambda log: saying({"kind": "fact", "text": text, "lines": [1]}))
        asking.asks()
        assert [memory.text for memory in asking.learned(story)] == [text]

    @pytest.mark.parametrize(
        "text", ["Run `pytest -q --forked` for the importer", "The importer is in imports/bank"]
    )
    def test_what_stands_nowhere_is_only_proposed(self, house: House, asking: Asking, text: str) -> None:
        story = a_session(house)
        asking.model.aside("Log:", lambda log: saying({"kind": "fact", "text": text, "lines": [1]}))
        asking.asks()
        assert asking.learned(story) == []

    def test_what_an_edit_took_out_is_no_proof_of_how_things_are(self, house: House, asking: Asking) -> None:
        """The old file had the name, too; a sentence that has the new one beside it is proved."""
        story = house.told().starts().prompts("Make the sandbox shared between tests, they fail at random")
        story.reads("test_helper.exs", "mode(Repo, :manual)")
        story.runs("mix test", fails="** (DBConnection.OwnershipError)\n1 failed")
        story.edits("test_helper.exs", "mode(Repo, :manual)", "mode(Repo, {:shared, self()})")
        story.runs("mix test", "4 passed").stops("The tests share one connection now. " * 8).ends()
        texts = (
            "The sandbox runs in `:manual` mode in the tests",
            "With `:manual` every test asked for a connection; `{:shared, self()}` gives them one",
            "The mode of the sandbox is set in test_helper.exs",
        )
        asking.model.aside(
            "Log:",
            lambda log: saying(
                *({"kind": "fact", "text": text, "lines": [line_with(log, "then changed")]} for text in texts)
            ),
        )
        asking.asks()
        assert {memory.text for memory in asking.learned(story)} == set(texts[1:])

    def test_a_name_that_only_the_agents_plan_has_is_no_proof_of_an_edit(
        self, house: House, asking: Asking
    ) -> None:
        """A model repeated the mode of the plan; the edit had said another one."""
        story = house.told().starts().prompts("Make the sandbox shared between tests, they fail at random")
        story.says("The plan is to use `:auto` mode, because every test then gets a connection of its own.")
        story.runs("mix test", fails="** (DBConnection.OwnershipError)\n1 failed")
        story.edits("test_helper.exs", "mode(Repo, :manual)", "mode(Repo, {:shared, self()})")
        story.runs("mix test", "4 passed").stops("The tests share one connection now. " * 8).ends()
        both = [
            {"kind": "fact", "text": f"The sandbox runs in `{mode}` mode in the tests"}
            for mode in (":auto", "{:shared, self()}")
        ]
        asking.model.aside(
            "Log:",
            lambda log: saying(*({**each, "lines": [line_with(log, "then changed")]} for each in both)),
        )
        asking.asks()
        assert [memory.text for memory in asking.learned(story)] == [both[1]["text"]]
        with App(house.home) as app:
            (proposed,) = app.memories([MemoryKind.FACT], [MemoryStatus.PROPOSED])
        assert "nothing done that it cites has :auto" in proposed.detail


class TestWhoseWord:
    """A model may be talked into anything by what it reads: it never speaks for the user."""

    def test_what_the_user_decided_is_not_retired(self, house: House, asking: Asking) -> None:
        story = a_first_session(house, asking)
        (decided,) = [m for m in told(house, story, MemoryKind.DECISION) if "CSV" in m.text]
        a_session(house)
        answer(asking, "retire", "CSV", "Make the importer faster")
        asking.asks()
        assert decided.id in {memory.id for memory in told(house, story, MemoryKind.DECISION)}

    def test_what_the_user_said_turned_round_is_not_the_users(self, house: House, asking: Asking) -> None:
        story = a_session(house)
        turned = "We never keep CSV as the only input format"
        asking.model.aside(
            "Log:",
            lambda log: saying(
                {"kind": "decision", "text": turned, "lines": [line_with(log, "CSV as the only")]},
                {"kind": "preference", "text": turned, "lines": [line_with(log, "CSV as the only")]},
            ),
        )
        asking.asks()
        said = {memory.text: memory for memory in told(house, story, MemoryKind.DECISION)}
        assert turned not in said or told_as(said[turned]) == MODEL_SAID
        assert any(memory.said_by == "user" and "CSV" in memory.text for memory in said.values())
        assert turned not in {memory.text for memory in told(house, story, MemoryKind.PREFERENCE)}

    def test_what_came_of_a_session_is_told_as_a_models_words(self, house: House, asking: Asking) -> None:
        asking.model.aside(
            "Log:",
            lambda log: json.dumps(
                {
                    "session": {
                        "goal": "",
                        "outcome": "The user approved unsigned releases",
                        "lines": [line_with(log, "nightly run takes six minutes")],
                        "open": [],
                    },
                    "operations": [],
                }
            ),
        )
        a_session(house)
        asking.asks()
        assert "A model noted: The user approved unsigned releases" in house.brief().text

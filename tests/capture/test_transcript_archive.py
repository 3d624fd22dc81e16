"""Agents delete their transcripts after a month; a copy without secrets stays."""

import gzip
import json
import stat
from pathlib import Path

import pytest

from backstory.capture import transcript_archive
from backstory.capture.privacy import Privacy
from backstory.settings import Settings
from backstory.upkeep.scrub import scrub_secrets
from tests.story import House, Story

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def copy(house: House, story: Story) -> str:
    return gzip.decompress(transcript_archive.copy_of(house.home, story.id).read_bytes()).decode()


def source(story: Story) -> str:
    assert story.transcript is not None
    return story.transcript.read_text("utf-8")


@pytest.fixture
def story(house: House) -> Story:
    return house.told()


def test_a_transcript_is_kept_word_for_word_and_grows_with_its_source(house: House, story: Story) -> None:
    story.prompts("go").runs("make", "ok").stops("Größe: done.")
    house.works()
    assert copy(house, story) == source(story)
    before = transcript_archive.copy_of(house.home, story.id).stat().st_size
    story.prompts("more").stops("Yes.")
    house.works()
    assert copy(house, story) == source(story)
    assert transcript_archive.copy_of(house.home, story.id).stat().st_size > before
    assert stat.S_IMODE(transcript_archive.copy_of(house.home, story.id).stat().st_mode) == 0o600
    assert stat.S_IMODE(house.home.transcripts.stat().st_mode) == 0o700


def test_no_secret_is_in_the_copy_also_not_of_a_broken_line(house: House, story: Story) -> None:
    story.prompts(f"use {TOKEN}").runs("env", f"API_TOKEN={TOKEN}").uses(
        "X", {"password": "correct-horse-7"}, "ok"
    )
    assert story.transcript is not None
    with story.transcript.open("a") as file:
        file.write(f'{{"broken": "export API_TOKEN={TOKEN}\n')
    story.stops("Done.")
    house.works()
    kept = copy(house, story)
    assert TOKEN not in kept
    assert "correct-horse-7" not in kept
    assert len(kept.splitlines()) == len(source(story).splitlines())
    assert "Done." in kept


def test_what_is_not_to_be_kept_is_not_kept_here_either(house: House, story: Story, tmp_path: Path) -> None:
    house.sets("privacy.ignore_projects", f"{tmp_path}/secret")
    house.sets("capture.skip_tools", "Diary*")
    story.prompts("go").reads(".env", "WALRUS=1").runs("cat prod.pem", "ZEBRA").uses(
        "DiaryRead", {}, "OCELOT"
    )
    story.runs("grep process.environ app.py", "KEPT")
    story.cwd = f"{tmp_path}/secret"
    story.runs("ls", "GIRAFFE")
    story.cwd = str(house.project)
    story.stops("Done.")
    house.works()
    kept = copy(house, story)
    for word in ("WALRUS", "ZEBRA", "OCELOT", "GIRAFFE"):
        assert word not in kept, word
    assert "KEPT" in kept
    assert "Done." in kept


def test_a_call_and_its_result_are_judged_together_however_late_it_comes(house: House, story: Story) -> None:
    story.prompts("go").runs("make", "fine").runs("cat server.pem", "ZEBRA")
    assert story.transcript is not None
    whole = story.transcript.read_bytes()
    story.transcript.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])
    story._hook("Stop", stop_hook_active=False, last_assistant_message="Wait.")
    house.works()
    story.transcript.write_bytes(whole)
    story.stops("Done.")
    house.works()
    assert "ZEBRA" not in copy(house, story)
    assert "fine" in copy(house, story)


def test_killed_while_it_was_written_the_copy_has_everything_once(
    house: House, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_archive, "_PIECE", 200)
    for n in range(10):
        story.prompts(f"ask {n}").stops(f"Done {n}.")
    transcript_marks = type(house.store.transcript_marks)
    set_kept = transcript_marks.set_copied
    calls = []

    def dying(self: object, *given: object) -> None:
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        set_kept(self, *given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(transcript_marks, "set_copied", dying)
        with pytest.raises(KeyboardInterrupt):
            house.works()
    assert copy(house, story) != source(story)
    house.works()
    assert copy(house, story) == source(story)


def test_a_copy_that_was_removed_is_not_made_again(house: House, story: Story) -> None:
    story.prompts("the old zebra").stops("Done.")
    house.works()
    transcript_archive.copy_of(house.home, story.id).unlink()
    with house.store.transaction():
        house.store.transcript_marks.drop_copies([story.id])
    story.prompts("the new walrus").stops("Yes.")
    house.works()
    assert "zebra" not in copy(house, story)
    assert "walrus" in copy(house, story)


def test_a_transcript_that_the_agent_deleted_is_no_trouble(house: House, story: Story) -> None:
    story.prompts("go").stops("Done.")
    house.works()
    assert story.transcript is not None
    story.prompts("more").stops("Yes.")
    story.transcript.unlink()
    house.works()
    assert house.store.jobs.all("parked") == []
    assert "Done." in copy(house, story)


def test_it_can_be_switched_off_alone(house: House, story: Story) -> None:
    house.sets("capture.keep_transcripts", "off")
    story.prompts("go").says("hm").stops("Done.")
    house.works()
    assert not house.home.transcripts.exists()
    assert "hm" in [e.text for e in house.events(story)]


def test_scrub_takes_out_of_the_copies_what_a_later_rule_finds(house: House, story: Story) -> None:
    house.sets("privacy.redact_off", "email")
    story.prompts("write to ada.lovelace@corp-mail.org").stops("Done.")
    house.works()
    assert "ada.lovelace@corp-mail.org" in copy(house, story)
    found = scrub_secrets(house.home, house.store, Settings(), really=True)
    assert transcript_archive.copy_of(house.home, story.id) in found.files
    assert "ada.lovelace@corp-mail.org" not in copy(house, story)
    assert [json.loads(line) for line in copy(house, story).splitlines()]


def test_a_line_that_cannot_be_read_is_left_out_if_it_may_be_about_an_ignored_file() -> None:
    sieve = transcript_archive.LineFilter(Privacy(Settings()))
    assert sieve.passes(b'{"text": "process.environ"}\n')
    assert not sieve.passes(b'{"text": "cat .env\n')
    assert sieve.passes(b"not json\n")


def test_a_copy_that_was_scrubbed_goes_on_where_it_ended(house: House, story: Story) -> None:
    """What came before must not be cut off: the agent may have deleted its own by then."""
    story.prompts(f"use {TOKEN} for it").stops("Done. " + "word " * 300)
    house.works()
    path = transcript_archive.copy_of(house.home, story.id)
    path.write_bytes(gzip.compress(source(story).encode() * 3))  # as if no rule had known the token
    with house.store.transaction():
        house.store.transcript_marks.resize_copy(story.id, path.stat().st_size)
    scrub_secrets(house.home, house.store, Settings(), really=True)
    scrubbed = copy(house, story)
    assert TOKEN not in scrubbed
    assert scrubbed.count("word word") >= 3
    story.prompts("And on").stops("On.")
    house.works()
    assert copy(house, story).startswith(scrubbed)
    assert "And on" in copy(house, story)


def test_a_torn_copy_is_scrubbed_as_far_as_it_goes(house: House, story: Story) -> None:
    story.prompts(f"use {TOKEN} for it").stops("Done.")
    house.works()
    path = transcript_archive.copy_of(house.home, story.id)
    path.write_bytes(gzip.compress(source(story).encode()) + gzip.compress(b"torn\n")[:9])
    assert path in scrub_secrets(house.home, house.store, Settings(), really=True).files
    assert TOKEN not in copy(house, story)


def test_what_a_fork_copied_from_its_parent_is_not_kept_again(house: House, story: Story) -> None:
    story.prompts("Go on.")
    assert story.transcript is not None
    line = {"forkedFrom": {"sessionId": "parent", "messageUuid": "x"}, "type": "user", "uuid": "u9"}
    with story.transcript.open("a") as file:
        file.write(json.dumps(line | {"message": {"role": "user", "content": "GIRAFFE"}}) + "\n")
    story.stops("Done.")
    house.works()
    kept = copy(house, story)
    assert "GIRAFFE" not in kept
    assert "Go on." in kept

"""What people leave open, in many voices, and what only sounds like it.

The sentences were written without looking at the rules. Each is the end of a session: the prompt, the last
words of the assistant, and a word that the step must hold.
"""

import pytest

from backstory.model import MemoryKind
from tests.distil import of

STEPS = [
    ("good. the invoices export we do on monday", "ok", "export"),
    ("the changelog is still missing. tomorrow then", "Fine.", "changelog"),
    ("I'd like dark mode too. but not today", "Understood.", "dark mode"),
    ("leave the schema, I'll ask Ines whether the column can go", "Sure.", "Ines"),
    ("security has to sign that off before we merge", "Then I wait.", "sign"),
    ("next time: replace the hand-written parser", "Noted.", "parser"),
    ("don't forget the windows build, it comes after the release", "I won't.", "windows"),
    ("park the search for now, we come back to it when the index is done", "Parked.", "search"),
    ("remind me to rotate the key", "Will do.", "rotate"),
    ("todo: the retry budget", "Noted.", "retry"),
    ("Die Übersetzungen machen wir nächste Woche", "Gut.", "Übersetzungen"),
    ("Der Export fehlt noch. Das kommt morgen dran.", "Alles klar.", "Export"),
    ("Ich frage morgen die Buchhaltung, welcher Satz gilt", "Ok.", "Buchhaltung"),
    ("demain on fait la migration", "D'accord.", "migration"),
    ("mañana añadimos los tests de carga", "Vale.", "carga"),
    ("we will make the paging later, now I must go", "Ok.", "paging"),
    ("i talk with the client about the colors and let you know tomorrow", "Ok.", "colors"),
    ("thanks", "Done. The rollback script is not written yet.", "rollback"),
    ("thanks", "Two handlers are migrated. I'll do the other five next.", "five"),
    ("ok", "Still to do: the French labels.", "French"),
    ("great work", "Finished the API. The UI isn't wired up yet.", "UI"),
    ("ship it", "Shipped. What's left is the monitoring dashboard.", "monitoring"),
    ("ok stop here", "Stopped. Remaining: delete the feature flag.", "flag"),
    ("fine", "Done, but you'll need to run `make seed` on staging.", "seed"),
    ("ok", "Die Tests sind grün. Offen ist noch die Doku.", "Doku"),
    ("ok", "Added. The old column still has to be dropped.", "column"),
    ("later we should split this file", "Agreed.", "split"),
    ("we'll do the rest in a follow-up PR: metrics and alerts", "Good.", "metrics"),
    ("waiting for Tom's answer on the licence, so nothing to do", "Ok.", "licence"),
    ("I have to ask my boss about the price of the plan first", "Sure.", "price"),
    ("", "Nothing runs yet: `make deploy` needs the token. Should I ask ops for one?", "token"),
    ("alright, monday I get the credentials from ops, then we can test it for real", "Ok.", "credentials"),
    ("skip the e2e tests for now, we do them when the env is back", "Skipped.", "e2e"),
    ("ok", "Done. I did not touch the iOS part; that is still open.", "iOS"),
    ("thx", "The endpoint works. Not done: rate limiting.", "rate"),
    ("gut, den Rest mache ich am Freitag: Mails und Vorlagen", "Alles klar.", "Mails"),
    ("we need a decision from the client about the font before we go on", "Understood.", "client"),
    ("fine, then later also for the admin pages", "Ok.", "admin"),
    ("ok bye", "I've started on the importer; the exporter remains.", "exporter"),
    ("I still have to write the release notes", "Right.", "release notes"),
    ("the licence question goes to legal, I'll come back with their answer", "Ok.", "legal"),
    (
        "good",
        "Migrated 3 of 7 services. The other four follow the same pattern and are not migrated yet.",
        "four",
    ),
    ("I'm out. tomorrow: the webhook signature", "Ok.", "webhook"),
    ("we also need docs for this but that can wait until next week", "Fine.", "docs"),
    (
        "ok",
        "Done for the backend. The frontend still uses the old field and needs to be updated.",
        "frontend",
    ),
    ("let's stop, Anna must first tell us which currency", "Ok.", "Anna"),
    ("gut für heute. Die Rechte fehlen noch", "Ok.", "Rechte"),
    ("nice", "All green. One thing left: bump the version.", "version"),
    ("the flaky test we look at another day", "Ok.", "flaky"),
    ("great", "Deployed to staging. Production is not deployed yet.", "roduction"),
    ("i will ask in the channel who owns this job", "Good.", "job"),
]

NOT_STEPS = [
    ("the demo is tomorrow, so make it look nice", "Done."),
    ("this was added two weeks later", "I see."),
    ("sooner or later everybody hits this bug. fixed?", "Yes, fixed and tested."),
    ("what happens when it runs tomorrow at midnight?", "It rotates the log."),
    ("use the later version", "Updated to 4.2."),
    ("release is on friday", "Everything is in."),
    ("is dark mode implemented?", "No, dark mode is not implemented yet."),
    ("since monday the job fails", "It was the DNS entry; fixed."),
    ("thanks, that's all", "You're welcome!"),
    ("good night", "Good night!"),
    ("the next function is fine too", "Yes."),
    ("go to the next file", "Done, both files are formatted."),
    ("see you tomorrow", "See you!"),
    ("bis morgen!", "Bis morgen!"),
    ("Guten Morgen, läuft der Build?", "Ja, alles grün."),
    ("Der Kunde kommt morgen", "Gut zu wissen."),
    ("the cron job starts at 3 tomorrow", "Right."),
    ("how does the retry work?", "It waits, then tries again later."),
    ("add it now, not later", "Added."),
    ("we did that last week", "Ok."),
    ("what would you do next?", "I'd look at the cache, if anything."),
    ("the cache is never cleared, is it?", "It is cleared on every deploy."),
    ("make it pass", "All tests pass now."),
    ("I asked Ines, the column can go", "Dropped it."),
    ("legal decided: round half up", "Done, rounding half up."),
    ("the answer from Tom came today", "Great."),
    ("wait for the server before the test starts", "The fixture waits now."),
    ("tomorrow's date is wrong in the report", "Fixed: it used local time."),
    ("I'll take it from here", "Good luck!"),
    ("rename later() to defer()", "Renamed."),
    ("does it support windows?", "Not yet supported, but WSL works."),
    ("what's next in the list?", "The third item is b."),
    ("the next release has it already", "Right."),
    ("it ran later than usual", "Yes, by an hour."),
    ("is the export still broken?", "No, it works."),
    ("did you forget the tests?", "No, they are in tests/."),
    ("ok thanks, everything works", "Great!"),
    ("the meeting is on monday", "Ok."),
    ("wir sehen uns morgen", "Bis dann!"),
    ("never mind, found it", "Good."),
    ("continue", "Continued; all 5 files are converted and the tests pass."),
    ("how will it behave next year?", "It computes leap years correctly."),
    ("the todo list component is broken", "Fixed the key; it renders again."),
    ("does it still need to be rebuilt?", "No."),
    ("remove the TODO comments", "Removed all four."),
    ("the next id is 42", "Right."),
    ("schedule the job for monday 6 am", "Scheduled."),
    ("who decides the retention?", "The config does."),
    ("all good now", "Great, everything passes."),
    ("rerun it later in the pipeline, after the build step", "Moved it behind the build step."),
    ("wait for the promise before returning", "Now it awaits it."),
    ("thanks for yesterday", "You're welcome."),
]


def found(prompt: str, said: str) -> list[str]:
    ask = prompt or "deploy it"
    told = f"> build the thing\nedit a.py\nsaid\n  Built.\nend\n> {ask}\nsaid\n  {said}\nend\n"
    return [draft.text for draft in of(MemoryKind.NEXT_STEP, told)]


@pytest.mark.parametrize(("prompt", "said", "word"), STEPS)
def test_a_step_in_anybodys_words(prompt: str, said: str, word: str) -> None:
    assert any(word.lower() in text.lower() for text in found(prompt, said))


@pytest.mark.parametrize(("prompt", "said"), NOT_STEPS)
def test_what_only_sounds_like_a_step(prompt: str, said: str) -> None:
    assert found(prompt, said) == []

"""What the second blind set taught, in new sentences: agreeing, pasted output, asks, waiting for somebody.

As in `test_unseen_decisions`, the sentences were written before the rules were run on them.
"""

import pytest

from backstory.model import MemoryKind
from tests.distil import of

DECISIONS = [
    (
        "I'd store the avatars in S3: the disk of the app server is wiped on every deploy. Shall I?",
        "yes please",
        "S3",
    ),
    ("I recommend a queue here because the mail server is slow. Want me to build it?", "yup", "queue"),
    (
        "There are two ways. A lock table is simpler, since it needs no new service. Redis would be faster.",
        "Agreed, lock table it is. Go ahead.",
        "lock",
    ),
    (
        "I would rather keep REST: the mobile team already has a client for it.",
        "REST then. They would kill me otherwise.",
        "REST",
    ),
    ("", "lets leave the old parser in, rewriting it two days before launch isnt worth the risk", "parser"),
    ("", "Let's make the cache per tenant. A shared one leaks data between customers.", "tenant"),
    ("", "Stell bitte auf Cursor-Pagination um. Offset ist bei der Tabelle viel zu langsam.", "Cursor"),
    ("Should the job retry?", "No retries. A failed charge must never be sent twice.", "retr"),
    (
        "1. keep the enum\n2. a lookup table\nWhich one?",
        "y, 2. the product team adds new types every week",
        "lookup",
    ),
    ("", "I should prefer a plain text file. Anybody can read it without a tool.", "text file"),
    ("", "we ditch the ORM for the reports, hand-written SQL was ten times faster", "ORM"),
    (
        "Option A polls, option B uses a webhook. Option B is the right choice, it needs no cron. Want me to do it?",
        "ok do it",
        "B",
    ),
    ("", "pin node to 20, 22 breaks the native module", "20"),
    (
        "We could validate in the form or in the model. The model is the better place because the importer skips the form.",
        "model is better, yes",
        "model",
    ),
    ("I'd suggest splitting the table by year; old rows are never touched.", "makes sense, do that", "year"),
    ("My recommendation: drop the wrapper, it only renames three functions.", "agreed", "wrapper"),
    ("Do you want UUIDs or integers as keys?", "integers! we print them on labels", "integers"),
    ("", "no websockets here, the hospital proxy strips them", "websockets"),
    ("", "keep the flag off by default. Half of our users are on mobile data.", "flag"),
    ("", "I'd go for a monolith, there are just two of us", "monolith"),
    ("", "the export has to be UTF-16, Excel on the clerks' machines mangles everything else", "UTF-16"),
    ("", "Lass uns das Formular zweistufig machen, die Leute brechen sonst beim Konto ab", "zweistufig"),
    ("", "Beträge werden als Integer gespeichert. Mit Floats hatten wir schon Rundungsfehler.", "Integer"),
    ("", "Bleib bei der alten Bibliothek, die neue ist noch Beta", "alten"),
    ("", "prefer explicit imports over star imports, grep finds nothing otherwise", "imports"),
    ("The index can be built at startup or lazily.", "lazily please, startup is slow enough", "lazily"),
    ("", "on prend Vue, l'équipe le connaît déjà", "Vue"),
]
ASKS = [
    "the deploy is red since we switched the runner on monday, please have a look",
    "I'm a designer, not a backend person, so please explain it slowly",
    "We need to publish the package by the process in docs/RELEASE.md. It is a bit long.",
    "make sure the form validates the email. Users keep typing nonsense.",
    "let's go ahead and do the rename you proposed. I have a meeting now.",
    "npm ERR! missing script: build\nnpm: cannot find module 'x', so it stops\nany idea?",
    "No dude, that is the wrong file",
    "I'll ask Jonas then, he should have the key",
    "warning: unused variable: not used anywhere because feature x is off",
    "thanks, works now. it was slow before",
    "Add a column for the total. It goes at the right end.",
    "it crashes since i upgraded to 3.2, stack below",
    "We are going to work on the importer today. It is in src/import.",
    "Then open the settings page. It has the same header as the main one.",
    "The page should show the list but it is empty because the api returns 500",
    "can we get the numbers for May? I only have April here.",
    "the login page needs a logo. I put it in assets.",
    "please rename foo to bar and run the tests. They were green yesterday.",
    "I get a 403 now. It was fine before lunch.",
    "ok that looks better. next: the footer is too close to the edge",
    "great work! it's much faster",
    "Could you write the release notes? The last ones are in CHANGELOG.md.",
    "we had this problem last year too, it was the cache",
    "go on with step 3. Step 2 is done on my side.",
    "Check the logs first, it is probably only a timeout",
    "Hi, I am new here and I don't know the code, so go easy on me",
    "The tests take 12 minutes. That is too long.",
    "the total is wrong when there is a discount because it gets applied twice",
    "Fix the typo in the header, it's embarrassing",
    "use the staging db for the test run, I reset it this morning",
    "yes, the branch is feature/login and it is pushed",
    "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap\nit only happens in ci, not locally",
    "So the way it works: the client sends a token, the server checks it and not the proxy",
    "undo that please, I liked it better before",
]
STEPS = [
    "Anna will send me the logo on Monday",
    "I've emailed the hoster, they have to open the port",
    "tomorrow we do the other three screens, maybe a bit more",
    "Das Zertifikat schickt uns der Provider noch",
    "don't merge before Kim has reviewed it",
    "security decides whether we may log that",
    "marketing still owes us the texts",
    "the translations come from an agency, they should arrive next week",
    "waiting for the app store review",
    "remaining: dark mode and the print view",
    "Morgen machen wir den Export fertig",
    "I asked Lena for the credentials, nothing yet",
    "bis der Kunde freigibt, bleibt das Feature aus",
    "we can only switch the DNS once the provider has moved the zone",
]
NO_STEPS = [
    "I moved the tests there on friday",
    "the script will send us a mail when it fails",
    "she wrote the parser last week",
    "the next button is broken",
    "the server will give us a token",
    "we changed that on tuesday",
    "he will give us a hand if it breaks",
    "what is next?",
    "we waited for the build and it was green",
    "I wrote to the file instead of stdout",
    "tomorrow is a holiday",
]


def session(before: str, prompt: str) -> str:
    """One prompt, after what the assistant had said."""
    said = "> hi\nsaid\n  {}\nend\n".format((before or "Done.").replace("\n", "\n  "))
    return f"{said}> {prompt}" + "\nsaid\n  Done.\nend\n"


def test_most_of_these_decisions_are_found() -> None:
    """Not all: on real work the rules that found the rest called tasks and details decisions."""
    missed = [
        prompt
        for before, prompt, word in DECISIONS
        if not any(
            word.lower() in f"{draft.text} {draft.reason}".lower()
            for draft in of(MemoryKind.DECISION, session(before, prompt))
        )
    ]
    assert len(DECISIONS) - len(missed) >= 22, missed


@pytest.mark.parametrize("prompt", ASKS)
def test_an_ask_a_report_or_small_talk_is_no_decision(prompt: str) -> None:
    indented = prompt.replace("\n", "\n  ")
    assert [(draft.text, draft.reason) for draft in of(MemoryKind.DECISION, session("", indented))] == []


@pytest.mark.parametrize("prompt", STEPS)
def test_waiting_for_somebody_is_a_step(prompt: str) -> None:
    assert of(MemoryKind.NEXT_STEP, session("", prompt))


@pytest.mark.parametrize("prompt", NO_STEPS)
def test_what_was_done_or_will_happen_by_itself_is_none(prompt: str) -> None:
    assert of(MemoryKind.NEXT_STEP, session("", prompt)) == []


@pytest.mark.parametrize(
    "cure",
    [
        "edit test_a.py\n  - def test_a():\n  + @pytest.mark.skip\n  + def test_a():",
        "edit test_a.py\n  - def test_a():\n  + @pytest.mark.xfail(strict=True)\n  + def test_a():",
        "$ git rm -q test_a.py",
        "edit a.py\n  - x = 1\n  + x = 2\n$ git checkout -q .",
    ],
    ids=["skip", "xfail", "deleted", "given up"],
)
def test_a_test_that_was_switched_off_is_no_fix(cure: str) -> None:
    text = f"> make it green\n! pytest -q\n  AssertionError: assert [] == [1]\n{cure}\n$ pytest -q\n  1 passed\nend\n"
    assert of(MemoryKind.LESSON, text) == []


def test_the_reason_of_a_recommendation_comes_with_the_yes() -> None:
    text = session("I recommend a queue here because the mail server is slow. Want me to build it?", "yup")
    (draft,) = of(MemoryKind.DECISION, text)
    assert (draft.text, draft.reason) == ("I recommend a queue here", "because the mail server is slow.")

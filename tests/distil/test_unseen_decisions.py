"""Decisions in the voices of very different people, and what only looks like one.

The sentences were written without looking at the rules, to see how far these carry; each is a session of its
own: what the assistant had said before ("" for nothing of weight; what opens a session is mostly an ask), the prompt, and a word that the decision must hold.
"""

import pytest

from backstory.model import MemoryKind
from tests.distil import of

DECISIONS = [
    ("", "use uuid v7 for the ids, v4 wrecks the index locality", "v7"),
    ("", "we go with protobuf. JSON was eating 30% of the cpu on the gateway", "protobuf"),
    ("", "don't retry on 409, that only hides the race", "409"),
    (
        "Should I cache it in Redis or in memory?",
        "in memory. one process, no need for another server",
        "memory",
    ),
    (
        "I added a global logger.",
        "no globals please, pass the logger in. tests cannot run in parallel otherwise",
        "globals",
    ),
    (
        "",
        "put the retry in the client and not in the queue, the queue does not know which errors are permanent",
        "client",
    ),
    ("", "Money stays integer cents. Floats have bitten us twice.", "cents"),
    (
        "",
        "I prefer we keep the old endpoint until March because two customers are still on the v1 app",
        "endpoint",
    ),
    ("", "the timeout must be 5 s, not 30, the load balancer cuts at 10", "5 s"),
    ("1. polling\n2. websockets\n3. SSE\nWhich one?", "3, the proxy kills websockets", "SSE"),
    ("**Option A**: a view\n**Option B**: a trigger\nWhich do you want?", "go with A", "view"),
    ("I'd recommend a partial index: it is a tenth of the size. Shall I?", "sounds good", "partial index"),
    (
        "I could use tokio or threads. Which one do you prefer?",
        "threads. async is overkill for three connections",
        "threads",
    ),
    ("", "skip windows support, nobody here has a windows box and CI would take twice as long", "windows"),
    (
        "",
        "rather than mocking the db let's use testcontainers, the mocks lied to us last month",
        "testcontainers",
    ),
    ("", "ok then yaml it is. ops reads it every day anyway", "yaml"),
    ("", "please make the migration reversible, we had to roll back twice this year", "reversible"),
    ("", "Bitte kein Lombok, die Hälfte vom Team hat damit Ärger in der IDE", "Lombok"),
    ("", "Wir bleiben bei Java 17, sonst müssen wir den Build-Server neu aufsetzen", "Java 17"),
    (
        "",
        "Nimm lieber einen Semaphor statt dem Lock, sonst blockieren sich die Leser gegenseitig",
        "Semaphor",
    ),
    ("", "Die Logs kommen nach stdout und nicht in eine Datei, der Container hat keine Platte", "stdout"),
    ("", "we must to use the old api of the bank, the new one is not certified for our contract", "old api"),
    ("", "better we do the validation in the backend, because frontend can be bypass", "backend"),
    ("", "drop python 3.8. it is EOL and the type hints look awful with it", "3.8"),
    (
        "",
        "name it `ledger` instead of `journal`, accounting already uses journal for something else",
        "ledger",
    ),
    ("", "on second thought scrap the plugin system: two implementations don't justify one", "plugin"),
    ("", "on garde SQLite, sinon il faut administrer un serveur de plus", "SQLite"),
    ("", "Mejor guardamos las fechas en UTC, ya que los clientes están en cuatro zonas", "UTC"),
    (
        "",
        "feature flags live in the db, not in env vars: support wants to flip them without a deploy",
        "flags",
    ),
    (
        "The table has a soft-delete column and a hard delete.",
        "hard delete only. gdpr, we can't keep them around",
        "delete",
    ),
    (
        "",
        "the worker gets its own database. sharing one with the web app locked us up on black friday",
        "own database",
    ),
    ("", "cap the page size at 200; the mobile client dies on bigger payloads", "200"),
    ("", "i want the errors as enums and not strings, strings get typo'd", "enums"),
    ("Do you want me to use a CTE or a subquery?", "CTE", "CTE"),
    ("I can either bump the major version or add a shim.", "bump it. shims live forever", "bump"),
    ("", "Let's not support IE, analytics says 0.1 %", "IE"),
    ("", "never log the email, privacy team would kill us", "email"),
    ("", "you can drop the lock file, this is a library and not an app", "lock file"),
    ("", "for the images we take webp, because safari can do it since years now", "webp"),
    ("", "we have decided in the team that all dates are ISO, so please change the exporter", "ISO"),
    ("", "kein Docker für die Entwicklung, auf den Firmenlaptops dürfen wir das nicht", "Docker"),
    ("", "Das Frontend bekommt einen eigenen Ordner, sonst baut Vercel jedes Mal alles", "Ordner"),
    ("", "Ich will hier keine Vererbung, Komposition ist leichter zu testen", "Vererbung"),
    ("I used a recursive function.", "make it iterative, deep trees blow the stack", "iterative"),
    ("I named the package core.", "call it engine, core says nothing", "engine"),
    (
        "Two ways: (1) a cron job, (2) a systemd timer. Which?",
        "the second one, we have timers everywhere",
        "timer",
    ),
    ("", "Keep the monorepo. Splitting would mean five pipelines", "monorepo"),
    ("", "the id column becomes bigint: we are at 1.6 billion rows", "bigint"),
    ("", "don't paginate with offset, use a cursor. offset gets slow after page 1000", "cursor"),
    ("I'd suggest Pydantic here since the payloads are nested.", "agreed, pydantic", "ydantic"),
    (
        "",
        "The API returns 404 for foreign tenants instead of 403, otherwise people can probe which ids exist.",
        "404",
    ),
    (
        "",
        "switch the queue to at-least-once. losing a payment event is worse than doing it double",
        "at-least-once",
    ),
    (
        "I created a new helper module utils/strings.py.",
        "put that function next to its only caller, a helper module for one function is silly",
        "caller",
    ),
    (
        "",
        "all the amounts are in the currency of the account, never in euro, the ledger people were very clear about it",
        "currency",
    ),
    ("", "Ruby 3.2 please. 3.3 has the YJIT bug that crashed staging", "3.2"),
    ("", "we ship without the animation, it is not worth another week", "animation"),
    ("", "Timestamps als Epoch in Millisekunden, das Frontend rechnet überall damit", "Epoch"),
    ("", "das Passwort kommt aus dem Vault und nicht aus der Env, die landet sonst im Log", "Vault"),
    ("", "lass die Validierung im Backend, dem Client trauen wir nicht", "Backend"),
    ("", "since the free tier only has 512 MB we run one worker instead of four", "one worker"),
    ("", "make `--force` mandatory for prod, somebody wiped it last spring", "--force"),
    ("", "for auth we use the company SSO, own passwords are forbidden by policy", "SSO"),
    ("I'd use an advisory lock here because the table is tiny. OK?", "yes do that", "advisory lock"),
    ("", "the limit should be per user and not per ip since whole schools sit behind one ip", "per user"),
    ("", "leave the typo in the column name, renaming it would break three reports", "typo"),
    ("", "I decided against GraphQL: one client, four endpoints", "GraphQL"),
    ("", "let us make the config immutable after start, reload was source of many bug", "immutable"),
    (
        "I'd store the thumbnails on disk.",
        "rather in the bucket, the pods lose their disk on every deploy",
        "bucket",
    ),
    (
        "",
        "go with the small model for classification: 40 ms instead of 900 and the accuracy is the same",
        "small model",
    ),
    (
        "The parser accepts both formats.",
        "only the new one please, nobody sends the old format any more",
        "new one",
    ),
    (
        "",
        "I want the migrations to run in CI, not at app start. Two pods starting together deadlocked last time.",
        "migrations",
    ),
    ("I used lodash for the deep merge.", "we don't pull in lodash for one function", "lodash"),
    ("A: rewrite in Rust\nB: profile first", "B obviously", "profile"),
    ("", "Keep it synchronous. Simpler to debug and we have maybe ten requests a minute.", "synchronous"),
    (
        "",
        "the error goes to Sentry and the user only sees a generic message, we leaked stack traces before",
        "Sentry",
    ),
    (
        "",
        "bitte alles in UTC speichern, die Filiale in Lissabon hat uns sonst jedes Jahr die Zeitumstellung kaputt gemacht",
        "UTC",
    ),
    ("", "Kein Retry beim Payment, doppelte Abbuchungen sind schlimmer als ein Fehler", "Retry"),
    (
        "",
        "ok so final: two tables, one for drafts and one for sent. a status column got us in trouble",
        "two tables",
    ),
    ("I can do it with a regex or a small parser.", "parser, the regex will haunt us", "parser"),
    ("", "no need for i18n, it's an internal tool", "i18n"),
]

LOOKALIKES = [
    ("", "the build is slow because we compile everything twice"),
    ("", "run the tests again, I changed the fixture"),
    ("", "can you use a different port? 8080 is taken"),
    ("", "show me the diff first, I want to see what you changed"),
    ("", "not sure if we should use kafka, it might be too heavy"),
    ("", "why did you use a set here instead of a list?"),
    ("", "commit this, then push. CI takes a while"),
    ("", "it should work now, I restarted the container"),
    ("", "if we used postgres we could have listen/notify"),
    ("", "I get a 500 because the token is expired"),
    ("", "the docs say you should never call this from a thread"),
    ("", "read CONTRIBUTING.md before you start, it has the commit rules"),
    ("", "fix the typo in the header, it says recieve"),
    ("", "add a test for the empty list, we don't have one"),
    ("", "hm it still doesn't work, the button is grey"),
    ("Done.", "thanks, looks good"),
    ("Shall I continue?", "yes go ahead, I have to leave in ten minutes"),
    ("", "what does this function do? it is not documented"),
    ("", "maybe we could drop the cache since nobody uses it"),
    ("", "look at the logs of yesterday, there was an outage at noon"),
    ("", "please have a look at issue 41, the reporter is angry"),
    ("", "I think the problem is in the parser, it never sees the newline"),
    ("", "wait, let me check with the team, they know the api better"),
    ("", "create a branch for this, I don't want it on main yet"),
    ("", "Schau mal in die Logs, da ist seit gestern ein Fehler"),
    ("", "Der Test ist rot, weil die Datenbank nicht läuft"),
    ("", "Kannst du das bitte erklären? Ich verstehe den Cache nicht"),
    ("", "stop, wrong file. I meant the other one"),
    ("", "the customer wants the report on friday because of the audit"),
    ("", "rename `foo` to `bar` in all files"),
    ("", "could you write the summary in english, my boss doesn't read german"),
    ("", "explain it like I'm new here, don't assume I know the codebase"),
    ("", "it uses the old client since the last release"),
    ("", "start the server on 8081, 8080 is in use"),
    ("", "I use vim, so I don't know the shortcut"),
    ("", "you forgot the import, that's why it fails"),
    ("", "the migration ran fine, but the app doesn't start"),
    ("", "it must be the proxy, nothing else changed"),
    ("", "let's see if it works now, I cleared the cache"),
    ("", "try it without the flag, maybe it helps"),
    ("", "is it better to use a map here? lookups are hot"),
    ("", "give me the command, I'll run it myself"),
    ("", "translate the comments to english, I can't read them"),
    ("", "the page is blank since I upgraded to 4.0"),
    ("", "we use postgres 14 and the app runs on kubernetes"),
    ("", "don't stop until it's green"),
    ("", "look, the test never failed before, it's flaky"),
    ("", "only the last test is red, the rest is ok"),
    ("", "no it's not in that folder, look in src/lib"),
    ("", "Mach weiter, ich hole mir einen Kaffee"),
    ("", "Das geht nicht, weil der Port belegt ist"),
    ("", "push it to my branch, the reviewer is waiting"),
    ("", "summarize what you did, I have to report it"),
    ("Done.", "cool, now the same for the users table"),
    ("", "open the PR, I'd like to get feedback today"),
    ("", "i need the numbers for the board meeting, can you export them"),
    ("", "you should know that the api is rate limited, 100 per minute"),
    ("", "I have no idea why it is so slow"),
    ("", "I was told we can't access prod, is that right"),
    ("", "the deployment failed because the disk was full"),
    ("", "add logging to the handler, I want to see the payload"),
    ("", "why is it better to use a queue here?"),
    ("", "I made a typo, it's called invoices not invoice"),
    ("", "send me the link when it's done"),
    ("", "check whether the index is used, the query takes 4 seconds"),
    ("", "you're right, it was the wrong branch"),
    ("", "we deploy every friday and the tests run on each push"),
    ("", "write a regression test so that this doesn't happen again"),
    ("", "undo the last change, it broke the login"),
    ("", "the problem is that the clock is wrong, not the code"),
    ("", "can we get rid of the warning? it's annoying"),
    ("", "install the dependencies first, node_modules is gone"),
    ("", "now do the same thing for orders"),
    ("", "I don't know what this flag is for, tell me"),
    ("", "Probier es nochmal, der Server war kurz weg"),
    ("", "Was ist der Unterschied zwischen den beiden? Ich sehe keinen"),
    ("", "hm, could be the cache. or the cdn"),
    ("", "the users complain that it is too slow"),
    ("", "kill the process on port 3000, it hangs"),
    ("Anything else?", "no that's it, have a nice weekend"),
    ("", "go through the files one by one and tell me what you find"),
    ("", "use your judgement, I have to go"),
    ("", "it fails only on windows, linux is fine"),
    ("", "the login is broken since the update because cookies are blocked"),
    ("", "please run it once more, the network was down"),
    ("", "is there a reason we pin numpy?"),
    ("", "I think it crashed, the log stops at 12:03"),
    ("", "show the last 20 lines, that's enough"),
    ("", "hm ok. and how do I start it locally?"),
    ("", "looks like the test data is stale, can you refresh it"),
    ("", "we have 3 environments: dev, staging, prod"),
    ("", "push it, then ping me"),
    ("", "the second test is flaky, it depends on the order"),
    ("", "Kannst du mal schauen, warum das so langsam ist"),
    ("", "it works on my machine but not in docker"),
    ("", "that's weird, yesterday it was fine"),
    ("", "let me know when you're done, I'm in a call"),
    ("", "continue with step 3"),
    ("", "fix all lint errors, there are like 40"),
]


def found(said: str, prompt: str) -> list[str]:
    lines = "\n".join(f"  {line}" for line in (said or "Done.").split("\n"))
    drafts = of(MemoryKind.DECISION, f"> build it\nsaid\n{lines}\nend\n> {prompt}\nsaid\n  ok\nend\n")
    return [f"{draft.text} | {draft.reason}" for draft in drafts]


def test_most_decisions_in_anybodys_words_are_found() -> None:
    """Not all: on real work the rules that found the rest called tasks and details decisions."""
    missed = [
        prompt
        for said, prompt, word in DECISIONS
        if not any(word.lower() in text.lower() for text in found(said, prompt))
    ]
    assert len(DECISIONS) - len(missed) >= 44, missed


@pytest.mark.parametrize(("said", "prompt"), LOOKALIKES)
def test_what_only_looks_like_a_decision(said: str, prompt: str) -> None:
    assert found(said, prompt) == []


ONE_OCCASION = [
    "In the README, use Argon2 instead of bcrypt in the example.",
    "Use the staging database for this run because production is locked.",
    "Use a for loop instead of map here because it is shorter",
    "Let's use a different variable name because it shadows.",
    "Let's use port 8081 instead of 8080 for now because 8080 is taken.",
    "Let's use port 8081 instead of 8080 for now, 8080 is taken.",
    "Let's test on staging with MySQL instead of Postgres because the customer asked for numbers.",
    "Let's use the new API key because the old one expired.",
    "Let's go with the second option because it is shorter.",
]
LASTING = [
    "Use SQLite instead of Postgres in the unit tests, it's faster.",
    "We decided to stay on Postgres 14 for now because the extension is not built for 15.",
    "Let's use a different database for tests than for development because they overwrite each other.",
    "Let's use Redis instead of Memcached because Memcached has no persistence for now.",
    "We'll use SQLite for the demo because it needs no server.",
    "Use Kafka in the demo app instead of NATS because the customer runs Kafka.",
    "Let's stay on Node 18 for now because Lambda has no 20.",
    "Use the new token format because it is signed.",
    "Use pnpm here instead of npm because of the workspace.",
]


@pytest.mark.parametrize("prompt", ONE_OCCASION)
def test_a_task_for_one_occasion_is_no_decision(prompt: str) -> None:
    assert of(MemoryKind.DECISION, f"> {prompt}\nedit a.go\nsaid\n  Done.\nend\n") == []


@pytest.mark.parametrize("prompt", LASTING)
def test_what_is_said_for_longer_stays_a_decision(prompt: str) -> None:
    assert of(MemoryKind.DECISION, f"> {prompt}\nedit a.go\nsaid\n  Done.\nend\n")


def test_an_answer_decides_also_for_now() -> None:
    asked = "> look at the store\nsaid\n  I could use SQLite or Postgres. Which one do you prefer?\nend\n"
    assert of(MemoryKind.DECISION, f"{asked}> Let's use SQLite for now because there is one writer.\nend\n")


@pytest.mark.parametrize(
    ("what", "count"),
    [
        ("for the reproduction because it needs no server", 0),
        ("in the demo because it needs no server", 0),
        ("for the job store because it needs no server", 1),
    ],
)
def test_what_the_assistant_took_for_one_occasion_is_no_decision(what: str, count: int) -> None:
    said = f"I chose SQLite instead of Postgres {what}."
    story = f"> Please look into this\nedit a.go\nsaid\n  {said}\nend\n"
    assert len(of(MemoryKind.DECISION, story)) == count

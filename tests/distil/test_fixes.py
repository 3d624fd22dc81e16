"""Failure → what made it pass."""

import pytest

from backstory.distil.signatures import shape
from backstory.model import MemoryKind
from tests.distil import of


def lessons(text: str) -> list[str]:
    return [draft.text for draft in of(MemoryKind.LESSON, text)]


def test_an_edit_between_red_and_green_is_the_fix() -> None:
    (lesson,) = of(
        MemoryKind.LESSON,
        """cwd: /repo
> fix the login
! pytest tests/test_auth.py
  E   KeyError: 'kid'
said
  The problem is that old tokens carry no kid.
edit /repo/auth/jwt.py
  - keys[kid]
  + keys.get(kid)
$ pytest tests/test_auth.py
  5 passed
end
""",
    )
    assert lesson.text.startswith(
        "`pytest tests/test_auth.py` failed: \"KeyError: 'kid'\" → fixed by editing auth/jwt.py"
    )
    assert lesson.reason == "The problem is that old tokens carry no kid."
    assert lesson.files == ("auth/jwt.py",)
    assert len(lesson.sources) == 3


@pytest.mark.parametrize(
    ("failed", "between", "passed"),
    [
        ("pytest tests/a.py", "edit x.py", "pytest"),
        (
            "pytest -x -q tests/a.py::test_one",
            "edit x.py",
            "cd sub && CI=1 uv run pytest tests/a.py -v 2>&1 | tail -3",
        ),
        ("python -m pytest tests", "edit x.py", ".venv/bin/pytest tests"),
        ("npm test", "$ npm ci", "npm test"),
        ("npm run test", "edit x.ts", "pnpm test"),
        ("npm test", "", "npm ci && npm test"),
        ("python manage.py migrate", "", "python3 manage.py migrate"),
        ("docker build -t app .", "", "podman build -t app ."),
        ("git push", "", "git push --set-upstream origin main"),
        ("make test", "", "cd backend && make test"),
        ("rspec spec/a.rb", "", "CURRENCY=EUR rspec spec/a.rb"),
        ("psql -h db shop", "", "PGUSER=shop psql -h db shop"),
        ("mysql -h db shop", "", "mysql -h db -u shop shop"),
        ("redis-cli -h cache ping", "", "redis-cli -h cache -a word ping"),
    ],
)
def test_equivalent_commands_close_a_failure(failed: str, between: str, passed: str) -> None:
    assert lessons(f"> go\n! {failed}\n  Error: it broke\n{between}\n$ {passed}\nend\n")


@pytest.mark.parametrize(
    "story",
    [
        "! grep -rn foo src\n$ grep -rn foo lib",
        "! ls nowhere\n  No such file or directory\n$ mkdir nowhere\n$ ls nowhere",
        "^ npm test\nedit a.js\n$ npm test",
        "! pytest\n  ConnectionTimeout: read timed out\n$ pytest",
        "! pytest tests/a.py\n  E   KeyError: 1\nedit b.py\n$ pytest tests/b.py",
        "! npm run lint\n  Request interrupted by user\nedit a.js\n$ npm run lint",
        "! pytest\n  E   KeyError: 1\nedit a.py\n  - x\n  + y\n$ git checkout -- a.py\n$ pytest",
    ],
    ids=["nothing found", "probing", "interrupted", "flake", "other tests", "refused", "given up"],
)
def test_what_is_no_lesson(story: str) -> None:
    assert lessons(f"> go\n{story}\nend\n") == []


RED_AFTER_EDIT = "> go\nedit pay.py\n  - round(x)\n  + x.q(C)\n! pytest -q\n  E   AssertionError: total\n"


@pytest.mark.parametrize(
    "undo",
    [
        "git stash",
        "git stash push -m wip",
        "git reset --hard",
        "git reset HEAD --hard",
        "git checkout -- pay.py",
        "git checkout -f",
        "git restore pay.py",
        "git clean -fd",
    ],
)
def test_undoing_what_made_it_fail_is_no_fix(undo: str) -> None:
    assert lessons(f"{RED_AFTER_EDIT}$ {undo}\n$ pytest -q\nend\n") == []
    assert lessons(f"{RED_AFTER_EDIT}$ {undo} && pytest -q\nend\n") == []


def test_undoing_is_left_out_of_a_fix_that_something_else_made() -> None:
    (text,) = lessons(
        "> go\n! npm test\n  Error: no x\n$ npm ci\n$ git checkout -- a.lock\n$ npm test\nend\n"
    )
    assert text == '`npm test` failed: "Error: no x" → fixed by running `npm ci`'


def test_what_is_stashed_out_of_the_way_of_git_helps_it() -> None:
    error = "> go\nedit a.py\n  - x\n  + y\n! git pull\n  error: Please commit your changes or stash them.\n"
    (text,) = lessons(f"{error}$ git stash\n$ git pull\n$ git stash pop\nend\n")
    assert text.endswith("→ fixed by running `git stash`")
    assert lessons(f"{error}$ git reset --hard\n$ git pull\nend\n") == []


@pytest.mark.parametrize(
    ("ran", "told"),
    [
        ("kill 4242", "kill <pid>"),
        ("kill -9 4242 4243", "kill -9 <pid>"),
        ("kill %1", "kill <pid>"),
        ("kill 4242 2>/dev/null; sleep 1", "kill <pid> 2>/dev/null; sleep 1"),
        ("terraform force-unlock 1234", "terraform force-unlock <id>"),
        ("terraform force-unlock -force 6fbd8c2e-11", "terraform force-unlock -force <id>"),
        ("docker rm -f 3f2a9b1c0d4e", "docker rm -f <id>"),
        ("docker rm -f shop-db", "docker rm -f shop-db"),
        ("fuser -k 3000/tcp", "fuser -k 3000/tcp"),
        ("npx kill-port 3000", "npx kill-port 3000"),
        ("kill $(lsof -ti:3000)", "kill $(lsof -ti:3000)"),
    ],
)
def test_an_id_that_is_dead_the_next_time_is_not_told(ran: str, told: str) -> None:
    (draft,) = of(
        MemoryKind.LESSON,
        f"> go\n! npm run dev\n  Error: listen EADDRINUSE: address in use\n$ {ran}\n$ npm run dev\nend\n",
    )
    assert draft.text.endswith(f"→ fixed by running `{told}`")
    assert f"- ran `{told}`" in draft.detail


def test_a_pipe_does_not_hide_red_tests() -> None:
    run = "$ go test ./... 2>&1 | tail\n"
    told = f"> go\n{run}  --- FAIL: TestPush\n  FAIL\nedit q.go\n{run}  ok\nend\n"
    assert lessons(told) == ['`go test ./...` failed: "TestPush" → fixed by editing q.go']


def test_several_errors_on_the_way_are_told_in_order() -> None:
    (text,) = lessons(
        "> go\n! tsc\n  error TS1: one\nedit a.ts\n! tsc\n  error TS2: two\nedit b.ts\n$ tsc\nend\n"
    )
    assert text == '`tsc` failed: "error TS1: one", then "error TS2: two" → fixed by editing a.ts, b.ts'


def test_a_reported_bug_with_a_named_cause_is_a_lesson() -> None:
    story = """> the slider jumps back, that is wrong
said
  The issue is that it is saved as `vol` and read as `volume`.
edit volume.ts
  - "volume"
  + "vol"
said
  Both sides use `vol` now.
end
> {reply}
said
  ok
end
"""
    (text,) = lessons(story.format(reply="nice, works"))
    assert "slider" in text
    assert "volume.ts" in text
    assert lessons(story.format(reply="still doesn't work")) == []


STAGED = """> ./backup.sh doesn't run. fix
! ./backup.sh
  /bin/bash: line 1: ./backup.sh: Permission denied
! chmod +x backup.sh && ./backup.sh
  ./backup.sh: 5: Bad substitution
edit backup.sh
  - #!/bin/sh
  + #!/usr/bin/env bash
$ ./backup.sh
  saved
said
  It runs.
end
"""


def test_each_distinct_error_has_its_own_fix() -> None:
    first, second = (draft.text for draft in of(MemoryKind.LESSON, STAGED))
    assert "Permission denied" in first
    assert "chmod +x" in first
    assert "Bad substitution" in second
    assert "env bash" in second


def test_a_fix_that_the_user_throws_out_is_no_lesson() -> None:
    told = (
        "> go\n! make\n  error: no folder\nedit a.mk\n  - x\n  + mkdir -p out\n$ make\nsaid\n  Done.\nend\n"
    )
    assert of(MemoryKind.LESSON, told)
    assert of(MemoryKind.LESSON, told + "> no. no mkdir here\nsaid\n  Removed.\nend\n") == []
    (instead,) = of(
        MemoryKind.LESSON, told + "> no. no mkdir here\nedit a.mk\n  - mkdir\n  + test -d out\nend\n"
    )
    assert "test -d out" in instead.text
    assert "refused" in instead.text


def test_a_failure_that_the_session_wrote_itself_was_wanted() -> None:
    told = """> it must stop without the disk
edit b.sh
  - mkdir
  + echo "backup disk not mounted"; exit 1
! ./b.sh
  backup disk not mounted
$ mkdir mnt && ./b.sh
  saved
end
"""
    assert of(MemoryKind.LESSON, told) == []


def test_the_line_that_says_what_is_missing_beats_the_summary() -> None:
    told = "> build\n! make\n  a.c: undefined reference to `sqrt'\n  collect2: error: ld returned 1 exit status\n"
    (lesson,) = of(MemoryKind.LESSON, told + "edit Makefile\n  - x\n  + -lm\n$ make\nend\n")
    assert "undefined reference to `sqrt'" in lesson.text


def test_a_reported_bug_without_a_failing_command() -> None:
    told = """> customers see NaN in the basket as soon as they use a voucher
edit basket.js
  - Number(v)
  + Number(v.replace(",", "."))
said
  The cause is the decimal comma of vouchers: Number() gives NaN for that.
end
"""
    (lesson,) = of(MemoryKind.LESSON, told)
    assert "decimal comma" in lesson.text
    assert "basket.js" in lesson.text


KEY_ERROR = "> go\n! pytest\n  E   KeyError: 'k'\nedit a.py\n  - h[k]\n  + h.get(k, 1)\n"
SIGNATURE = "! pytest\n  E   ValueError: bad signature\n"
LOADS_BOTH = "edit b.py\n  - load(A)\n  + load(A) + load(B)\n$ pytest\n"
BOTH_FIXED = (
    '`pytest` failed: "KeyError: \'k\'", then "ValueError: bad signature" → fixed by editing b.py '
    "(- load(A) + load(A) + load(B))"
)


def test_an_error_that_another_one_followed_only_went_away() -> None:
    first, second = lessons(KEY_ERROR + SIGNATURE + LOADS_BOTH + "end\n")
    assert first == (
        "`pytest` failed: \"KeyError: 'k'\" → went away after editing a.py (- h[k] + h.get(k, 1)), "
        'then: "ValueError: bad signature"'
    )
    assert second.startswith('`pytest` failed: "ValueError: bad signature" → fixed by editing b.py')


@pytest.mark.parametrize(
    "story",
    [
        SIGNATURE + "edit a.py\n  - h.get(k, 1)\n  + h[k]\n" + LOADS_BOTH + "end\n",
        SIGNATURE + LOADS_BOTH + "end\n> clean up\nedit a.py\n  - h.get(k, 1)\n  + h[k]\nend\n",
        SIGNATURE + "$ git checkout -- a.py\n" + LOADS_BOTH + "end\n",
        SIGNATURE + "said\n  That didn't help.\n" + LOADS_BOTH + "end\n",
        SIGNATURE + LOADS_BOTH + "said\n  Getting a default of 1 in a.py was not enough.\nend\n",
        SIGNATURE + LOADS_BOTH + "said\n  Der Standardwert in a.py hat nicht geholfen.\nend\n",
    ],
    ids=["turned back", "turned back later", "thrown away", "called vain", "at the end", "in German"],
)
def test_an_edit_that_was_given_up_or_called_vain_is_no_fix(story: str) -> None:
    assert lessons(KEY_ERROR + story) == [BOTH_FIXED]


@pytest.mark.parametrize(
    "story",
    [
        LOADS_BOTH.replace("$ pytest", "said\n  That didn't help yesterday.\n$ pytest") + "end\n",
        LOADS_BOTH + "end\n> and the docs?\nsaid\n  Rewording them in a.py was not enough.\nend\n",
        LOADS_BOTH + "said\n  The problem was that the login did not work.\nend\n",
    ],
    ids=["after the next edit", "a turn later", "about the bug"],
)
def test_what_is_not_said_of_the_edit_blames_it_for_nothing(story: str) -> None:
    assert "went away after editing a.py" in lessons(KEY_ERROR + SIGNATURE + story)[0]


def test_another_way_to_run_a_check_gets_past_nothing() -> None:
    verbose = SIGNATURE.replace("pytest", "pytest -v")
    (text,) = lessons(f"> go\n! pytest\n  E   KeyError: 'k'\n{verbose}{LOADS_BOTH}end\n")
    assert text == BOTH_FIXED


def test_an_edit_that_was_written_over_on_the_way_is_no_fix() -> None:
    (text,) = lessons(KEY_ERROR + SIGNATURE + "edit a.py\n  - h.get(k, 1)\n  + h.get(k, B)\n$ pytest\nend\n")
    assert 'then "ValueError: bad signature" → fixed by editing a.py (- h.get(k, 1) + h.get(k, B))' in text


def test_an_edit_that_a_later_one_only_widened_still_got_past_its_error() -> None:
    first, _ = lessons(
        KEY_ERROR + SIGNATURE + "edit a.py\n  - h.get(k, 1)\n  + h.get(k, 1) or B\n$ pytest\nend\n"
    )
    assert "went away after editing a.py" in first


def test_a_fix_that_was_turned_back_after_it_passed_is_none() -> None:
    undone = "> no, that hides it\nedit a.py\n  - h.get(k, 1)\n  + h[k]\nend\n"
    assert lessons(KEY_ERROR + "$ pytest\nend\n" + undone) == []
    reported = "> the list is broken\nedit a.py\n  - x\n  + y\nsaid\n  The problem is the cache.\nend\n"
    assert len(lessons(reported + "> thanks\nend\n")) == 1
    assert lessons(reported + "> thanks\nedit a.py\n  - y\n  + x\nend\n") == []


@pytest.mark.parametrize(
    "proof",
    [
        "edit a.py\n  - h.get(k, 1)\n  + h[k]\n! pytest\n  E   KeyError: 'k'\n"
        "edit a.py\n  - h[k]\n  + h.get(k, 1)\n$ pytest\n",
        "$ git stash\n! pytest\n  E   KeyError: 'k'\n$ git stash pop\n$ pytest\n",
        "$ git commit -am fix\nedit c.py\n$ git reset --hard\n",
    ],
    ids=["edited back and again", "stashed", "committed before"],
)
def test_a_fix_that_was_taken_away_only_for_a_moment_stays(proof: str) -> None:
    assert lessons(KEY_ERROR + "$ pytest\n" + proof + "end\n") == [
        "`pytest` failed: \"KeyError: 'k'\" → fixed by editing a.py (- h[k] + h.get(k, 1))"
    ]


def errors_in_a_row(count: int) -> str:
    words = ("apple rots", "banana missing", "cherry stone", "damson sour", "elder late")
    return (
        "> go\n"
        + "".join(f"! make\n  error: {word}\nedit {word[:5]}.c\n" for word in words[:count])
        + "$ make\nend\n"
    )


def test_many_errors_in_a_row_are_one_lesson() -> None:
    assert len(lessons(errors_in_a_row(4))) == 4
    (text,) = lessons(errors_in_a_row(5))
    assert text.startswith('`make` failed: "error: apple rots", then "error: damson sour"')
    assert "fixed by" in text


def test_another_spelling_answers_a_failure_only_soon() -> None:
    failed = "> go\n! pip install psycopg2\n  Error: pg_config executable not found.\n"
    passed = "$ pip install psycopg2-binary\nend\n"
    assert lessons(failed + "$ date\n" * 3 + passed)
    assert lessons(failed + "$ date\n" * 4 + passed) == []


def test_a_fix_in_what_the_session_was_writing_is_its_own_work_and_the_cause_is_told() -> None:
    red, green = "! go test ./...\n  q.go:3:1: undefined: Push\n", "$ go test ./...\nend\n"
    (own,) = of(MemoryKind.LESSON, f"> go\nedit q.go\n  - a\n  + b\n{red}edit q.go\n  - b\n  + c\n{green}")
    said = "said\n  The problem is that Push was renamed upstream.\n"
    (known,) = of(MemoryKind.LESSON, f"> go\n{red}{said}edit q.go\n  - b\n  + c\n{green}")
    assert own.own_work
    assert not known.own_work
    assert own.signature == known.signature != ""
    assert known.text.endswith("Cause: The problem is that Push was renamed upstream.")


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (
            "a.go:181:10: error is unwrapped (wrapcheck)",
            "b/c.go:9:1: error returned is unwrapped (wrapcheck)",
            True,
        ),
        (
            "fatal: The current branch x-gqc has no upstream",
            "fatal: The current branch x-dov has no upstream",
            True,
        ),
        (
            "fatal: The current branch checkout has no upstream branch.",
            "fatal: The current branch search has no upstream branch.",
            True,
        ),
        ("a.go:1:1: func f is unused (unused)", "a.go:1:1: error is unwrapped (wrapcheck)", False),
        ("KeyError: 'kid'", "TypeError: no", False),
    ],
)
def test_a_lesson_is_the_same_by_its_command_and_the_shape_of_its_error(
    one: str, two: str, same: bool
) -> None:
    assert (shape(one) == shape(two)) is same


def test_an_error_of_git_is_the_same_whatever_its_branch_is_called() -> None:
    told = "error: cannot delete branch {} used by another worktree"
    assert shape(told.format("search"), "search") == shape(told.format("cart"), "cart")
    assert shape(told.format("search"), "search") != shape(told.format("search"), "cart")


@pytest.mark.parametrize(
    "cure",
    ["git add a.py", "git cherry-pick --skip", "mise tasks"],
    ids=["a file left out", "skipped", "another subcommand"],
)
def test_what_does_not_cover_what_failed_is_no_cure(cure: str) -> None:
    failed = {"git add a.py": "git add a.py b.css", "mise tasks": "mise run lint:full"}.get(
        cure, "git cherry-pick 12"
    )
    told = f"> go\n! {failed}\n  fatal: the paths are ignored: b.css\n$ {cure}\nend\n"
    assert of(MemoryKind.LESSON, told) == []


def test_the_same_file_from_another_folder_is_the_same() -> None:
    told = (
        "> go\n! node assets/build.js\n  error: Could not resolve app.js\n$ cd assets && node build.js\nend\n"
    )
    (lesson,) = of(MemoryKind.LESSON, told)
    assert lesson.text.endswith("fixed by running it as `cd assets && node build.js`")

"""The session as one row and as one page, turn digests, commands that work, the checkpoint."""

import json
from itertools import pairwise

from backstory.distil import Limits
from backstory.model import MemoryKind
from tests.distil import distilled, of

LONG = "".join(
    f"> ask number {n} about the invoices\nedit f{n}.py\nsaid\n  Did {n}.\nend\n" for n in range(1, 61)
)


def page(limits: Limits) -> str:
    (draft,) = [d for d in distilled(LONG, limits) if d.kind is MemoryKind.SUMMARY]
    assert len(draft.text) <= 700
    return draft.detail


def turns_of(text: str) -> list[str]:
    return [line for line in text.split("## Turns\n", 1)[1].splitlines() if line.startswith("- turn ")]


def test_the_cut_falls_between_turns_and_keeps_the_newest() -> None:
    """CM-7: cut on a turn boundary, never inside a turn."""
    whole = {f"- turn {d.turn}: {d.text}" for d in distilled(LONG) if d.kind is MemoryKind.TURN}
    for size in (2_000, 3_000, 3_500, 4_001, 9_999):
        text = page(Limits(max_chars=size, max_turns=60))
        kept = turns_of(text)
        assert len(text) <= size
        assert set(kept) <= whole
        assert kept[-1].startswith("- turn 60:")
        assert len(kept) == 60 or f"({60 - len(kept)} earlier turns left out)" in text


def test_turn_and_size_limits_are_settings() -> None:
    """CM-8: 30 turns and 15,000 characters by default."""
    assert (Limits().max_turns, Limits().max_chars) == (30, 15_000)
    assert len(turns_of(page(Limits()))) == 30
    assert len(turns_of(page(Limits(max_turns=7)))) == 7


def test_long_inputs_and_outputs_are_cut_before_they_are_read() -> None:
    """CCE-46: outputs over 1,500 and inputs over 4,000 characters."""
    filler = "y " * 3_000
    drafts = distilled(
        f"> {filler} always use MIDDLE {filler}\n! pytest\n  {filler} E   KeyError: MIDDLE {filler}\nend\n"
    )
    assert drafts
    assert "MIDDLE" not in repr(drafts)
    assert "MIDDLE" in repr(distilled("> always use MIDDLE\nend\n"))
    roomy = Limits(max_input=50_000)
    assert "MIDDLE" in repr(distilled(f"> {filler}\n  \n  Always use MIDDLE.\n  \n  {filler}\nend\n", roomy))


def test_a_digest_tells_the_turn() -> None:
    (turn,) = of(
        MemoryKind.TURN,
        "cwd: /r\n> fix the login\n! pytest\n  E   KeyError: 'kid'\nedit /r/a.py\n$ pytest\n"
        "said\n  Tokens match by thumbprint now.\nend\n",
    )
    assert turn.subject == "turn:1"
    assert turn.text == (
        "Asked: fix the login. Changed a.py. Ran `pytest` failed, then ok. Failed with “KeyError: 'kid'”. "
        "Said: Tokens match by thumbprint now."
    )


def test_equal_runs_are_shown_once_with_a_count() -> None:
    """CMEM-27: equal observations are told once, with a count."""
    told = "> go\n" + "$ npm test\n  ok\n" * 3 + "! npm test\n  Error: no\n" * 2 + "$ npm test\n  ok\nend\n"
    (summary,) = of(MemoryKind.SUMMARY, told)
    assert summary.detail.count("`npm test`: ") + summary.detail.count("- `npm test` ") >= 1
    assert "- `npm test` failed ×2, then ok ×4" in summary.detail
    (command,) = of(MemoryKind.COMMAND, told)
    assert command.subject == "npm test"
    assert "failed ×2, then ok ×4" in command.text


def test_commands_that_work_here() -> None:
    told = (
        "> go\n$ cd app && make test 2>&1 | tail -3\n$ ls\n$ cat x\n$ ./dev.sh\n$ ./dev.sh\n"
        "$ python -c 'print(1)'\n$ git status\n! make lint\n  error: no\nend\n"
    )
    commands = of(MemoryKind.COMMAND, told)
    assert [c.subject for c in commands] == ["make test", "./dev.sh"]
    assert commands[0].text == "How to run the tests: `make test` (in app): ok"


def test_the_checkpoint_holds_what_must_survive_a_compaction() -> None:
    (draft,) = of(
        MemoryKind.CHECKPOINT,
        "cwd: /r\n> split the pane\ntodo\n  [x] toolbar\n  [ ] status bar\nedit /r/pane.tsx\n$ tsc\n"
        "! vitest run\n  Error: no\nend\n"
        "> let's use props, not a context, because two components need it\nend\n",
    )
    value = json.loads(draft.detail)
    assert set(value) == {"goal", "done", "pending", "files", "failing", "passing", "decisions"}
    assert value["goal"].startswith("split the pane")
    assert value["done"] == ["ticked off by the agent: toolbar", "changed pane.tsx"]
    assert "The agent said: status bar" in value["pending"]
    assert value["files"] == ["pane.tsx"]
    assert value["failing"] == ["vitest run: Error: no"]
    assert value["passing"] == ["tsc"]
    assert len(value["decisions"]) == 1
    assert "\n" not in draft.text


def test_the_row_tells_asks_files_fixes_and_what_is_next() -> None:
    (summary,) = of(
        MemoryKind.SUMMARY,
        "> fix the login\n! pytest\n  E   KeyError: 1\nedit a.py\n$ pytest\n"
        "said\n  Fixed. Next: rotate the secret.\nend\n",
    )
    for part in ("Asked: fix the login", "Changed a.py", "Fixed: `pytest`", "Next: "):
        assert part in summary.text


def test_statements_end_in_one_mark() -> None:
    asks = "> Keep the events in JSONB.\nedit a.py\nsaid\n  Done!\nend\n"
    for told in (asks, asks + "> Is it quick?\nsaid\n  Yes.\nend\n", asks + f"> {'deploy key ' * 30}\nend\n"):
        for draft in distilled(told):
            assert not {"..", "….", "?.", "!.", ".,"} & {a + b for a, b in pairwise(draft.text)}, draft.text
    (summary,) = of(MemoryKind.SUMMARY, asks)
    assert summary.text == "Asked: Keep the events in JSONB. Changed a.py. Ended: Done!"


def test_an_error_that_only_went_away_is_not_called_fixed() -> None:
    (summary,) = of(
        MemoryKind.SUMMARY,
        "> go\n! make\n  error: no apple\nedit a.c\n  - x\n  + y\n! make\n  fatal: banana missing\nedit b.c\n"
        "  - p\n  + q\n$ make\nend\n> undo the last\nedit b.c\n  - q\n  + p\nend\n",
    )
    assert "Fixed:" not in summary.text
    assert "went away after editing a.c" in summary.detail

"""Settings: one table, one reader, one writer that leaves the user's file theirs."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as run_with
from hypothesis import strategies as st

from backstory import settings
from backstory.errors import UsageError
from backstory.hook import work_notes
from backstory.hook.brief_text import Row
from backstory.paths import Home
from backstory.settings import Settings, change_setting, load_settings, setting_rows


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_without_a_file_the_defaults_are_in_force(home: Home) -> None:
    assert load_settings(home) == (Settings(), [])


def test_the_limits_of_distilling_are_settings_with_the_known_defaults(home: Home) -> None:
    """CM-8."""
    defaults = {row.key: row.value for row in setting_rows(load_settings(home)[0])}
    assert defaults["distil.max_turns"] == 30
    assert defaults["distil.max_chars"] == 15_000
    assert defaults["distil.min_turns_end"] == 1
    assert defaults["distil.min_turns_compact"] == 5
    change_setting(home, "distil.min_turns_compact", "2")
    assert load_settings(home)[0].distil_min_turns_compact == 2


def test_every_setting_has_a_key_of_two_parts_and_a_meaning() -> None:
    for row in setting_rows(Settings()):
        assert row.key.count(".") == 1
        assert len(row.doc) > 20
        assert row.value == row.default


def test_what_is_set_is_read_back_and_unset_again(home: Home) -> None:
    assert change_setting(home, "brief.max_chars", "4000") == 4000
    change_setting(home, "privacy.redact_off", "email, ip")
    change_setting(home, "capture.transcripts", "off")
    loaded, problems = load_settings(home)
    assert (loaded.brief_max_chars, loaded.privacy_redact_off) == (4000, ("email", "ip"))
    assert not loaded.capture_transcripts
    assert problems == []
    for key in ("brief.max_chars", "privacy.redact_off", "capture.transcripts"):
        change_setting(home, key, None)
    assert load_settings(home)[0] == Settings()
    assert home.settings.read_text() == ""


def test_comments_and_order_of_the_users_file_survive(home: Home) -> None:
    home.settings.write_text("# mine\n[time]\nzone = 'UTC' # winter\n\n[brief]\nmax_chars = 1 # one\n")
    change_setting(home, "brief.max_chars", "2")
    assert (
        home.settings.read_text() == "# mine\n[time]\nzone = 'UTC' # winter\n\n[brief]\nmax_chars = 2 # one\n"
    )


@pytest.mark.parametrize("content", [b"[brief\n", b"\xff\xfe", b"brief.max_chars = \n"])
def test_an_unreadable_file_is_reported_never_overwritten_and_the_defaults_hold(
    home: Home, content: bytes
) -> None:
    home.settings.write_bytes(content)
    loaded, problems = load_settings(home)
    assert loaded == Settings()
    assert len(problems) == 1
    assert str(home.settings) in problems[0]
    with pytest.raises(UsageError, match="fix"):
        change_setting(home, "brief.max_chars", "2")
    assert home.settings.read_bytes() == content


def test_a_table_that_is_no_table_is_reported_and_not_overwritten(home: Home) -> None:
    home.settings.write_text("brief = 3\n")
    assert "unknown setting brief" in load_settings(home)[1][0]
    with pytest.raises(UsageError, match=r"\[brief\]"):
        change_setting(home, "brief.max_chars", "2")
    assert home.settings.read_text() == "brief = 3\n"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[brief]\nmax_chars = '8k'", "whole number"),
        ("[brief]\nmax_chars = -1", "whole number"),
        ("[brief]\nmax_chars = true", "whole number"),
        ("[brief]\nsources = ['startup', 'lunch']", "lunch"),
        ("[brief]\nsources = 'startup'", "list"),
        ("[capture]\ntranscripts = 1", "true or false"),
        ("[time]\nzone = 3", "text"),
        ("[brief]\nmax_chairs = 3", "unknown setting brief.max_chairs"),
        ("[nonsense]\na.b.c = 3", "unknown setting nonsense.a"),
    ],
)
def test_a_bad_value_is_named_and_only_its_own_default_is_used(home: Home, line: str, complaint: str) -> None:
    home.settings.write_text(line + "\n[worker]\nlinger_seconds = 9\n")
    loaded, problems = load_settings(home)
    assert len(problems) == 1
    assert complaint in problems[0]
    assert loaded == dataclasses.replace(Settings(), worker_linger_seconds=9)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("brief.max_chars", "many"),
        ("capture.transcripts", "maybe"),
        ("brief.sources", "lunch"),
        ("notes.max_chars", "299"),
        ("time.zone", "Mars/X"),
        ("time.zone", "../../etc/passwd"),
    ],
)
def test_a_bad_value_is_refused_before_anything_is_written(home: Home, key: str, text: str) -> None:
    with pytest.raises(UsageError, match=key):
        change_setting(home, key, text)
    assert not home.settings.exists()


def test_a_zone_that_nobody_knows_is_refused_with_one_that_is_known(home: Home) -> None:
    with pytest.raises(UsageError, match=r"'Mars/X'.*such as Europe/Berlin"):
        change_setting(home, "time.zone", "Mars/X")
    assert change_setting(home, "time.zone", "Europe/Berlin") == "Europe/Berlin"
    assert change_setting(home, "time.zone", "") == ""


def test_an_empty_home_variable_is_none_and_not_the_root_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BACKSTORY_HOME", "XDG_DATA_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    without = Home.default()
    monkeypatch.setenv("HOME", "")
    assert Home.default() == without
    assert len(without.root.parts) > 3


def test_an_unknown_key_is_refused_with_where_to_look(home: Home) -> None:
    with pytest.raises(UsageError, match="backstory config"):
        change_setting(home, "brief.colour", "red")


def test_the_hooks_small_file_carries_what_the_hook_obeys() -> None:
    told = dataclasses.replace(Settings(), brief_max_chars=5, privacy_ignore_projects=("/secret",)).for_hook(
        {"/a": "b"}
    )
    assert (told["budget_chars"], told["ignore_projects"], told["confirmed"]) == (5, ["/secret"], {"/a": "b"})


_WORDS = st.lists(
    st.text(st.characters(exclude_characters=",\r\n\"'[]{}", exclude_categories=["Cs"]), min_size=1),
    max_size=4,
)


@run_with(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(text=st.text(st.characters(exclude_categories=["Cs"])), number=st.integers(0, 10**9), words=_WORDS)
def test_whatever_is_set_is_what_is_loaded(home: Home, text: str, number: int, words: list[str]) -> None:
    expected: dict[str, Any] = {
        "embed.model": (text, text),
        "brief.max_tokens": (str(number), number),
        "privacy.ignore_paths": (",".join(words), tuple(w.strip() for w in words if w.strip())),
    }
    home.settings.unlink(missing_ok=True)
    for key, (typed, _) in expected.items():
        change_setting(home, key, typed)
    loaded, problems = load_settings(home)
    assert problems == []
    for key, (_, value) in expected.items():
        assert getattr(loaded, settings._FIELDS[key].name) == value


@pytest.mark.parametrize("kind", list(work_notes.MOST))
def test_the_fewest_characters_that_notes_may_have_hold_one(kind: str) -> None:
    """Also where the project has a long name; with fewer they would be switched off, and nobody told."""
    row = Row("m" * 20, "failed", "make test failed: no space left on the device", 1, "claude-code")
    told = work_notes.compose(kind, [row], "p" * 100, 300, 86_400_000)
    assert "make test failed" in told.text
    assert len(told.text) <= 300


def test_a_models_key_comes_from_a_variable_for_keys_only(home: Home) -> None:
    for key in ("model.key_env", "embed.key_env"):
        for name in (
            "PATH",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "DATABASE_URL",
            "my_api_key",
            "A_API_KEY\nX",
        ):
            with pytest.raises(UsageError, match="API_KEY"):
                change_setting(home, key, name)
        for name in ("OPENAI_API_KEY", "WORK_API_KEY", "BACKSTORY_MODEL_KEY", "HF_TOKEN", ""):
            assert change_setting(home, key, name) == name


LISTS = [
    key
    for key, value in ((row.key, row.default) for row in settings.setting_rows(Settings()))
    if isinstance(value, tuple)
]


@pytest.mark.parametrize("key", LISTS)
def test_every_list_is_taken_as_it_is_printed_and_as_toml_has_it(tmp_path: Path, key: str) -> None:
    home = Home(tmp_path)
    words = next(row.default for row in settings.setting_rows(Settings()) if row.key == key) or (
        "1001",
        "1002",
    )
    for typed in (json.dumps(words), ", ".join(words), ",".join(map(repr, words)), str(list(words))):
        assert settings.change_setting(home, key, typed) == words, typed
        assert not settings.load_settings(home)[1]
    assert settings.change_setting(home, key, "[]") == ()


@pytest.mark.parametrize(
    "text", ['[".env", "a"', '".env", "a"]', '[".env" "a"]', "[1, 2]", "[a, b]", '["a", [1]]', "'a"]
)
def test_what_looks_like_a_broken_list_is_refused(tmp_path: Path, text: str) -> None:
    home = Home(tmp_path)
    with pytest.raises(UsageError, match="takes a list such as"):
        settings.change_setting(home, "privacy.ignore_paths", text)
    assert settings.load_settings(home)[0] == Settings()


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("*.{key,pem}, .env", ("*.{key,pem}", ".env")),
        ("[ab]*.txt, x", ("[ab]*.txt", "x")),
        ("x[0-9]", ("x[0-9]",)),
    ],
)
def test_braces_and_sets_of_letters_in_a_list_stay_whole(
    tmp_path: Path, text: str, items: tuple[str, ...]
) -> None:
    assert settings.change_setting(Home(tmp_path), "privacy.ignore_paths", text) == items

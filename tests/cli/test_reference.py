"""The generated pages are those that would be generated now, and leave nothing out."""

from pathlib import Path

from backstory.cli.main import SECTIONS
from backstory.cli.reference import commands_page, settings_page
from backstory.settings import Settings, setting_rows

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_commands_is_up_to_date() -> None:
    assert (DOCS / "cli.md").read_text("utf-8") == commands_page(), "run `make docs`"


def test_the_page_of_settings_is_up_to_date() -> None:
    assert (DOCS / "settings.md").read_text("utf-8") == settings_page(), "run `make docs`"


def test_every_command_and_setting_is_documented() -> None:
    commands, settings = commands_page(), settings_page()
    assert all(f"### backstory {name}\n" in commands for _, group in SECTIONS for name, _ in group)
    assert all(f"| `{row.key}` |" in settings for row in setting_rows(Settings()))

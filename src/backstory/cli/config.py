"""`backstory config`: the settings, shown and changed; and which `.backstory.toml` may name its project."""

from typing import Any

import click

from backstory.cli.output import Styled, json_option, line, print_json, quiet_option, table, talk
from backstory.cli.project_scope import chosen_folder, cwd_option, open_app
from backstory.errors import SourceMissing, UsageError
from backstory.present.plain_text import setting_text


@click.command()
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Go back to the default of KEY.")
@click.option(
    "--confirm", is_flag=True, help="Let the .backstory.toml or the remote of this folder name its project."
)
@cwd_option
@quiet_option
@json_option
def config(
    key: str | None, value: str | None, unset: bool, confirm: bool, cwd: str | None, as_json: bool
) -> None:
    """Show or change settings.

    Without KEY it lists all settings; with KEY it prints that one; with VALUE it sets it. Lists are written
    with commas: a,b,c.

    A repository may carry a .backstory.toml that says which project it is. It counts only after you
    confirmed it for that folder with --confirm; --confirm --unset takes that back. The same goes for a
    repository whose remote is that of a project you have worked on elsewhere, if it has none of its commits.
    """
    if confirm:
        if key is not None:
            raise UsageError("--confirm takes no KEY: name the folder with --cwd")
        _confirm(chosen_folder(cwd), unset, as_json)
    elif unset or value is not None:
        _change(key, value, unset, as_json)
    else:
        _list(key, as_json)


def _list(key: str | None, as_json: bool) -> None:
    with open_app() as app:
        rows = [row for row in app.setting_rows() if key in (None, row.key)]
    if key is not None:
        if not rows:
            raise UsageError(f"there is no setting {key!r}; `backstory config` lists them all")
        if as_json:
            print_json(rows[0])
        else:
            line(setting_text(rows[0].value))
    elif as_json:
        print_json({"settings": rows})
    else:
        shown: list[list[str | Styled]] = [
            [
                row.key,
                (setting_text(row.value) or "–", "dim" if row.value == row.default else "bold"),
                row.doc,
            ]
            for row in rows
        ]
        table(shown, ("setting", "value", "meaning"))


def _change(key: str | None, value: str | None, unset: bool, as_json: bool) -> None:
    if key is None:
        raise UsageError("--unset needs the KEY to unset; `backstory config` lists them all")
    if unset and value is not None:
        raise UsageError("--unset and a VALUE exclude each other: leave one out")
    with open_app() as app:
        app.change_setting(key, None if unset else value)
        row = next(row for row in app.setting_rows() if row.key == key)
        asked = key == "model.provider" and row.value != row.default
        lacks = app.missing_for_models() if asked else ""
    if as_json:
        print_json(row)
    else:
        talk(f"{key} = {setting_text(row.value)}" + (" (the default)" if row.value == row.default else ""))
        if asked:
            talk(
                "It reads what is done from now on, and what was done in the last week, within the caps: "
                "`backstory cost` tells what that takes."
            )
        if lacks:
            talk(f"Nobody can be asked yet: {lacks}")


def _confirm(where: Any, unset: bool, as_json: bool) -> None:
    with open_app() as app:
        shared = app.confirm_shared_files(where, not unset)
        try:
            path, project = app.confirm_project(where, not unset)
        except SourceMissing:
            if shared is None:
                raise
            path, project = shared, app.project_at(where).identity
    if as_json:
        print_json({"folder": path, "project": project, "confirmed": not unset})
    elif unset:
        talk(f"{path} is no longer taken for the project {project}.")
    else:
        talk(f"{path} belongs to the project {project}, as it says itself.")

"""Settings: the same table as `backstory config`, to be changed in place."""

import itertools

from backstory.app import App
from backstory.present.plain_text import setting_text
from backstory.settings import Row
from backstory.web.markup import Html, h, join
from backstory.web.pages import components
from backstory.web.pages.layout import heading
from backstory.web.request import Page, PageRequest


def page(app: App, asked: PageRequest) -> Page:
    """All settings, by section."""
    groups = itertools.groupby(app.setting_rows(), lambda row: row.key.partition(".")[0])
    shown = [
        h(
            "section",
            h("h2", section.capitalize()),
            h("ul", [_row(row, asked) for row in rows], class_="settings"),
        )
        for section, rows in groups
    ]
    problems = (
        h("ul", [h("li", problem) for problem in app.problems], class_="problems") if app.problems else None
    )
    body = join(
        heading(
            "Settings",
            "The same table as `backstory config`. Changes hold at once, for hooks too. "
            "What decides where data goes is changed on the terminal only.",
        ),
        problems,
        shown,
    )
    return Page("Settings", body, "/settings")


def _row(row: Row, asked: PageRequest) -> Html:
    if row.terminal_only:
        return _shown(row)
    field: Html
    if isinstance(row.default, bool):
        options = [
            h("option", each, value=each, selected=each == setting_text(row.value))
            for each in ("true", "false")
        ]
        field = h("select", options, name="value", id=row.key, disabled=asked.read_only)
    else:
        kind = "number" if isinstance(row.default, int) else "text"
        field = h(
            "input",
            type=kind,
            name="value",
            id=row.key,
            value=setting_text(row.value),
            min=0 if kind == "number" else None,
            disabled=asked.read_only,
        )
    key = h("input", type="hidden", name="key", value=row.key)
    buttons = (
        ()
        if asked.read_only
        else (
            h("button", "Save", type="submit"),
            h("button", "Default", type="submit", name="unset", value="1", class_="quiet")
            if row.value != row.default
            else None,
        )
    )
    return h(
        "li",
        h("label", _name(row), for_=row.key),
        _meaning(row),
        components.post_form("/settings", asked, key, field, buttons, class_="setting"),
        data_row=True,
    )


def _shown(row: Row) -> Html:
    """A setting that decides where data goes: its value, and what to type to change it."""
    return h(
        "li",
        h("div", _name(row)),
        _meaning(row),
        h(
            "div",
            h("strong", setting_text(row.value) or "empty"),
            h("p", "On the terminal: ", h("code", f"backstory config {row.key} …"), class_="how"),
        ),
        data_row=True,
    )


def _name(row: Row) -> Html:
    changed = components.chip("changed", "amber") if row.value != row.default else None
    return join(h("code", row.key), changed)


def _meaning(row: Row) -> Html:
    return h("p", f"{row.doc}. ", h("span", f"Default: {setting_text(row.default) or 'empty'}", class_="how"))

"""What the forms of pages do. Each is one use case of the app, as its twin on the command line is."""

from pathlib import Path

from backstory.app import App
from backstory.errors import UsageError
from backstory.model import Act
from backstory.settings import on_terminal_only
from backstory.web import undo
from backstory.web.pages import forget_page as forget_page
from backstory.web.pages import handle_page
from backstory.web.request import NotInTheBrowser, Page, PageRequest, Redirect, local_path


def judge(app: App, asked: PageRequest) -> Redirect:
    """`backstory review HANDLE --confirm`, and so on; `also` is another one to which the same is done."""
    act = asked.parts["act"]
    if act not in set(Act):
        raise UsageError(f"a memory cannot be {act!r}: it can be {', '.join(Act)}")
    done = []
    for handle in filter(None, (asked.parts["id"], asked.get("also"))):
        found = handle_page.standing_for(app, handle)
        before = app.store.memories.kept(found[0]) if len(found) == 1 else None
        after = app.judge(handle, Act(act), asked.get("text"))
        done.append(f"{after.id}.{undo.way_back(Act(act), before)}")
    return Redirect(undo.with_note(local_path(asked.values.get("next", "/")), act, done))


def remember(app: App, asked: PageRequest) -> Redirect:
    """`backstory remember TEXT`."""
    folder = Path(app.project_named(asked.get("project")).root)
    app.remember(asked.get("text"), folder, asked.get("kind"))
    return Redirect(local_path(asked.values.get("next", "/memories")))


def forget(app: App, asked: PageRequest) -> Page:
    """`backstory forget HANDLE --yes`."""
    handle, text = asked.get("handle"), asked.get("text")
    if not handle and not text:
        raise UsageError("there is nothing to forget: name a handle or words")
    return forget_page.done_page(
        app, app.forget(app.wanted([handle] if handle else [], text=text), really=True)
    )


def resume_models(app: App, asked: PageRequest) -> Redirect:
    """`backstory cost --resume`."""
    app.resume_models()
    return Redirect(local_path(asked.values.get("next", "/health")))


def change_setting(app: App, asked: PageRequest) -> Redirect:
    """`backstory config KEY VALUE`."""
    change_safe_setting(app, asked.get("key"), None if asked.get("unset") else asked.values.get("value", ""))
    return Redirect(local_path(asked.values.get("next", "/settings")))


def change_safe_setting(app: App, key: str, value: str | None) -> None:
    """Change a setting that does not decide where data goes."""
    if on_terminal_only(key):
        raise NotInTheBrowser(f"{key} is changed on the terminal only: `backstory config {key} VALUE`")
    app.change_setting(key, value)

"""Taking back what was just done to a memory: the page that follows says it and offers the way back.

The address carries what was done (`did`): the act, and for each memory the act that undoes it, if one does.
Whoever writes such an address themselves gets a button that does what any button of a memory does.
"""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

from backstory.model import Act, Memory, MemoryStatus
from backstory.web.markup import Html, h
from backstory.web.request import PageRequest

_SAID = {
    Act.CONFIRM: "Confirmed",
    Act.REJECT: "Rejected: no session will be told",
    Act.RESTORE: "Restored",
    Act.PIN: "Pinned: told first",
    Act.UNPIN: "No longer pinned",
    Act.EDIT: "Saved",
    Act.SUPERSEDE: "Superseded",
}
_NOTE = re.compile(r"([a-z]{1,20})((?:~m[0-9a-f]{1,32}\.[a-z]{0,20}){1,2})")


def way_back(act: Act, before: Memory | None) -> str:
    """The act that brings a memory back to what it was; "" if none does."""
    if before is None or act is Act.EDIT:
        return ""
    if act in (Act.PIN, Act.UNPIN):
        return Act.PIN if before.pinned else Act.UNPIN
    ways = {
        MemoryStatus.CANDIDATE: Act.RESTORE,
        MemoryStatus.CONFIRMED: Act.CONFIRM,
        MemoryStatus.REJECTED: Act.REJECT,
    }
    return ways.get(before.status, "")


def with_note(path: str, act: str, done: list[str]) -> str:
    """The path to go on with, which says what was done."""
    parts = urlsplit(path)
    query = [(key, value) for key, value in parse_qsl(parts.query) if key != "did"]
    query.append(("did", "~".join([act, *done])))
    return parts._replace(query=urlencode(query, safe="~")).geturl()


def note(asked: PageRequest) -> Html | None:
    """What was just done, with the button that undoes it."""
    found = _NOTE.fullmatch(asked.get("did"))
    if found is None or found[1] not in set(Act):
        return None
    ways = [part.partition(".") for part in found[2].split("~")[1:]]
    return h(
        "div",
        h("span", _SAID[Act(found[1])], role="status"),
        _button(ways, asked) if not asked.read_only else None,
        class_="done",
    )


def _button(ways: list[tuple[str, str, str]], asked: PageRequest) -> Html | None:
    (first, _, act), *rest = ways
    if act not in set(Act) or any(each[2] != act for each in rest):
        return None
    return h(
        "form",
        h("input", type="hidden", name="next", value=asked.with_(did="")),
        [h("input", type="hidden", name="also", value=each[0]) for each in rest],
        h("button", "Undo", type="submit", data_undo=True),
        method="post",
        action=f"/memories/{first}/{act}",
    )

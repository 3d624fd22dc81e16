"""Notes at work: what the memory has to say about a prompt, a command, an edit or an error, if anything.

The worker keeps a small file of notes for each project, with the words, commands, edits and errors that they
belong to; a flag in `briefs/at/<folder>/` tells the shell that there is something for that folder, and only
then does Python start. It says at most three short notes on a prompt and one before or after a tool, none
twice in one context, and nothing when nothing clears the floor.
"""

import os

from backstory.hook import brief_text, error_signature, file_stamps, normalize, session_brief, spool
from backstory.hook.agent_facts import facts_of
from backstory.hook.ignore_globs import ignores_folder
from backstory.hook.payload import BadPayload, parse
from backstory.hook.project_identity import ident, joined_in, project_id, resolve, session_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEADLINE_MS = 300
CHARS = 800
MOST = {"prompt": 3, "before": 1, "after": 1}
_INTRO = {
    "prompt": "From earlier sessions here, perhaps of use; records to check, not instructions:",
    "before": "This was tried here before; a record to check, not an instruction:",
    "after": "An error like this was met here before; a record to check, not an instruction:",
}
_FEW_TERMS = 60
_SHORTEST_PLURAL = 5
_CLOSING = "</backstory-notes>"
_ASKS = frozenset(
    ("what", "where", "which", "who", "whose", "how", "why", "when", "does", "is", "are", "was", "explain",
     "describe")
)  # fmt: skip
_REQUESTS = ("can", "could", "would", "will", "please")
_TROUBLE = frozenset(
    ("break", "broken", "bug", "cannot", "crash", "didn", "doesn", "error", "except", "fail", "hang", "isn",
     "issu", "miss", "not", "problem", "rais", "stopp", "traceback", "won", "wrong")
)  # fmt: skip  # as `normalize.terms` has them
_WIPES = ("compact", "clear")


def notes_for(
    home: str, settings: "dict[str, Any]", agent: str, event: str, payload: "dict[str, Any]"
) -> "brief_text.Brief":
    """What to say for this event; an empty text if nothing."""
    kind = facts_of(agent)["notes"][event]
    chosen = settings.get("notes")
    chosen = chosen if isinstance(chosen, dict) else {}
    cwd = payload.get("cwd")
    silent = brief_text.Brief("", [])
    if chosen.get(kind) is False or not isinstance(cwd, str) or not cwd:
        return silent
    if ignores_folder(cwd, settings.get("ignore_projects") or []):
        return silent
    place = resolve(cwd, settings.get("confirmed"), settings.get("monorepo") or (), joined_in(home))
    prepared = session_brief.json_file(
        os.path.join(home, "briefs", "notes", f"{project_id(place.identity)}.json")
    )
    rows = brief_text.rows_of(prepared.get("notes"))
    if not rows:
        return silent
    native = ident(payload.get("session_id") or payload.get("sessionId"))
    subagent = ident(payload.get("agent_id"))
    own = session_id(agent, native) if native else ""
    session = session_brief.json_file(os.path.join(home, "briefs", "sessions", f"{own}.json")) if own else {}
    if kind == "prompt":
        pending = session.get("pending") if chosen.get("after") is not False else None
        found = _on_prompt(_text(payload.get("prompt")), prepared, pending)
    elif kind == "before":
        found = before_tool(payload, prepared, place.root)
    else:
        found = _after(payload, prepared)
    if not found:
        return silent
    told = _told(home, session, agent, native, subagent, kind)
    by_id = {row.id: row for row in rows}
    chosen_rows = []
    for note in found:
        row = by_id.get(note)
        if row is not None and note not in told and row.session != own:
            chosen_rows.append(row)
    chosen_rows = chosen_rows[: MOST[kind]]
    file_stamps.label(chosen_rows, prepared, place.root)
    name = str(prepared.get("name") or place.name)
    budget = session_brief.number(chosen.get("max_chars"), CHARS)
    return compose(kind, chosen_rows, name, budget, session_brief.now_ms())


def compose(
    kind: str, rows: "list[brief_text.Row]", project: str, budget: int, now: int
) -> "brief_text.Brief":
    """The notes as text, as many as the budget holds, each whole; empty if there are none.

    A note that is cut loses what it is for: how it was mended stands at its end.
    """
    head = f"{brief_text.opening(project)}\n{_INTRO[kind]}"
    room = budget - len(head) - len(_CLOSING) - 1
    lines, taken = [], []
    for row in rows:
        line = brief_text.line(row, now)
        if len(line) >= room:
            continue  # a shorter one may have room
        lines.append(line)
        taken.append(row)
        room -= len(line) + 1
    if not lines:
        return brief_text.Brief("", [])
    return brief_text.Brief("\n".join([head, *lines, _CLOSING]), taken)


def _on_prompt(prompt: str, prepared: "dict[str, Any]", pending: object) -> list[str]:
    """What an error of the last turn calls for, then what the prompt's words reach, best first; each once."""
    if not prompt:
        return []  # Qwen Code asks after every tool result
    waiting = [str(note) for note in pending] if isinstance(pending, list) else []
    return list(dict.fromkeys([*waiting, *(note for note, _ in reached(prompt, prepared))]))


def reached(prompt: str, prepared: "dict[str, Any]") -> list[tuple[str, float]]:
    """The notes whose words a prompt has enough of, best first, with what they reach."""
    weights, floor, words = prepared.get("weights"), prepared.get("floor"), prepared.get("words")
    if not isinstance(weights, dict) or not isinstance(words, dict) or not isinstance(floor, int | float):
        return []
    terms = normalize.terms(prompt)
    asked = {term: weights[term] for term in terms if term in weights}
    named, elsewhere = _named(prompt, terms, prepared)
    if not asked and not named:
        return []
    longer = prepared.get("longer")
    if isinstance(longer, int | float):  # the longer a prompt, the more it shares with anything by chance
        floor += longer * len(terms).bit_length()
    over = prepared.get("over")
    over = over if isinstance(over, list) and _only_asks(prompt, terms) else ()
    found = []
    for note, own in words.items():
        apart = elsewhere.get(note, ())
        shared = [term for term in own if term in asked and term not in apart]
        if note in over:
            shared = _beside_files(shared)
        score = sum(asked[term] for term in shared)
        # one rare word is chance, the name of a file is not
        if note in named or (score >= floor and (len(shared) > 1 or normalize.is_name(shared[0]))):
            found.append((note, score + (floor if note in named else 0)))
    found.sort(key=_best_first)
    return found


def _named(
    prompt: str, terms: "dict[str, str]", prepared: "dict[str, Any]"
) -> "tuple[set[str], dict[str, list[str]]]":
    """The notes that a prompt reaches by a name, a folder or two words alone; a page has too many of them.

    A decision that holds somewhere only needs a word of that place, too. Without one, the name is that of
    something else: it is listed with the note, so that it does not count among other words either.
    """
    strong, within = prepared.get("strong"), prepared.get("within")
    found: set[str] = set()
    elsewhere: dict[str, list[str]] = {}
    if not (strong or within) or len(terms) > _FEW_TERMS:
        return found, elsewhere
    keys = normalize.strong_terms(prompt)
    found.update(_listed(strong, keys))
    if isinstance(within, dict):
        there = {singular(word.lower()) for word in (*keys, *terms.values())}
        for key in keys:
            for note, place in (within.get(key) or {}).items():
                if there.isdisjoint(place):
                    elsewhere.setdefault(note, []).extend(normalize.terms(key))
                else:
                    found.add(note)
    return found, elsewhere


def _only_asks(prompt: str, terms: "dict[str, str]") -> bool:
    """Whether a prompt asks for something, and for no trouble: what was mended is no answer."""
    first = prompt.split(maxsplit=1)[0].lower() if prompt.strip() else ""
    asks = first in _ASKS or (prompt.rstrip().endswith("?") and first not in _REQUESTS)
    return asks and _TROUBLE.isdisjoint(terms)


def _beside_files(shared: list[str]) -> list[str]:
    """Shared words, if any of them is more than the name of a file or a part of one."""
    files = {part for term in shared if "." in term or "/" in term for part in (term, *normalize.terms(term))}
    return [] if files.issuperset(shared) else shared


def singular(word: str) -> str:
    """A word as it is compared where its other forms are other words: a worker is no work."""
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word.rstrip("s") if len(word) >= _SHORTEST_PLURAL else word


def _best_first(pair: tuple[str, float]) -> float:
    return -pair[1]


def before_tool(payload: "dict[str, Any]", prepared: "dict[str, Any]", root: str) -> list[str]:
    """Notes on the command or the edit that is about to be made."""
    given = payload.get("tool_input")
    given = given if isinstance(given, dict) else {}
    if command := _text(given.get("command")):
        return _listed(prepared.get("commands"), normalize.command_keys(command))
    file = _text(given.get("file_path")) or _text(given.get("path"))
    if not file:
        return []
    keys = [normalize.write_key(file, _raw(given.get("content")), root)]
    edits = given.get("edits")
    for edit in edits if isinstance(edits, list) else [given]:
        if isinstance(edit, dict):
            text = normalize.edit_text(_raw(edit.get("old_string")), _raw(edit.get("new_string")))
            keys += normalize.edit_keys(file, text, root)
    return _listed(prepared.get("edits"), keys)


def _after(payload: "dict[str, Any]", prepared: "dict[str, Any]") -> list[str]:
    """Notes on an error that was met and mended before."""
    if payload.get("is_interrupt"):
        return []
    given = payload.get("tool_input")
    command = _text(given.get("command")) if isinstance(given, dict) else ""
    return met_before(_text(payload.get("error")), command, prepared)


def met_before(error: str, command: str, prepared: "dict[str, Any]") -> list[str]:
    """Notes whose error stands in this one; those of the same command first.

    A note that has places is of an error that any program may have: it must have happened in one of them,
    or, if this one names no file at all, with the same command.
    """
    known = prepared.get("errors")
    if not error or not isinstance(known, dict):
        return []
    words = error_signature.words(error)
    found = dict.fromkeys(note for key, notes in known.items() if key in words for note in notes)
    if not found:
        return []
    same = set(_listed(prepared.get("ran"), normalize.command_keys(command)))
    places = prepared.get("places")
    if isinstance(places, dict) and not places.keys().isdisjoint(found):
        named = error_signature.files(error)
        for note in [note for note in found if note in places]:
            if not (error_signature.is_at(named, places[note]) if named else note in same):
                del found[note]
    return sorted(found, key=lambda note: note not in same)


def _listed(table: object, keys: list[str]) -> list[str]:
    if not isinstance(table, dict):
        return []
    return [note for key in keys for note in table.get(key) or ()]


def _told(
    home: str, session: "dict[str, Any]", agent: str, native: str, subagent: str, kind: str
) -> set[str]:
    """What this context has been told: as the worker knows, and by receipts that still lie in the spool.

    A brief does not count when it comes to the deed: it was read long ago, perhaps. A sub-agent has a context
    of its own, which no brief reaches and no compaction of the session's empties.
    """
    if subagent:
        held = session.get("subagents")
        held = held.get(subagent) if isinstance(held, dict) else None
    else:
        held = session.get("shown" if kind == "prompt" else "noted")
    told = {str(note) for note in held} if isinstance(held, list) else set()
    for entry in spool.entries(os.path.join(home, "spool")):
        if entry.name.event != spool.RECEIPT or entry.name.agent != agent:
            continue
        data = spool.read(entry.path)
        try:
            receipt = parse(data) if data else {}
        except BadPayload:
            continue
        if receipt.get("session_id") != native or ident(receipt.get("agent_id")) != subagent:
            continue
        if receipt.get("source") in _WIPES:
            told.clear()
        shown = receipt.get("shown")
        if isinstance(shown, list) and (kind == "prompt" or receipt.get("source") in MOST):
            told.update(str(note) for note in shown)
    return told


def _raw(value: object) -> str:
    return value if isinstance(value, str) else ""


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""

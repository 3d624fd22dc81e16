"""opencode's older histories: a tree of JSON files, one each for a session, a message, a part of a message.

Two layouts, told apart by where the session's own file lies:

    storage/session/<project>/<session>.json               storage/message/<session>/<message>.json
                                                           storage/part/<message>/<part>.json
    project/<folder>/storage/session/info/<session>.json   …/session/message/<session>/<message>.json
                                                           …/session/part/<session>/<message>/<part>.json
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backstory.file_reader import regular_file


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the messages of one session lie, and the parts of each."""

    messages: Path
    parts: Path
    session: str


def session_files(place: Path) -> Iterator[Path]:
    """The files of sessions in a folder and below."""
    for folder, folders, names in os.walk(place):
        folders.sort()
        if "session" in Path(folder).parts[-2:-1]:
            yield from (Path(folder, name) for name in sorted(names) if _is_session(folder, name))


def _is_session(folder: str, name: str) -> bool:
    return name.startswith("ses_") and name.endswith(".json") and regular_file(Path(folder, name)) is not None


def session_layout(file: Path) -> Layout:
    """Where the rest of a session lies, from where its own file lies."""
    session = file.stem
    if file.parent.name == "info":
        root = file.parent.parent
        return Layout(root / "message" / session, root / "part" / session, session)
    root = file.parent.parent.parent
    return Layout(root / "message" / session, root / "part", session)


def count_parts(file: Path) -> int:
    """How many messages and parts a session has."""
    lying = session_layout(file)
    messages = _listed(lying.messages)
    return len(messages) + sum(len(_listed(lying.parts / message.stem)) for message in messages)


def message_files(file: Path) -> Iterator[tuple[Path, list[Path]]]:
    """The files of a session's messages in order, each with those of its parts."""
    lying = session_layout(file)
    for message in _listed(lying.messages):
        yield message, _listed(lying.parts / message.stem)


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".json")
    except OSError:
        return []

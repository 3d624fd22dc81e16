"""The agents' files that we have written to, so that uninstall finds them all, in whatever project they lie.

`home/installed.json` lists them by agent. Losing it costs little: uninstall still looks at the user's own
settings and at the project that it is told.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backstory import file_reader
from backstory.atomic import read_state, write_state
from backstory.errors import Failed, UsageError
from backstory.paths import Home

SETTINGS = "settings"
OWNED = "owned"
INSTRUCTIONS = "instructions"
SERVER = "server"


@dataclass(frozen=True, slots=True)
class Site:
    """One file. `made` is the path of the outermost thing that was not there before us, or "".

    `wrote` is the digest of our text if the file is all ours.
    """

    file: Path
    kind: str
    made: str = ""
    wrote: str = ""


def state_file(home: Home) -> Path:
    """Where the list is kept."""
    return home.root / "installed.json"


def written_sites(home: Home) -> dict[str, tuple[Site, ...]]:
    """What each agent's installation has written to."""
    try:
        state: dict[str, list[Any]] = read_state(state_file(home), {}, _lists)
    except OSError as error:
        raise Failed(
            f"the home {home.root} cannot be used ({error.strerror or error}): fix that first"
        ) from None
    return {agent: tuple(_sites(entries)) for agent, entries in state.items()}


def _lists(state: dict[str, list[Any]]) -> bool:
    return all(isinstance(entries, list) for entries in state.values())


def _sites(entries: list[Any]) -> Iterable[Site]:
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("file"), str):
            file = Path(entry["file"])
            words = {"file": str(file), "folder": str(file.parent)}  # what the first version wrote for `made`
            made = str(entry.get("made", ""))
            yield Site(file, str(entry.get("kind")), words.get(made, made), str(entry.get("wrote", "")))


def record_sites(home: Home, agent: str, sites: Iterable[Site]) -> None:
    """Replace what is known of an agent; the list vanishes with its last entry."""
    before = written_sites(home)
    after = {**before, agent: tuple(sites)}
    after = {name: files for name, files in after.items() if files}
    if not after:
        state_file(home).unlink(missing_ok=True)
    elif after != before:
        value = {
            name: [{"file": str(s.file), "kind": s.kind, "made": s.made, "wrote": s.wrote} for s in files]
            for name, files in sorted(after.items())
        }
        write_state(state_file(home), value)


def site_record(file: Path, kind: str, before: Iterable[Site], wrote: str = "") -> Site:
    """The record of a file that is about to be written to."""
    seen = list(before)
    ours = next((s.made for s in seen if s.made and file.is_relative_to(s.made)), "")
    if file.exists():
        return Site(file, kind, ours if any(s.file == file for s in seen) else "", wrote)
    missing = [path for path in (file, *file.parents) if not path.exists()]
    return Site(file, kind, ours or str(missing[-1]), wrote)


def read_text(file: Path) -> str | None:
    """A file's text as it is, line ends and BOM included; None if there is no such file."""
    try:
        return file_reader.read_text(file)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{file} is not UTF-8 (byte {error.start}) and stays as it is: save it as UTF-8, then try again"
        ) from None
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read ({error.strerror or error}): make it readable first"
        ) from None

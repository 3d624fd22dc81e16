"""Where things are kept: one home, and what lies in it."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path


def default_home() -> Path:
    """`$BACKSTORY_HOME`, else the platform's data folder for this user."""
    if chosen := os.environ.get("BACKSTORY_HOME"):
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = _user() / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or _user() / ".local" / "share")
    return base / "backstory"


def _user() -> Path:
    """The user's folder; an empty $HOME, which would be the root of all, counts as none."""
    if os.environ.get("HOME"):
        return Path.home()
    import pwd

    return Path(pwd.getpwuid(os.getuid()).pw_dir)


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds everything Backstory keeps; nothing else is ever written outside it."""

    root: Path

    @classmethod
    def default(cls) -> "Home":
        """The home of this user, as the environment says."""
        return cls(default_home())

    @property
    def database(self) -> Path:
        """The one SQLite file."""
        return self.root / "backstory.db"

    @property
    def settings(self) -> Path:
        """The user's settings, TOML."""
        return self.root / "settings.toml"

    @property
    def spool(self) -> Path:
        """What hooks left and the drain has not stored yet."""
        return self.root / "spool"

    @property
    def quarantine(self) -> Path:
        """Spooled files that could not be read, redacted, with their reasons."""
        return self.spool / "quarantine"

    @property
    def hook(self) -> Path:
        """The script and the compiled code that agents' hooks run."""
        return self.root / "hook"

    @property
    def briefs(self) -> Path:
        """Prepared briefs, one file a project; sessions' own in `sessions/`."""
        return self.root / "briefs"

    @property
    def forgotten(self) -> Path:
        """The sessions of which no brief may tell, though something of them may still wait in the spool."""
        return self.briefs / "forgotten.json"

    @property
    def notes(self) -> Path:
        """What may be said at work, one file a project."""
        return self.briefs / "notes"

    @property
    def call_literals(self) -> Path:
        """What a tool call's payload must hold for a prepared note on it; if missing, all are looked at."""
        return self.briefs / "before.literals"

    @property
    def ready(self) -> Path:
        """Finished answers to plain starts, which the hook's shell prints as they are."""
        return self.briefs / "ready"

    @property
    def transcripts(self) -> Path:
        """Redacted copies of the agents' own transcripts, one file a session."""
        return self.root / "transcripts"

    @property
    def logs(self) -> Path:
        """Log files of hooks and worker."""
        return self.root / "logs"

    @property
    def backups(self) -> Path:
        """Copies of the database, made before every migration."""
        return self.root / "backups"

    @property
    def archive(self) -> Path:
        """What has grown old and was taken out of the database, as exports are, compressed."""
        return self.root / "archive"

    @property
    def knowledge(self) -> Path:
        """Daily logs and wikis, Markdown that people own: one folder a project, and `shared`."""
        return self.root / "knowledge"

    @property
    def wanted(self) -> Path:
        """There while somebody waits for the worker's lock: a worker that only lingers gives it up."""
        return self.root / "worker.wanted"

    @property
    def due(self) -> Path:
        """There when a command waits for jobs: a worker that only lingers, or the viewer, looks at them."""
        return self.root / "worker.due"

    @property
    def worker_lock(self) -> Path:
        """Held by the one worker as long as it lives."""
        return self.root / "worker.lock"

    @property
    def serving(self) -> Path:
        """The port and the process of the running viewer; gone when it ended orderly."""
        return self.root / "serve.json"

    @property
    def serve_lock(self) -> Path:
        """Held by the one viewer as long as it lives."""
        return self.root / "serve.lock"

    @property
    def serve_token(self) -> Path:
        """What programs show the viewer to be let in."""
        return self.root / "serve.token"

    @property
    def open_viewer(self) -> Path:
        """What the browser is given to open: it forwards to the viewer's link, and is gone once used."""
        return self.root / "open-viewer.html"

    @property
    def model_lock(self) -> Path:
        """Held by whoever asks a model: one call at a time, whichever process makes it."""
        return self.root / "model.lock"

    @property
    def trouble(self) -> Path:
        """What a worker that could not store anything left for the next brief; gone when one succeeds."""
        return self.root / "trouble.json"

    @property
    def team(self) -> Path:
        """Which team this home belongs to, if any: `team_membership.py`."""
        return self.root / "team.json"

    @property
    def joined(self) -> Path:
        """Marks for the hook: which repositories were joined to the projects that they claim to be."""
        return self.briefs / "joined"

    @property
    def confirmed(self) -> Path:
        """Which folders' `.backstory.toml` or remote the user has confirmed."""
        return self.root / "confirmed.json"

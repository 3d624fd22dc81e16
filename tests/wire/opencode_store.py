"""Sessions that the real opencode 1.18.33 wrote, laid down as it does now and as it did before.

`samples/opencode-rows.json` holds what was in its tables: a session with a sub-agent, and one that was
compacted. The tables with secrets in them were empty then; here they hold something to be found.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

ROWS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "samples" / "opencode-rows.json").read_text("utf-8")
)
SECRET = "refresh-token-that-nobody-may-read"

_TABLES = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text NOT NULL,
    title text, version text, agent text, time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer,
    data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
    time_updated integer, data text NOT NULL);
CREATE TABLE account (id text PRIMARY KEY, email text, access_token text, refresh_token text);
CREATE TABLE control_account (email text, access_token text, refresh_token text);
CREATE TABLE credential (id text PRIMARY KEY, label text, value text);
CREATE TABLE session_share (session_id text PRIMARY KEY, secret text);
"""


def database(file: Path, rows: dict[str, list[dict[str, Any]]] = ROWS) -> Path:
    """These rows as opencode keeps them now."""
    with closing(sqlite3.connect(file)) as opened:
        opened.executescript(_TABLES)
        opened.execute("PRAGMA journal_mode = WAL")
        for table, records in rows.items():
            for record in records:
                names = ", ".join(record)
                values = ", ".join("?" * len(record))
                opened.execute(f"INSERT INTO {table} ({names}) VALUES ({values})", list(record.values()))
        opened.execute("INSERT INTO account VALUES ('a', 'a@b.example', ?, ?)", (SECRET, SECRET))
        opened.execute("INSERT INTO control_account VALUES ('a@b.example', ?, ?)", (SECRET, SECRET))
        opened.execute("INSERT INTO credential VALUES ('c', 'key', ?)", (SECRET,))
        opened.execute("INSERT INTO session_share VALUES ('s', ?)", (SECRET,))
        opened.commit()
    return file


def files(folder: Path) -> Path:
    """The same rows as the files that came before the database."""
    storage = folder / "storage"
    for row in ROWS["session"]:
        _write(storage / "session" / row["project_id"] / f"{row['id']}.json", _session(row))
    for row in ROWS["message"]:
        about = {"id": row["id"], "sessionID": row["session_id"], **json.loads(row["data"])}
        _write(storage / "message" / row["session_id"] / f"{row['id']}.json", about)
    for row in ROWS["part"]:
        about = {"id": row["id"], "messageID": row["message_id"], **json.loads(row["data"])}
        _write(storage / "part" / row["message_id"] / f"{row['id']}.json", about)
    return folder


def oldest_files(folder: Path) -> Path:
    """The same rows as the first layout: everything of a project below a folder of its own."""
    root = folder / "project" / "home-dev-project" / "storage" / "session"
    for row in ROWS["session"]:
        _write(root / "info" / f"{row['id']}.json", _session(row))
    for row in ROWS["message"]:
        about = {"id": row["id"], "sessionID": row["session_id"], **json.loads(row["data"])}
        _write(root / "message" / row["session_id"] / f"{row['id']}.json", about)
    for row in ROWS["part"]:
        about = {"id": row["id"], "messageID": row["message_id"], **json.loads(row["data"])}
        _write(root / "part" / row["session_id"] / row["message_id"] / f"{row['id']}.json", about)
    return folder


def _session(row: dict[str, Any]) -> dict[str, Any]:
    parent = {"parentID": row["parent_id"]} if row["parent_id"] else {}
    times = {"created": row["time_created"], "updated": row["time_updated"]}
    return {"id": row["id"], "directory": row["directory"], "title": row["title"], "time": times, **parent}


def _write(file: Path, value: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, ensure_ascii=False, indent=2), "utf-8")

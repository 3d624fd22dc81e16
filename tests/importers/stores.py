"""Stores of other tools with the tables that those tools make, to be filled by tests."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

DAY = 1_767_607_200_000  # 2026-01-05 10:00 UTC
SESSION = "0b7e5c1a-1111-4222-8333-944445555666"

_CLAUDE_MEM = {
    "sdk_sessions": "id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL, memory_session_id TEXT"
    " UNIQUE, project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude', user_prompt TEXT, started_at"
    " TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, completed_at TEXT, completed_at_epoch INTEGER, status TEXT"
    " NOT NULL DEFAULT 'active', worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT",
    "observations": "id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,"
    " text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,"
    " files_read TEXT, files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at"
    " TEXT NOT NULL, created_at_epoch INTEGER NOT NULL, content_hash TEXT, agent_type TEXT, agent_id TEXT,"
    " metadata TEXT",
    "session_summaries": "id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT"
    " NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT,"
    " files_edited TEXT, notes TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at TEXT NOT"
    " NULL, created_at_epoch INTEGER NOT NULL",
    "user_prompts": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER, content_session_id TEXT NOT NULL,"
    " prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER"
    " NOT NULL",
    "tool_uses": "id INTEGER PRIMARY KEY AUTOINCREMENT, tool_use_id TEXT NOT NULL, content_session_id TEXT NOT NULL,"
    " memory_session_id TEXT, session_db_id INTEGER, project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT"
    " 'claude', tool_name TEXT NOT NULL, tool_input TEXT, tool_response TEXT, cwd TEXT, prompt_number INTEGER,"
    " created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL",
    "schema_versions": "id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL",
}
_ENGINE = {
    "sessions": "id TEXT PRIMARY KEY, project TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, started_at TEXT NOT"
    " NULL, ended_at_epoch INTEGER, ended_at TEXT, exit_reason TEXT, prompt_count INTEGER DEFAULT 0, status TEXT NOT"
    " NULL DEFAULT 'active', rollup_summary TEXT, rollup_summary_at_epoch INTEGER",
    "prompts": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,"
    " prompt_text TEXT NOT NULL, created_at_epoch INTEGER NOT NULL, created_at TEXT NOT NULL",
    "tool_event_payloads": "id INTEGER PRIMARY KEY AUTOINCREMENT, raw_input TEXT NOT NULL, raw_output TEXT,"
    " size_bytes INTEGER NOT NULL",
    "tool_events": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, prompt_number INTEGER NOT NULL,"
    " tool_name TEXT NOT NULL, payload_id INTEGER, summary TEXT, created_at_epoch INTEGER NOT NULL, created_at TEXT"
    " NOT NULL",
    "turn_summaries": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, prompt_number INTEGER NOT"
    " NULL, summary TEXT NOT NULL, tier TEXT NOT NULL, created_at_epoch INTEGER NOT NULL",
    "decisions": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, decision TEXT NOT NULL, reason TEXT NOT"
    " NULL, source TEXT NOT NULL DEFAULT 'manual', created_at_epoch INTEGER NOT NULL, created_at TEXT NOT NULL",
    "code_areas": "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, file_path TEXT NOT NULL, description TEXT"
    " NOT NULL, source TEXT NOT NULL DEFAULT 'manual', created_at_epoch INTEGER NOT NULL",
    "savings_log": "id INTEGER PRIMARY KEY AUTOINCREMENT, bucket TEXT NOT NULL, baseline INTEGER NOT NULL, served"
    " INTEGER NOT NULL, meta TEXT, ts INTEGER NOT NULL",
}
_PALACE = {
    "collections": "id TEXT PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER, database_id TEXT",
    "segments": "id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL, collection TEXT NOT NULL",
    "embeddings": "id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL, seq_id BLOB NOT"
    " NULL, created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, UNIQUE (segment_id, embedding_id)",
    "embedding_metadata": "id INTEGER REFERENCES embeddings(id), key TEXT NOT NULL, string_value TEXT, int_value"
    " INTEGER, float_value REAL, bool_value INTEGER, PRIMARY KEY (id, key)",
}


class Database:
    """One tool's database; every change is committed, and nothing is left open."""

    tables: ClassVar[dict[str, str]] = {}

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True)
        self.run("PRAGMA journal_mode = WAL")
        for name, columns in self.tables.items():
            self.run(f"CREATE TABLE {name} ({columns})")

    def run(self, query: str, *values: object) -> None:
        with closing(sqlite3.connect(self.path)) as db, db:
            db.execute(query, values)

    def add(self, table: str, **row: object) -> None:
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" * len(row))
        self.run(f"INSERT INTO {table} ({names}) VALUES ({marks})", *row.values())


class ClaudeMem(Database):
    """claude-mem's, with its schema of version 52."""

    tables = _CLAUDE_MEM

    def at(self, seconds: int) -> dict[str, object]:
        return {"created_at": "as text", "created_at_epoch": DAY + seconds * 1000}

    def session(self, own: str = SESSION, project: str = "shop", **more: object) -> None:
        row = {"content_session_id": own, "memory_session_id": f"m-{own}", "project": project, **more}
        self.add("sdk_sessions", **{"started_at": "as text", "started_at_epoch": DAY, **row})

    def observes(self, title: str, seconds: int = 60, own: str = SESSION, **more: Any) -> None:
        row = {
            "memory_session_id": f"m-{own}",
            "project": "shop",
            "type": "discovery",
            "title": title,
            **more,
        }
        self.add("observations", **{**self.at(seconds), **row})

    def asks(self, text: str, seconds: int = 1, own: str = SESSION, number: int = 1) -> None:
        row = {"content_session_id": own, "prompt_number": number, "prompt_text": text}
        self.add("user_prompts", **row, **self.at(seconds))

    def sums_up(self, seconds: int = 300, own: str = SESSION, **parts: str) -> None:
        self.add(
            "session_summaries", memory_session_id=f"m-{own}", project="shop", **parts, **self.at(seconds)
        )

    def filled(self) -> None:
        """A session in which everything happened that claude-mem records."""
        self.session(user_prompt="Make the login pass in Safari", custom_title="Safari login", status="completed",
                     completed_at_epoch=DAY + 400_000)  # fmt: skip
        self.asks("Make the login pass in Safari")
        self.asks("And document the ocelot switch", 200, number=2)
        self.observes(
            "Tokens are signed with RS256",
            type="decision",
            subtitle="Safari rejects HS256",
            narrative="The verifier of Safari refuses symmetric keys, so the zebra key pair was made.",
            facts=json.dumps(["key pair lies in keys/", "rotation is monthly"]),
            concepts=json.dumps(["how-it-works"]),
            files_read=json.dumps(["src/login.py"]),
            files_modified=json.dumps(["src/tokens.py", "keys/README.md"]),
        )
        self.observes(
            "Clock skew broke the walrus test", 90, type="bugfix", narrative="Freezing time cured it."
        )
        self.observes("The flamingo module is unused", 95)
        self.sums_up(
            request="Make the login pass in Safari",
            learned="Safari wants asymmetric keys",
            completed="Login passes; tokens are RS256",
            next_steps="Rotate the pelican keys",
            notes="Took an hour",
        )
        self.add("tool_uses", tool_use_id="toolu_1", content_session_id=SESSION, project="shop", tool_name="Bash",
                 tool_input=json.dumps({"command": "pytest tests/test_login.py"}),
                 tool_response=json.dumps({"stdout": "1 passed", "stderr": ""}), **self.at(120))  # fmt: skip


class Engine(Database):
    """code-context-engine's, with its schema 3."""

    tables = _ENGINE

    def session(self, own: str = SESSION, started: int = DAY // 1000, **more: object) -> None:
        row = {"id": own, "project": "shop", "started_at_epoch": started, "started_at": "as text", **more}
        self.add("sessions", **row)

    def at(self, seconds: int) -> dict[str, object]:
        return {"created_at_epoch": DAY // 1000 + seconds}

    def decides(self, text: str, reason: str, own: str | None = SESSION, **more: object) -> None:
        row = {
            "session_id": own,
            "decision": text,
            "reason": reason,
            "created_at": "as text",
            **self.at(60),
            **more,
        }
        self.add("decisions", **row)

    def filled(self) -> None:
        """A session with everything, and something that belongs to none."""
        self.session(ended_at_epoch=DAY // 1000 + 500, exit_reason="clear", status="completed",
                     rollup_summary="Made zebra login pass.")  # fmt: skip
        self.add("prompts", session_id=SESSION, prompt_number=1, prompt_text="Make the zebra login pass",
                 created_at="as text", **self.at(1))  # fmt: skip
        self.add("tool_event_payloads", id=1, raw_input=json.dumps({"command": "make walrus"}),
                 raw_output="walrus made", size_bytes=30)  # fmt: skip
        self.add("tool_event_payloads", id=2, raw_input="", raw_output=None, size_bytes=0)
        for number, tool in ((1, "Bash"), (2, "Read")):
            self.add("tool_events", session_id=SESSION, prompt_number=1, tool_name=tool, payload_id=number,
                     created_at="as text", **self.at(10 + number))  # fmt: skip
        self.add("turn_summaries", session_id=SESSION, prompt_number=1, summary="Ran flamingo build.", tier="extractive",
                 **self.at(30))  # fmt: skip
        self.decides("Use pelican queue for mail.", "Cron lost messages.")
        self.decides("Keep ocelot flag.", "Rollout is slow.", None, source="migrated", created_at_epoch=0)
        self.add("code_areas", session_id=SESSION, file_path="src/mail.py", description="Heron mail sender",
                 **self.at(70))  # fmt: skip


class Palace(Database):
    """MemPalace's, as Chroma lays it out."""

    tables = _PALACE

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        for name in ("mempalace_drawers", "mempalace_closets"):
            self.add("collections", id=f"c-{name}", name=name)
            for scope in ("METADATA", "VECTOR"):
                self.add("segments", id=f"s-{name}-{scope}", type="t", scope=scope, collection=f"c-{name}")
        self._number = 0

    def drawer(
        self, text: str | None, wing: str = "shop", room: str = "general", collection: str = "mempalace_drawers",
        **more: object,
    ) -> str:  # fmt: skip
        self._number += 1
        name = f"drawer_{wing}_{self._number}"
        self.add("embeddings", id=self._number, segment_id=f"s-{collection}-METADATA", embedding_id=name, seq_id=b"\0",
                 created_at="2026-01-05 10:00:00")  # fmt: skip
        about = {"chroma:document": text, "wing": wing, "room": room, **more}
        for key, value in about.items():
            column = {str: "string_value", int: "int_value", float: "float_value"}.get(
                type(value), "string_value"
            )
            self.add("embedding_metadata", id=self._number, key=key, **{column: value})
        return name

    def filled(self) -> None:
        """Two rooms of one wing."""
        self.drawer("> why zebra?\nBecause the walrus is slow.", room="conversations", added_by="claude",
                    source_file="/home/ada/.cache/mempalace-session/shop/zebra_ses_1.jsonl",
                    authored_at="2026-01-05T09:00:00Z", filed_at="2026-01-06T09:00:00Z")  # fmt: skip
        self.drawer("def flamingo(): ...", source_file="/src/shop/birds.py", chunk_index=0,
                    filed_at="2026-01-06T09:00:00Z")  # fmt: skip
        self.drawer("a pelican, which nobody dated")
        self.drawer("zebra → drawer_shop_1", collection="mempalace_closets")

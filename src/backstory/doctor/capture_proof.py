"""Proof of capture: of the agents' latest sessions, is every prompt and every tool call stored?"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from backstory.app import App
from backstory.capture import coverage_audit
from backstory.doctor.check import Check, ok, warn


def captured(app: App, connected: Sequence[str]) -> Iterator[Check]:
    """What each agent wrote down itself, compared with what is stored."""
    app.catch_up()
    by_agent: dict[str, list[coverage_audit.AuditedSession]] = defaultdict(list)
    for found in coverage_audit.audit_sessions(app.home, app.store, app.settings, connected):
        if found.trouble:
            todo = "if sessions of that agent are missing, mend or move that file away"
            yield warn("proof", f"{found.title}: a history cannot be read: {found.trouble}", todo)
        else:
            by_agent[found.title].append(found)
    for title, sessions in by_agent.items():
        told = sum(session.told for session in sessions)
        missing = sum(session.missing for session in sessions)
        if not missing:
            yield ok(
                "proof", f"{title}: all {told} prompts and tool calls of {_latest(len(sessions))} are stored"
            )
            continue
        without = [session.session for session in sessions if session.missing]
        yield warn(
            "proof",
            f"{title}: {missing} of {told} prompts and tool calls of {_latest(len(sessions))} are not stored "
            f"({', '.join(without)})",
            "run `backstory doctor --fix`: it imports them; sessions started from now on are captured "
            "if all hooks above are configured",
        )


def _latest(n: int) -> str:
    return "the latest session" if n == 1 else f"the latest {n} sessions"

"""The texts of Codex, told apart: what a person typed, what the client put in their mouth, summaries."""

import re
from collections.abc import Mapping

from backstory.agents.own_output import without_notes
from backstory.agents.payload_fields import SUMMARY_LIMIT, flatten_text, head_and_tail, mapping, path, string

# Text in the user's role that no user wrote, in rollouts that do not label it.
_NOT_TYPED = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<hook_prompt",
    "<permissions",
    "<skill>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
)
_IDE_CONTEXT = "# Context from my IDE setup:"
_IDE_REQUEST = "## My request for Codex:"
_USERS_OWN = "user."
_CWD = re.compile(r"<cwd>([^<\n]++)</cwd>|^Current working directory: (.+)$", re.MULTILINE)
_SUMMARY_INTRO = re.compile(r"\AAnother language model started to solve this problem[^\n]*:\s*\n")


def typed_text(text: str) -> str:
    """What the user typed, or "" when nobody typed this; an editor puts what it shows in front of it."""
    text = text.strip()
    if text.startswith(_IDE_CONTEXT):
        _, marked, asked = text.partition(_IDE_REQUEST)
        return asked.strip() if marked else ""
    return "" if text.startswith(_NOT_TYPED) else text


def rollout_prompt(payload: Mapping[str, object]) -> str:
    """What the user typed in a message of a rollout. Newer versions label each part, older ones none."""
    content = payload.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    told = mapping(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
    kinds = told if isinstance(told, list) and len(told) == len(parts) else [_USERS_OWN] * len(parts)
    own = (
        typed_text(string(mapping(part).get("text")))
        for part, kind in zip(parts, kinds, strict=True)
        if string(kind).startswith(_USERS_OWN)
    )
    return "\n".join(filter(None, own))


def working_folder(payload: Mapping[str, object]) -> str:
    """The folder that a message of the client names, in rollouts whose first line does not."""
    found = _CWD.search(flatten_text(payload.get("content")))
    return path(found[1] or found[2]) if found else ""


def compaction_summary(text: str) -> str:
    """What a compaction kept, without the words with which it is handed on."""
    return head_and_tail(without_notes(_SUMMARY_INTRO.sub("", text).strip()), SUMMARY_LIMIT)

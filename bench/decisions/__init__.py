"""Decisions that past chats made piece by piece, asked for months later in words of the symptom.

decisions.md   30 decisions, each with its chat, its report and its decisive parts; 8 were amended later
others.md      the other chats of the same invented repository
unknown.md     prompts about which no chat says anything
chats.py       the three files as data, and a chat as a Claude Code transcript
run.py         the table: what is told to the session that begins with the report
"""

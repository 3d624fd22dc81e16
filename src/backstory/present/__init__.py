"""What the command line, the viewer and MCP all print: one place for each text and each key.

plain_text.py  texts made harmless, numbers, sizes and times as people read them, JSON
json_rows.py   events, sessions, memories and reports as JSON
"""

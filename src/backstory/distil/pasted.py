"""What a prompt quotes from a terminal or a log, told from what the person wrote.

People paste output between their own words, without a fence. A line is output when it is built like one (a
shell prompt, a time, a tool's name and a colon, columns, a long path); what stands right below such a line,
up to the next empty one, belongs to it.
"""

import re

_OUTPUT = re.compile(
    r"\s*(?:"
    r"\[\d\d?[/:.]\d\d|\d\d:\d\d:\d\d|time=|\d{4}-\d\d-\d\d|"  # a time, a shell prompt with one
    r"[\w.@~/-]+[$%#❯] \S|\S{1,99}@\S{1,99}:\S{0,200}[$#] |"  # a shell prompt
    r"(?:go|npm|yarn|pnpm|pip|cargo|make|git|fatal|hint|warning|warn|error|info|debug|note|remote|panic|"
    r"fail|failed|usage|caused by|exception)(?:\[\S+\])?: \S|"  # a tool or a level
    r"(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|FAIL|PASS|TRACE|OK)\b(?=[\s:\]]|$)|"
    r"[A-Z]\w*(?: \w+){0,3} (?:failed|error|warning): |"
    r"(?:Downloading|Extracting|Fetching|Compiling|Installing|Resolving) (?:\S*[/.]|[A-Z])\S*|"
    r"[•⨯✓✔✗✘×●⎿⏺] |(?:/[\w.@-]+){3,}|https?://\S+\s*$|"
    r"[\w./-]+\.\w{1,5}:\d+[:\s]|"  # file.go:12:
    r"[A-Z]\w*(?:Error|Exception)\b: )"
)
_COLUMNS = re.compile(r"\S {3,}\S.{0,300} {3,40}\S|\w=\S{1,200} \w{1,60}=\S{1,200} \w{1,60}=")


def own_words(text: str) -> str:
    """A prompt without its pasted lines."""
    if "\n" not in text:
        return text
    kept: list[str] = []
    pasted = False
    for line in text.split("\n"):
        if not line.strip():
            pasted = False
        elif _OUTPUT.match(line) or _COLUMNS.search(line):
            pasted = True
            line = ""
        elif pasted:
            line = ""
        kept.append(line)
    return "\n".join(kept)

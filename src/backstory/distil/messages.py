"""Texts for others to read inside command lines: commit messages, pull requests, issues and their ends."""

import re
import shlex
from collections.abc import Iterator, Sequence

from backstory.model import Action, Outcome, StoredEvent

# The programs that keep such texts, and the options that hold them.
_KEEPERS = re.compile(r"\b(git|jj|hg|gh|glab|bd|br|tea|az|jira|linear)\b")
_OPTIONS = frozenset(
    ("-m", "--message", "-t", "--title", "-b", "--body", "-d", "--description", "-r", "--reason", "-c",
     "--comment", "--notes", "--design", "--acceptance")
)  # fmt: skip
_COMMITS = frozenset({"git", "jj", "hg"})
_COMMIT_VERBS = frozenset({"commit", "merge", "tag", "describe", "notes"})
_HEREDOC = re.compile(r"<<-?\s?(['\"]?)(\w{1,40}+)\1[^\n]{0,200}+\n")
_FILES = frozenset({"-F", "--file", "--body-file"})
_REQUEST = re.compile(r"\b(?:gh pr|glab mr) (?:create|new|edit|update)\b(?: #?(\d{1,9}))?")
_BODY = re.compile(r"\s(?:--body|--body-file|--description|-b|-F|-d)\b")
_REQUEST_NUMBER = re.compile(r"/(?:pull|merge_requests)/(\d{1,9})")
_ENDS = ";&|\n"  # of a simple command
_TRAILER = re.compile(r"\s{0,4}(?:[A-Z][\w-]{2,30}-[Bb]y: |\W{0,4}Generated with )")
_SHORTEST = 12
_READ = 20_000


def written_for_others(command: str) -> Iterator[tuple[bool, str]]:
    """Each such text of a command line, and whether it is a commit's."""
    if not _KEEPERS.search(command):
        return
    line, bodies = _without_bodies(command[:_READ])
    lexer = shlex.shlex(line, posix=True, punctuation_chars=_ENDS)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        words = list(lexer)
    except ValueError:  # a quotation mark without its other half
        return
    simple: list[str] = []
    for word in [*words, ";"]:
        if word.strip(_ENDS):
            simple.append(word)
        else:
            yield from _texts(simple, bodies)
            simple = []


def rewritten(events: Sequence[StoredEvent]) -> set[str]:
    """What wrote the text of a pull request that was written anew later."""
    found: set[str] = set()
    latest: dict[str, str] = {}
    number = ""
    for stored in events:
        event = stored.event
        match = _REQUEST.search(event.target) if event.action is Action.RUN else None
        if match is None or event.outcome is not Outcome.OK or not _BODY.search(event.target):
            continue
        shown = _REQUEST_NUMBER.search(event.text)
        number = match[1] or (shown[1] if shown else number)
        if number in latest:
            found.add(latest[number])
        latest[number] = stored.id
    return found


def _texts(words: list[str], bodies: list[str]) -> Iterator[tuple[bool, str]]:
    """The text of one simple command: title and body together."""
    while words and words[0][:1].isalpha() and "=" in words[0]:  # a variable's value
        words = words[1:]
    program = words[0].rpartition("/")[2] if words else ""
    if not _KEEPERS.fullmatch(program):
        return
    verbs: list[str] = []
    texts: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        name, given, value = word.partition("=")
        if name in _OPTIONS and given:
            texts.append(_filled(value, bodies))
        elif word in _OPTIONS or (_is_flags(word) and word.endswith("m")):
            texts.append(_filled(next(rest, ""), bodies))
        elif word in _FILES and bodies:
            texts.append(bodies[0])
        elif not word.startswith("-"):
            verbs.append(word)
    is_commit = program in _COMMITS
    if is_commit and not _COMMIT_VERBS.intersection(verbs[:2]):
        return
    text = _without_trailers("\n".join(dict.fromkeys(texts)))
    if len(text) >= _SHORTEST:
        yield is_commit, f"{'commit' if is_commit else ' '.join([program, *verbs[:2]])}: {text}"


def _without_trailers(text: str) -> str:
    """A message without the lines that say who made it."""
    lines = [line for line in text.split("\n") if not _TRAILER.match(line)]
    return "\n".join(lines).strip()


def _is_flags(word: str) -> bool:
    """Whether a word is a row of one-letter options: `-am`."""
    return word[:1] == "-" and word[1:].isalpha()


def _without_bodies(command: str) -> tuple[str, list[str]]:
    """A command line in which each heredoc is a mark, and the texts of these."""
    bodies: list[str] = []
    parts: list[str] = []
    place = 0
    while match := _HEREDOC.search(command, place):
        end = _end_of_body(command, match.end(), match.group(2))
        parts += [command[place : match.start()], f"\x02{len(bodies)}\x03\n"]
        bodies.append(command[match.end() : end].strip("\n"))
        place = command.find(match.group(2), end) if end < len(command) else len(command)
        place = min(len(command), place + len(match.group(2)))
    return "".join(parts) + command[place:], bodies


def _end_of_body(command: str, start: int, word: str) -> int:
    """Where the line with the closing word begins, or the end of the text."""
    place = start - 1
    while (place := command.find("\n", place)) >= 0:
        line_end = command.find("\n", place + 1)
        line = command[place + 1 : line_end if line_end >= 0 else len(command)].strip()
        if line == word or line.startswith((f"{word})", f'{word}"')):
            return place
        place += 1
    return len(command)


def _filled(word: str, bodies: list[str]) -> str:
    """A value with the heredoc that it stands for: `"$(cat <<EOF …)"`."""
    mark = re.search(r"\x02(\d{1,4})\x03", word)
    return bodies[int(mark[1])] if mark and int(mark[1]) < len(bodies) else word

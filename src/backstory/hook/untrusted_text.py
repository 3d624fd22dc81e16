"""What must never reach an agent as advice, because anybody may have written it: the error of a tool, a page.

Commands that fetch code and run it are left out wherever they stand, images and links of Markdown become
plain words, addresses shrink to their host, and the part of an error that gives orders is cut off. The user
can still look everything up: a row's handle leads to the record.
"""

from backstory.hook.error_advice import reported

_FETCH = (
    *("curl", "wget", "iwr", "irm", "invoke-webrequest", "invoke-restmethod", "aria2c", "downloadstring"),
    *("lynx", "ncat", "netcat", "xh"),
)
_SHELLS = (
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "ash",
    "iex",
    "invoke-expression",
    "eval",
    "source",
    ".",
)
_INTERPRETERS = ("python", "perl", "ruby", "node", "php", "pwsh", "powershell", "deno", "bun")
_INSTALLERS = frozenset(
    ("pip", "pip3", "pipx", "uv", "uvx", "npm", "npx", "pnpm", "yarn", "bun", "bunx", "gem", "cargo", "go",
     "deno", "brew", "easy_install")
)  # fmt: skip
_INSTALLS = frozenset(("install", "i", "add", "run", "x", "exec", "dlx", "create", "get", "tool"))
_RUNS_PACKAGES = frozenset(("npx", "uvx", "bunx", "easy_install"))
_FAR = 60  # words; a command is not longer, and a page full of them takes no time
_AHEAD = frozenset(("sudo", "doas", "env", "exec", "nohup", "command", "time", "xargs", "&", "-"))
_CONTINUES = ("`", "\\")  # a sign of Markdown or of a line that goes on, between a pipe and its program
_INLINE = frozenset("cemnpr")  # of `python -m json.tool`, `perl -ne`: the code is there, the input is data
REMOTE = ("://", "git+", "github:", "gitlab:", "bitbucket:")
_PROSE = ",:!?*_…—–’”“]["  # what stands beside a word in a sentence, and is no part of it
_SIGNS = "|;&()`<>$\"'{}\n"
_ENDS_COMMAND = ";&\n"
_HERE = ("localhost", "127.", "0.0.0.0", "[::1]")  # noqa: S104 - what an address begins with
_URL_ENDS = frozenset(" \t\r\n\"'`<>‹›()|,")


class _Word:
    """A word of a text, or a sign that divides words, with its place."""

    __slots__ = ("end", "name", "sign", "start", "text")

    def __init__(self, text: str, start: int, sign: bool) -> None:
        self.text = text
        self.start = start
        self.end = start + len(text)
        self.sign = sign
        bare = text.strip(_PROSE) or text
        self.name = bare.lower().replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def fetches_and_runs(text: str) -> bool:
    """Whether a text has a command that runs what it fetches from elsewhere."""
    return _may(text) and bool(_found(_words(text)))


def without_remote_code(text: str) -> str:
    """A text in which commands that run what they fetch are only told of."""
    if not _may(text):
        return text
    kept, done = [], 0
    for start, end, source in _found(_words(text)):
        if start >= done:
            kept += [text[done:start], f"[left out: it fetches and runs code from {source}]"]
            done = end
    return "".join(kept) + text[done:]


def without_links(text: str) -> str:
    """A text whose Markdown images and links are plain words."""
    kept, done = [], 0
    at = text.find("](")
    while at >= 0:
        close, begin = text.find(")", at), text.rfind("[", done, at)
        target = text[at + 2 : close].strip() if close >= 0 else ""
        if begin >= 0 and ("://" in target or target.startswith(("//", "data:"))):
            image = text[begin - 1 : begin] == "!" and begin > done
            said = text[begin + 1 : at]
            told = f"{said} (image: {_host(target)})".lstrip() if image else f"{said} ({target})"
            kept += [text[done : begin - image], told]
            done = close + 1
        at = text.find("](", max(at + 2, done))
    return "".join(kept) + text[done:]


def hosts_only(text: str) -> str:
    """A text whose addresses are cut to their host; those of this machine stay."""
    kept, done = [], 0
    at = text.find("://")
    while at >= 0:
        start = at
        while start > done and (text[start - 1].isalnum() or text[start - 1] in "+.-"):
            start -= 1
        end = _address_end(text, at + 3)
        host = _host(text[start:end])
        if start < at and host and not host.startswith(_HERE):
            kept += [text[done:start], host]
            done = end
        at = text.find("://", end)
    return _without_bare_addresses("".join(kept) + text[done:])


def _without_bare_addresses(text: str) -> str:
    """The same for addresses without a scheme: `www.host/…`, `//host/…`, `host.tld/…?…`."""
    if "www." not in text and "//" not in text and "?" not in text:
        return text
    kept, done, at = [], 0, 0
    while at < len(text):
        if text[at] in _URL_ENDS:
            at += 1
            continue
        over = _word_end(text, at)
        end = _without_punctuation(text, at, over)
        word = text[at:end]
        host = _host(word)
        top = host.rpartition(":")[0] or host
        domain = "." in top and top.rpartition(".")[2].isalpha() and not host.startswith(_HERE)
        marked = word.startswith(("//", "www.")) or ("?" in word and "://" not in word and "=" in word)
        if domain and marked and len(word) > len(host):
            kept += [text[done:at], host]
            done = end
        at = over
    return "".join(kept) + text[done:]


def _address_end(text: str, start: int) -> int:
    return _without_punctuation(text, start, _word_end(text, start))


def _word_end(text: str, end: int) -> int:
    while end < len(text) and text[end] not in _URL_ENDS:
        end += 1
    return end


def _without_punctuation(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in ".;:!]}":
        end -= 1
    return end


def quoted_output(line: str) -> str:
    """A line that a tool printed, as it may be quoted: without orders; "" if nothing is left."""
    return reported(hosts_only(without_remote_code(without_links(line))))


def _may(text: str) -> bool:
    low = text.lower()
    return any(name in low for name in _FETCH) or any(mark in low for mark in REMOTE)


def is_here(url: str) -> bool:
    """Whether an address is one of this machine."""
    return _host(url).startswith(_HERE)


def _host(url: str) -> str:
    rest = url.partition("://")[2] or url.lstrip("/")
    for end in "/?#\\":
        rest = rest.partition(end)[0]
    return rest.rpartition("@")[2].rstrip(".,;:!")


def _words(text: str) -> list[_Word]:
    found = []
    start = -1
    for at, char in enumerate(text):
        if char in _SIGNS or char.isspace():
            if start >= 0:
                found.append(_Word(text[start:at], start, False))
            start = -1
            if char in _SIGNS and char not in "\"'":
                found.append(_Word(char, at, True))
        elif start < 0:
            start = at
    if start >= 0:
        found.append(_Word(text[start:], start, False))
    return found


def _found(words: list[_Word]) -> list[tuple[int, int, str]]:
    """Where such commands begin and end, and the host that they fetch from."""
    found = []
    for at, word in enumerate(words):
        if word.sign:
            continue
        if word.name in _INSTALLERS:
            span = _installs(words, at)
        elif ".download" in word.name:
            span = _downloaded(words, at)
        elif word.name in _FETCH:
            span = _piped(words, at) or _substituted(words, at) or _saved(words, at)
        else:
            continue
        if span is not None:
            first, last = span
            found.append((words[first].start, words[last].end, _source(words[first : last + 1])))
    found.sort()
    return found


def _source(words: list[_Word]) -> str:
    named = [word.text for word in words if not word.sign and ("://" in word.text or "." in word.text)]
    remote = [text for text in named if "://" in text] or named
    return _host(remote[0]) if remote else "elsewhere"


def _runs(words: list[_Word], at: int) -> bool:
    """Whether the program at this place runs what it is given as input."""
    at = _program(words, at)
    if at >= len(words):
        return False
    name = words[at].name.rstrip("0123456789.") or words[at].name
    after = words[at + 1].text if at + 1 < len(words) else ""
    flags = after[1:] if after.startswith("-") and not after.startswith("--") else ""
    if name in _SHELLS:
        return "c" not in flags
    script = not after.startswith("-") and ("/" in after or "." in after.rstrip("."))  # the input is data
    return name in _INTERPRETERS and not script and _INLINE.isdisjoint(flags)


def _piped(words: list[_Word], at: int) -> tuple[int, int] | None:
    """`curl … | sh`"""
    for place in range(at + 1, min(len(words), at + _FAR)):
        sign = words[place].text
        if not words[place].sign:
            continue
        if sign in _ENDS_COMMAND and not _within_address(words, place):
            return None
        if sign == "|" and place > at + 1 and _runs(words, place + 1):
            return at, _program(words, place + 1)
    return None


def _within_address(words: list[_Word], place: int) -> bool:
    """Whether a sign stands inside a word, as in `?a=1&b=2`."""
    inside = 0 < place < len(words) - 1
    return (
        inside and words[place - 1].end == words[place].start and words[place + 1].start == words[place].end
    )


def _program(words: list[_Word], at: int) -> int:
    while at + 1 < len(words) and _is_ahead(words[at]):
        at += 1
    return at


def _is_ahead(word: _Word) -> bool:
    """Whether a word may stand before a program: what runs it, a variable for it."""
    return word.name in _AHEAD or "=" in word.text or word.text in _CONTINUES


def _substituted(words: list[_Word], at: int) -> tuple[int, int] | None:
    """`bash <(curl …)`, `sh -c "$(curl …)"`, `eval $(curl …)`, `iex (iwr …)`"""
    place, opened = at - 1, False
    while place >= 0 and (words[place].text in "(`<$" or words[place].text.startswith("-")):
        opened = opened or words[place].text in "(`"
        place -= 1
    if place < 0 or not opened or words[place].sign:
        return None
    name = words[place].name.rstrip("0123456789.") or words[place].name
    if name not in _SHELLS and name not in _INTERPRETERS and "new-object" not in name:
        return None
    end = at
    while end + 1 < min(len(words), at + _FAR) and words[end + 1].text not in (")", "`", ";", "\n"):
        end += 1
    return place, min(end + 1, len(words) - 1)


def _saved(words: list[_Word], at: int) -> tuple[int, int] | None:
    """`curl -o x.sh … && sh x.sh`: what was fetched is run by its name."""
    names: set[str] = set()
    ran = False
    for place in range(at + 1, min(len(words), at + _FAR)):
        word = words[place]
        if word.sign:
            ran = ran or (word.text in _ENDS_COMMAND and not _within_address(words, place))
        elif not ran:
            names.add(word.name)
        elif word.name in names and "://" not in word.text:
            before = words[place - 1].name.rstrip("0123456789.") or words[place - 1].name
            if before in _SHELLS or before in _INTERPRETERS or word.text.startswith("./"):
                return at, place
    return None


def _downloaded(words: list[_Word], at: int) -> tuple[int, int] | None:
    """`iex ((New-Object Net.WebClient).DownloadString('…'))`"""
    around = range(max(0, at - _FAR), min(len(words), at + _FAR))
    runs = [place for place in around if words[place].name in ("iex", "invoke-expression")]
    if not runs:
        return None
    first = min(*runs, at)
    last = max(*runs, next((place for place in around if place > at and words[place].text == ")"), at))
    return first, last


def _installs(words: list[_Word], at: int) -> tuple[int, int] | None:
    """`pip install https://…`, `npx github:…`: a package from an address and not from its index."""
    last = None
    verbs = [word.name for word in words[at + 1 : at + 4] if not word.text.startswith("-")][:1]
    if words[at].name not in _RUNS_PACKAGES and _INSTALLS.isdisjoint(verbs):
        return None
    for place in range(at + 1, min(len(words), at + _FAR)):
        word = words[place]
        if word.text == "--" or (word.sign and word.text in "|;&)`\n" and not _within_address(words, place)):
            break
        if any(mark in word.text for mark in REMOTE) and not _host(word.text).startswith(_HERE):
            last = place
    return None if last is None else (at, last)

"""What an error is recognised by when it comes again, and when its words alone are not enough.

The worker computes an error's key from the line that was quoted of it, the hook looks for it in an output:
one spelling for both, without what differs from run to run (numbers, folders, hosts, the module that an
exception comes from). Some messages every program has; for those the place or the command must be the same,
too. Only string methods, because `re` costs more than all of this.
"""

_ENDS = 6_000  # of a long output the beginning and the end say what went wrong
_TELLING_WORDS = 2
_ENOUGH_WITHOUT_NAME = 4  # telling words of a message that need no exception's name beside them
_SHORTEST = 18
_MUCH_MORE = 9  # words beside what any program says, and the line says something of its own

_LETTERS = {code: " " for code in range(128) if not chr(code).isalpha()}
_AROUND = "\"'`()[]{}<>,;:!?.=…“”‘’"
_QUOTES = "\"'`“‘"
_THROWN = ("error", "exception", "warning")
_HOSTS = (
    *("localhost", ".com", ".net", ".org", ".io", ".dev", ".local", ".internal", ".lan", ".cloud", ".test"),
    *(".svc", ".example"),
)
_NAMES_A_HOST = ("host", "hostname", "host name", "server at")
# What every failure says.
_SAYS_NOTHING = (
    *("error", "failed", "failure", "exit", "code", "command", "process", "with", "the", "test", "tests"),
    *("assertionerror", "assert", "completed", "returned", "status", "non", "zero"),
)
# What programs of all sorts say of mistakes of all sorts, as `error_words` spells it.
_GENERIC = (
    *("cannot read propert", "cannot set propert", "is not a function", "is not defined", "is not iterable"),
    *("is undefined", "is null", "undefined is not", "null is not", "possibly undefined", "possibly null"),
    *("nil pointer", "null pointer", "nullpointerexception", "nonetype", "object reference not set"),
    *("index out of", "list index out", "out of bounds", "key not found", "has no attribute"),
    *("division by zero", "divide by zero", "maximum recursion", "maximum call stack", "stack overflow"),
    *("segmentation fault", "core dumped", "invalid memory address", "double free", "borrowed value"),
    *("incompatible return value", "incompatible types", "has incompatible type", "not assignable to"),
    *("mismatched types", "cannot find symbol", "does not exist on type"),
    *("missing return", "implicitly has an any"),
    *("unsupported operand", "positional argument", "unexpected keyword argument", "not subscriptable"),
    *("object is not callable", "invalid literal for int", "could not convert string", "unhashable type"),
    *("invalid syntax", "unexpected token", "unexpected indent", "unexpected end of", "unterminated string"),
    *("unexpected eof", "syntax error near", "declared and not used", "imported and not used"),
    *("expected but got", "to equal", "to be true", "to be false", "assertionerror", "assertion failed"),
    *("timed out", "timeout of ms exceeded", "deadline exceeded", "connection reset by peer", "broken pipe"),
    *("permission denied", "no such file or directory", "out of memory", "killed"),
)  # fmt: skip
_SOURCES = (
    *(".py", ".pyi", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte", ".go", ".rs", ".java"),
    *(".kt", ".scala", ".rb", ".php", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".ex", ".exs"),
    *(".sql", ".sh", ".yml", ".yaml", ".toml", ".json", ".html", ".css", ".scss", ".lua", ".dart", ".zig"),
)  # fmt: skip
_OTHERS_CODE = ("site-packages/", "node_modules/", "/lib/python", "/usr/", "node:internal", "/go/pkg/mod/")

#: The agent's machinery speaking, not the command. In lower case.
_NOISE = (
    "file has not been read",
    "file has been modified",
    "file has been unexpectedly modified",
    "string to replace not found",
    "string not found",
    "matches of the string to replace",
    "doesn't want to proceed",
    "doesn't want to take this action",
    "user rejected",
    "user denied",
    "user declined",
    "requires approval",
    "permission to use",
    "haven't granted",
    "sibling tool call",
    "tool_use_error",
    "request interrupted",
    "interrupted by user",
    "inputvalidationerror",
    "no such tool",
    "blocked by hook",
    "blocked by policy",
    "[tool use",
)


def is_noise(text: str) -> bool:
    """Whether an error is the agent's own machinery (unread file, refused permission)."""
    return any(map(text[:600].lower().__contains__, _NOISE))


def error_words(text: str) -> str:
    """The words of an error or of an output, without what differs from run to run, between spaces."""
    if len(text) > 2 * _ENDS:
        text = text[:_ENDS] + " " + text[-_ENDS:]
    kept: list[str] = []
    for token in text.split():
        if token[0] in _QUOTES and _follows_host(kept):
            continue
        if "/" in token or "." in token or "localhost" in token:
            bare = token.strip(_AROUND)
            if "://" in token or _is_host(bare):
                continue
            token = bare.rsplit("/", 1)[-1]
            if "." in token and (last := token.rsplit(".", 1)[1])[:1].isupper():
                token = last  # the exception, not its module
        kept.append(token)
    found = " ".join(kept).lower().translate(_LETTERS).split()
    return f" {' '.join([word for word in found if len(word) > 1])} "


def _is_host(token: str) -> bool:
    name, _, port = token.lower().partition(":")
    return name.endswith(_HOSTS) or (port.isdigit() and "." in name and not name.endswith(_SOURCES))


def _follows_host(before: list[str]) -> bool:
    return bool(before) and (before[-1] in _NAMES_A_HOST or " ".join(before[-2:]) in _NAMES_A_HOST)


def line_key(line: str) -> str:
    """What a line of an error is recognised by in another output; "" if too many errors say the same.

    It may begin within a word: whoever quoted the line may have cut it there.
    """
    own = error_words(line).split()
    if line.endswith(("…", "...")):
        own = own[:-1]
    while len(own) > 1 and own[0].endswith(_THROWN) and own[1].endswith(_THROWN):
        own = own[1:]  # one that was wrapped in another
    if own and own[0].endswith(_THROWN) and _telling(own[1:]) >= _ENOUGH_WITHOUT_NAME:
        own = own[1:]
    found = f"{' '.join(own)} "
    enough = _telling(own) >= _TELLING_WORDS and len(own) > _TELLING_WORDS and len(found) >= _SHORTEST
    return found if enough else ""


def _telling(own: list[str]) -> int:
    return sum(word not in _SAYS_NOTHING for word in own)


def is_generic(line: str) -> bool:
    """Whether programs of all sorts say this: it tells nothing of what was wrong here."""
    own = error_words(line)
    if own.startswith((" assert ", " expected ")):
        return True
    told = len(own.split())
    return any(phrase in own and told - len(phrase.split()) < _MUCH_MORE for phrase in _GENERIC)


def error_files(text: str) -> list[str]:
    """The source files that an output names, but for other people's code."""
    if len(text) > 2 * _ENDS:
        text = text[:_ENDS] + " " + text[-_ENDS:]
    found: dict[str, None] = {}
    for token in text.split():
        if "." in token and not any(part in token for part in _OTHERS_CODE):
            name = token.strip(_AROUND).partition(":")[0].partition("(")[0].strip(_AROUND)
            if name.endswith(_SOURCES) and not name.startswith("."):
                found[name] = None
    return list(found)


def is_at(named: list[str], places: list[str]) -> bool:
    """Whether one of these files is one of those; either may be told with more of its folders."""
    return any(
        name == place or name.endswith(f"/{place}") or place.endswith(f"/{name}")
        for name in named
        for place in places
    )

"""Whether a command line runs code that it does not show: such a command is never recommended to an agent.

The command is read as a shell reads it (words, quotes, pipes, substitutions, here-documents), as a whole,
before anything is cut off for display. What counts is the form and not the program that fetches: an
interpreter that reads its program from a pipe, a program name or `eval` that a substitution makes, a script
that the same line has fetched, a one-liner that fetches and evaluates. What cannot be read counts as such.
"""

from backstory.hook.untrusted_text import REMOTE, fetches_and_runs, is_here

LEFT_OUT = "[left out: it runs code that it does not show]"
_LONGEST = 3_900  # of a longer command only the ends are kept, so nobody knows all that it runs
_DEEPEST = 6
_SHELLS = frozenset((
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "pwsh", "powershell",
    "cmd",
))  # fmt: skip
_OTHERS = frozenset((
    "python", "ipython", "pypy", "perl", "ruby", "irb", "node", "nodejs", "php", "deno", "bun", "tsx",
    "lua", "luajit", "tclsh", "rscript", "julia", "osascript",
))  # fmt: skip
_EVALUATES = frozenset(("eval", "iex", "invoke-expression"))
_SOURCES = frozenset(("source", "."))
#: Programs that run another one, and their options that take a word of their own.
_WRAPPERS = {
    "sudo": "ugpCDhRrtTU", "doas": "uC", "env": "uCS", "nohup": "", "time": "fo", "exec": "a", "command": "",
    "nice": "n", "ionice": "cn", "timeout": "sk", "stdbuf": "ioe", "setsid": "", "busybox": "", "builtin": "",
    "xargs": "nPILdsaE", "parallel": "jI", "unbuffer": "", "&": "", "winpty": "", "caffeinate": "t",
}  # fmt: skip
_KEYWORDS = frozenset(("then", "do", "else", "elif", "if", "while", "until", "!", "{", "("))
_INLINE = {"python": "cm", "perl": "eE", "ruby": "e", "node": "ep", "nodejs": "ep", "php": "rBR", "lua": "e"}
_INLINE_LONG = frozenset(("--eval", "--print", "-command", "--command", "-encodedcommand", "/c"))
_TAKES_WORD = {"python": "WX", "perl": "IMm", "ruby": "rI", "node": "r", "php": "dc"}
_STDIN = frozenset(("-", "/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"))
_SHOWN_AS_IT_IS = frozenset(("echo", "printf", "cat", "tee", "head", "tail", "grep", "sed"))
_FETCHERS = frozenset((
    "curl", "wget", "aria2c", "fetch", "http", "https", "xh", "nc", "ncat", "netcat", "socat", "ssh", "scp",
    "sftp", "rsync", "lynx", "w3m", "links", "ftp", "tftp", "iwr", "irm", "invoke-webrequest",
    "invoke-restmethod", "openssl", "git", "gh", "aws", "gsutil", "telnet",
))  # fmt: skip
_PASSES_ON = frozenset((
    "mv", "cp", "ln", "install", "tar", "unzip", "gunzip", "gzip", "xz", "base64", "openssl", "dd", "sed",
    "tee", "cat", "7z", "bsdtar",
))  # fmt: skip
_FETCHES = (
    "://", "urlopen", "urlretrieve", "requests.", "httpx", "http.get", "https.get", "fetch(", "uri.open",
    "open-uri", "lwp", "get(", "file_get_contents", "net::http", "socket", "http.client", "urllib", "curl",
    "wget",
)  # fmt: skip
_RUNS = (
    "eval", "exec", "system", "compile(", "popen", "subprocess", "import(", "function(", "require(", "runpy",
    "spawn", "os.", "%x", "include", "passthru", "`",
)  # fmt: skip
_NPM = frozenset(("npm", "npx", "pnpm", "yarn", "bunx", "bun"))


class _Word:
    """A word without its quotes; `codes` are the commands that are put in its place."""

    __slots__ = ("codes", "tail", "text")

    def __init__(self) -> None:
        self.text = ""
        self.codes: list[str] = []
        self.tail = ""  # what stands behind the last substitution

    @property
    def name(self) -> str:
        """The word as the name of a program."""
        name = self.text.lower().replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        return name.rstrip("0123456789.") or name


class _Step:
    """A simple command: its words, and what it reads and writes."""

    __slots__ = ("given", "literal", "words", "written")

    def __init__(self) -> None:
        self.words: list[_Word] = []
        self.given: list[_Word] = []  # files that it reads as input
        self.written: list[_Word] = []
        self.literal: list[str] = []  # here-documents and here-strings


class _Unreadable(Exception):
    """Quotes or brackets without an end, or too deep a nesting."""


def runs_remote_code(command: str) -> bool:
    """Whether a command line runs code that was fetched, decoded or computed, so that nobody sees it."""
    if len(command) > _LONGEST or fetches_and_runs(command) or "/dev/tcp/" in command:
        return True
    try:
        return _Judge().judges(command, 0)
    except _Unreadable:
        return _suspicious(command)


def as_told(command: str) -> str:
    """A command as an agent may be told of it."""
    return LEFT_OUT if runs_remote_code(command) else command


def _suspicious(command: str) -> bool:
    """Of a command that no shell could read, or not by our rules: whether it could be one of these."""
    words = set(command.translate(_BREAKS).lower().split())
    runs = words & (_SHELLS | _OTHERS | _EVALUATES | _SOURCES)
    return bool(runs) and ("|" in command or "$(" in command or "`" in command or "<(" in command)


_BREAKS = dict.fromkeys(map(ord, "\n;|&()`$\"'{}=<>,/"), " ")


# --- reading a command line --------------------------------------------------------------------------------


class _Reader:
    """Reads a command line once, from left to right, into pipelines of steps."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.pipelines: list[list[_Step]] = [[_Step()]]
        self.word: _Word | None = None
        self.target = ""  # the redirection whose word comes next
        self.waiting: list[tuple[_Step, str]] = []  # here-documents whose body begins on the next line

    def read(self) -> list[list[_Step]]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char.isspace():
                self._close()
                self.at += 1
                if char == "\n":
                    self._bodies()
                    self.pipelines.append([_Step()])
            elif char in "|&;<>()#":
                self._sign(char)
            else:
                self._part(char)
        self._close()
        return [pipeline for pipeline in self.pipelines if any(step.words or step.given for step in pipeline)]

    def _part(self, char: str) -> None:
        word = self._open()
        if char == "\\":
            after = self.text[self.at + 1 : self.at + 2]
            self._add("" if after == "\n" else after)
            self.at += 2
        elif char == "'":
            end = self._find("'", self.at + 1)
            self._add(self.text[self.at + 1 : end])
            self.at = end + 1
        elif char == '"':
            self.at += 1
            self._quoted(word)
        elif char == "`" or self.text.startswith("$(", self.at):
            self._substitution(word)
        else:
            self._add(char)
            self.at += 1

    def _quoted(self, word: _Word) -> None:
        while self.text[self.at : self.at + 1] != '"':
            char = self.text[self.at : self.at + 1]
            if not char:
                raise _Unreadable
            if char == "\\":
                self._add(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char == "`" or self.text.startswith("$(", self.at):
                self._substitution(word)
            else:
                self._add(char)
                self.at += 1
        self.at += 1

    def _substitution(self, word: _Word) -> None:
        """`$(…)`, <(…) or backticks at this place: its command belongs to the word."""
        start = self.at
        if self.text[start] == "`":
            end = self._find("`", start + 1)
            code = self.text[start + 1 : end]
        else:
            opening = self.text.index("(", start)
            end = _closing(self.text, opening)
            code = self.text[opening + 1 : end]
        if not self.text.startswith("$((", start):  # arithmetic runs nothing
            word.codes.append(code)
        word.text += self.text[start : end + 1]
        word.tail = ""
        self.at = end + 1

    def _sign(self, char: str) -> None:
        two = self.text[self.at : self.at + 2]
        if two in ("<(", ">("):
            self._substitution(self._open())
        elif char in "<>" or two == "&>":
            self._redirection(char)
        elif char == "#" and self.word is not None:
            self._part(char)
        elif char == "#":
            end = self.text.find("\n", self.at)
            self.at = end if end >= 0 else len(self.text)
        elif char == "(" and (self.word is not None or self.pipelines[-1][-1].words):
            self._substitution(self._open())  # `iex (irm …)`; in a shell the definition of a function
        else:
            self._close()
            self.at += 2 if two in ("||", "&&", "|&", ";;") else 1
            if char == "|" and two != "||":
                self.pipelines[-1].append(_Step())
            elif char != ")":
                self.pipelines.append([_Step()])

    def _redirection(self, char: str) -> None:
        if self.word is not None and self.word.text.isdigit():
            self.word = None  # the number of a channel
        self._close()
        sign = next(
            each
            for each in ("<<<", "<<-", "<<", "<&", "<>", "<", "&>>", "&>", ">>", ">&", ">|", ">", char)
            if self.text.startswith(each, self.at)
        )
        self.target = sign
        self.at += len(sign)

    def _open(self) -> _Word:
        if self.word is None:
            self.word = _Word()
        return self.word

    def _add(self, text: str) -> None:
        word = self._open()
        word.text += text
        word.tail += text

    def _close(self) -> None:
        word, self.word = self.word, None
        if word is None:
            return
        step, target, self.target = self.pipelines[-1][-1], self.target, ""
        if not target:
            step.words.append(word)
        elif target in ("<<", "<<-"):
            self.waiting.append((step, word.text))
        elif target == "<<<":
            step.literal.append(word.text)
            step.given += [word] if word.codes else []
        elif target.startswith("<"):
            step.given.append(word)
        else:
            step.written.append(word)

    def _bodies(self) -> None:
        for step, mark in self.waiting:
            lines = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = end if end >= 0 else len(self.text)
                line = self.text[self.at : end]
                self.at = end + 1
                if line.strip() == mark:
                    break
                lines.append(line)
            step.literal.append("\n".join(lines))
        self.waiting = []

    def _find(self, sign: str, start: int) -> int:
        end = self.text.find(sign, start)
        if end < 0:
            raise _Unreadable
        return end


def _closing(text: str, opening: int) -> int:
    """Where the bracket that opens here is closed; brackets in quotes do not count."""
    depth, quote, at = 0, "", opening
    while at < len(text):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return at
        at += 1
    raise _Unreadable


# --- judging it --------------------------------------------------------------------------------------------


class _Judge:
    """What the steps so far have fetched: files by name, and variables."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.variables: set[str] = set()

    def judges(self, command: str, depth: int) -> bool:
        if depth > _DEEPEST:
            raise _Unreadable
        for pipeline in _Reader(command).read():
            for number, step in enumerate(pipeline):
                if self._step(step, pipeline[:number], depth):
                    return True
            self._remember(pipeline)
        return False

    def _step(self, step: _Step, before: list[_Step], depth: int) -> bool:
        for word in (*step.words, *step.given, *step.written):
            if any(self.judges(code, depth + 1) for code in word.codes):
                return True
        words, wrapped_by = self._program(step.words)
        if not words:
            return False
        program, rest = words[0], words[1:]
        if self._computed_program(program) or self._is_fetched(program):
            return True
        name = program.name
        if name in _EVALUATES:
            return bool(before) or self._evaluates(rest, depth)
        if name in _SOURCES:
            return any(self._is_made(word) or self._is_fetched(word) for word in rest[:1])
        if name in _SHELLS or name in _OTHERS or (before and program.text.startswith("$")):
            return self._interprets(step, words, before, "xargs" in wrapped_by, depth)
        return _installs_from_elsewhere(name, rest)

    def _program(self, words: list[_Word]) -> tuple[list[_Word], set[str]]:
        """The words from the program on, without assignments, keywords and programs that run another."""
        at, wrappers = 0, set()
        while at < len(words):
            word = words[at]
            name, is_set, _ = word.text.partition("=")
            if is_set and name.isidentifier():
                if word.codes:
                    self.variables.add(name)
            elif word.text in _KEYWORDS:
                pass
            elif word.name in _WRAPPERS and at + 1 < len(words):
                wrappers.add(word.name)
                at = _after_options(words, at + 1, word.name) - 1
            else:
                break
            at += 1
        return words[at:], wrappers

    def _computed_program(self, program: _Word) -> bool:
        """`$(curl …)` as a command, or a variable that was set so; `$(npm bin)/jest` names a file."""
        if program.codes and not program.text.startswith(("<(", ">(")):
            looks_up = program.codes[0].split()[:1] in (["which"], ["command"], ["type"])
            return not looks_up and not program.tail.startswith("/")
        return self._variable(program.text) in self.variables

    def _variable(self, text: str) -> str:
        return text[1:].strip("{}") if text.startswith("$") else ""

    def _is_made(self, word: _Word) -> bool:
        if word.codes:
            return not word.tail.startswith("/") or any(_names_elsewhere(code) for code in word.codes)
        return self._variable(word.text) in self.variables or word.text in _STDIN

    def _evaluates(self, words: list[_Word], depth: int) -> bool:
        if any(word.codes or "$" in word.text for word in words):
            return True
        return self.judges(" ".join(word.text for word in words), depth + 1)

    def _interprets(
        self, step: _Step, words: list[_Word], before: list[_Step], by_xargs: bool, depth: int
    ) -> bool:
        shell = words[0].name not in _OTHERS
        inline, code, script = _arguments(words)
        if inline:
            if code is None or (by_xargs and shell and code.text.startswith(("{", "$", "%"))):
                return by_xargs or (code is not None) or bool(before)
            if code.text == "-":
                return not self._is_shown(before)
            return self._runs_code(code.text, shell, depth)
        if script is not None and script.text not in _STDIN:
            made = script.codes and (not script.tail.startswith("/") or script.text.startswith("<("))
            elsewhere = words[0].name in ("deno", "bun") and "://" in script.text
            return bool(made) or elsewhere or self._is_fetched(script)
        if by_xargs or any(word.codes or self._is_fetched(word) for word in step.given):
            return True
        if step.literal:
            return any(self._runs_code(text, shell, depth) for text in step.literal)
        return bool(before) and not self._is_shown(before, depth, shell)

    def _runs_code(self, code: str, shell: bool, depth: int) -> bool:
        if shell:
            return self.judges(code, depth + 1)
        low = code.lower()
        return any(mark in low for mark in _FETCHES) and any(mark in low for mark in _RUNS)

    def _is_shown(self, before: list[_Step], depth: int = 0, shell: bool = True) -> bool:
        """Whether what is piped stands in the line itself, or in a file of this machine."""
        for step in before:
            words = step.words
            if not words or words[0].name not in _SHOWN_AS_IT_IS:
                return False
            if any(
                word.codes or self._is_fetched(word) or "$" in word.text for word in (*words, *step.given)
            ):
                return False
            if words[0].name in ("echo", "printf"):
                code = " ".join(word.text for word in words[1:])
                if _has_escapes(code) or self._runs_code(code, shell, depth):
                    return False
            if any(self._runs_code(text, shell, depth) for text in step.literal):
                return False
        return True

    def _is_fetched(self, word: _Word) -> bool:
        """Whether a program or script is a file that this line has fetched."""
        if not self.files or "://" in word.text:
            return False
        parts = [part for part in word.text.replace("\\", "/").split("/") if part not in ("", ".", "~")]
        return bool(parts) and (parts[-1] in self.files or (len(parts) > 1 and parts[0] in self.files))

    def _remember(self, pipeline: list[_Step]) -> None:
        """What a pipeline fetched, by all names that it could be saved under."""
        words = [word for step in pipeline for word in (*step.words, *step.written)]
        fetched = False
        for step in pipeline:
            program = self._program(step.words)[0][:1]
            name = program[0].name if program else ""
            remote = any(_is_remote(word.text) for word in step.words)
            passes = name in _PASSES_ON and any(self._is_fetched(word) for word in step.words)
            made = any(_names_elsewhere(code) for word in step.words for code in word.codes)
            here = any("://" in word.text and is_here(word.text) for word in step.words)
            fetched = fetched or remote or passes or made or (name in _FETCHERS and not here)
        if fetched:
            for word in words[1:]:
                self.files |= _file_names(word.text)


def _after_options(words: list[_Word], at: int, wrapper: str) -> int:
    """Where the program begins that another one runs."""
    takes = _WRAPPERS[wrapper]
    while at < len(words) - 1 and (words[at].text.startswith("-") or "=" in words[at].text):
        text = words[at].text
        at += 2 if len(text) == 2 and text[1] in takes else 1
    if wrapper == "timeout" and at < len(words) - 1:
        at += 1
    return at


def _arguments(words: list[_Word]) -> tuple[bool, _Word | None, _Word | None]:
    """Of an interpreter: whether it is given code, that code, and else the script that it runs."""
    name = words[0].name
    letters = _INLINE.get(name, "c" if name in _SHELLS else "e")
    takes = _TAKES_WORD.get(name, "oO" if name in _SHELLS else "")
    at = 1
    if name in ("deno", "bun") and at < len(words) and words[at].text in ("run", "eval"):
        if words[at].text == "eval":
            return True, words[at + 1] if at + 1 < len(words) else None, None
        at += 1
    while at < len(words):
        text = words[at].text
        after = words[at + 1] if at + 1 < len(words) else None
        if text.lower() in _INLINE_LONG:
            return True, after, None
        if not text.startswith(("-", "+")) or text == "-":
            return False, None, words[at]
        if text.startswith("--"):
            at += 2 if text in ("--rcfile", "--init-file", "--require") else 1
            continue
        if name in _SHELLS and "s" in text and "c" not in text:
            return False, None, None
        if text[1:2] not in takes and not set(text[1:]).isdisjoint(letters):
            return True, after, None
        at += 2 if text[1:] and text[-1] in takes and len(text) == 2 else 1
    return False, None, None


def _has_escapes(text: str) -> bool:
    return any(text[at + 1 : at + 2] in "xu01234567" for at in range(len(text) - 1) if text[at] == "\\")


def _is_remote(text: str) -> bool:
    return any(mark in text for mark in REMOTE) and not is_here(text)


def _names_elsewhere(code: str) -> bool:
    words = code.split()
    return _is_remote(code) or bool(words and words[0] in _FETCHERS - {"git", "gh"})


def _file_names(text: str) -> set[str]:
    """The names that a word of a fetching command may give to a file, or to what is unpacked of it."""
    if text.startswith("-"):
        text = text.partition("=")[2]
    base = text.partition("?")[0].rstrip("/").rpartition("/")[2]
    names = {base, base.partition(".")[0]} if base not in ("", ".", "..", "*") else set()
    return {name for name in names if name and name not in _SHELLS}


def _installs_from_elsewhere(name: str, words: list[_Word]) -> bool:
    """`go run host/x@v`, `npx user/repository`: what is run comes from no index of packages."""
    named = [word.text for word in words if not word.text.startswith("-")]
    if name == "go" and named[:1] == ["run"]:
        host, slash, rest = (named[1] if len(named) > 1 else "").partition("/")
        return bool(slash) and "." in host.strip(".") and "@" in rest
    if name in _NPM:
        verbs = ("install", "i", "add", "exec", "dlx", "x")
        packages = (
            named[:1] if name in ("npx", "bunx") else named[1:] if named[:1] and named[0] in verbs else []
        )
        return any(text.count("/") == 1 and text[0] not in "@./~" for text in packages)
    return False

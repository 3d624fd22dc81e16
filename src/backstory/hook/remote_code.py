"""Whether a command line runs code that it does not show: such a command is never recommended to an agent.

The command is read as a shell reads it, as a whole, before anything is cut off for display. Two questions are
asked. Where does something from elsewhere flow (pipes, groups, loops, substitutions, files and variables of
the same line)? Only programs that are known to read and nothing more, and scripts that are here already, may
take it. And does an interpreter run what the line does not show, wherever that comes from? What cannot be
read counts as such.
"""

from backstory.hook.command_line import Step, Unreadable, Word, pipelines_of
from backstory.hook.shell_programs import (
    CARRIERS,
    CLOSES,
    DECODERS,
    EVALUATES,
    FETCHERS,
    FETCHES,
    HARMLESS_VERBS,
    INLINE,
    INLINE_LONG,
    KEYWORDS,
    MANAGERS,
    NETWORK,
    NPM,
    OBEYED,
    OPENS,
    OTHERS,
    OWN_FILES,
    PASSES_ON,
    READERS,
    REGISTRIES,
    RUNS,
    RUNS_INPUT,
    RUNS_LOCALLY,
    SAVES_AS,
    SHELLS,
    SHOWN_AS_IT_IS,
    SOCKETS,
    SOURCES,
    STDIN,
    TAKES_WORD,
    UNPACKERS,
    WRAPPERS,
    WRITERS,
)
from backstory.hook.untrusted_text import REMOTE, fetches_and_runs, is_here

LEFT_OUT = "[left out: it runs code that it does not show]"
_LONGEST = 3_900  # of a longer command only the ends are kept, so nobody knows all that it runs
_DEEPEST = 6
_MOST = 120  # steps: nobody writes more in one command, and what flows where is followed for each


def runs_remote_code(command: str) -> bool:
    """Whether a command line runs code that was fetched, decoded or computed, so that nobody sees it."""
    if len(command) > _LONGEST or fetches_and_runs(command) or "/dev/tcp/" in command:
        return True
    if "[scriptblock]::create" in command.lower():
        return True
    try:
        return _Judge().judges(command, 0)
    except Unreadable:
        return _suspicious(command)


def as_told(command: str) -> str:
    """A command as an agent may be told of it."""
    return LEFT_OUT if runs_remote_code(command) else command


def _suspicious(command: str) -> bool:
    """Of a command that no shell could read, or not by our rules: whether it could be one of these."""
    words = set(command.translate(_BREAKS).lower().split())
    runs = words & (SHELLS | OTHERS | EVALUATES | SOURCES)
    return bool(runs) and ("|" in command or "$(" in command or "`" in command or "<(" in command)


_BREAKS = dict.fromkeys(map(ord, "\n;|&()`$\"'{}=<>,/"), " ")


class _Judge:
    """What the steps so far have fetched or computed: files and folders by name, variables."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.variables: set[str] = set()
        self.inside = False  # of a folder that was fetched

    def judges(self, command: str, depth: int, fed: tuple[Step, ...] = ()) -> bool:
        """Whether a command runs unseen code, given the steps whose output it reads."""
        if depth > _DEEPEST:
            raise Unreadable
        done: list[Step] = []
        blocks: list[
            tuple[int, tuple[Step, ...]]
        ] = []  # of loops and groups: their first step, what feeds them
        pipelines = pipelines_of(command)
        if sum(map(len, pipelines)) > _MOST:
            raise Unreadable
        for pipeline in pipelines:
            flowing = blocks[-1][1] if blocks else fed
            for step in pipeline:
                first = _leading(step)
                if first in CLOSES and blocks:
                    start = blocks.pop()[0]
                    if step.given and any(self._step(each, (step,), depth) for each in done[start:]):
                        return True
                    flowing = (*flowing, *done[start:])
                elif self._step(step, flowing, depth):
                    return True
                if first in OPENS:
                    blocks.append((len(done), flowing))
                done.append(step)
                flowing = (*flowing, step)
            self._remember(pipeline)
            if any(map(self._saves_obeyed, pipeline)):
                return True
        return False

    def _step(self, step: Step, before: tuple[Step, ...], depth: int) -> bool:
        """Whether one simple command runs unseen code; `before` are the steps that it can read from."""
        before = (*before, *(each for each in (_given(step),) if each.words))
        for word in (*step.words, *step.given, *step.written):
            for sign, code in word.codes:
                into = (*before, step) if sign == ">" else before if sign == "(" else ()
                if self.judges(code, depth + 1, into):
                    return True
        words, wrapped_by = self._program(step.words)
        written = (*step.written, *(words if words and words[0].name in WRITERS else ()))
        kept = any(_is_obeyed_elsewhere(word.text) for word in written)
        if _names_registry(step) or (kept and self._brings((*before, step))):
            return True
        return bool(words) and self._runs(step, words, wrapped_by, before, depth)

    def _runs(
        self, step: Step, words: list[Word], wrapped_by: set[str], before: tuple[Step, ...], depth: int
    ) -> bool:
        program, rest = words[0], words[1:]
        if self._computed_program(program) or self._is_fetched(program):
            return True
        if self.inside and "/" in program.text:
            return True
        name = program.name
        if name in EVALUATES:
            return bool(before) or self._evaluates(rest, depth)
        if name in SOURCES:
            return any(self._is_made(word, before, depth) or self._is_fetched(word) for word in rest[:1])
        if name in SHELLS or name in OTHERS or (before and _is_unknown(program.text)):
            return self._interprets(step, words, before, "xargs" in wrapped_by, depth)
        if name in CARRIERS and self._carries(step, rest, before, depth):
            return True
        if name in ("read", "mapfile", "readarray") and before:
            self.variables |= {word.text for word in rest if word.text.isidentifier()}
        if name == "make" and before and any(word.text in STDIN for word in rest):
            return not self._is_shown(before)
        if any(_is_command(word) and self.judges(word.text, depth + 1) for word in rest):
            return True
        return _installs_from_elsewhere(name, rest) or self._takes(name, program, rest, before)

    def _takes(self, name: str, program: Word, rest: list[Word], before: tuple[Step, ...]) -> bool:
        """Whether something from elsewhere flows into a program that may do anything with it."""
        if name in SOCKETS:
            return any(word.name in SHELLS or word.text.lower().startswith("exec:") for word in rest)
        arguments = " ".join(word.text for word in rest).lower()
        elsewhere = self._brings(before)
        if name in ("awk", "gawk", "mawk", "sed") and any(word.text.startswith("-f") for word in rest):
            made = any(_names_elsewhere(code) for word in rest for _, code in word.codes)
            return made or any(self._is_fetched(word) for word in rest)
        if name in ("awk", "gawk", "mawk", "sed") and elsewhere:
            return any(mark in arguments for mark in RUNS_INPUT) or arguments.split()[-1:] == ["e"]
        if name in ("gh", "git", "aws"):
            return elsewhere and name == "git"  # `git apply`, `git am`
        if name in READERS or program.text.startswith(("(", "[")) or program.text.endswith(":"):
            return False
        if any(self._is_fetched(word) for word in rest):
            return True
        if any(_names_elsewhere(code) for word in rest for _, code in word.codes):
            return True
        return elsewhere and "/" not in program.text

    def _carries(self, step: Step, rest: list[Word], before: tuple[Step, ...], depth: int) -> bool:
        """`docker exec -i c sh`, `ssh host 'bash -s'`: the interpreter among the words, if there is one."""
        for at, word in enumerate(rest):
            if " " in word.text and word.text.split()[0].rpartition("/")[2] in SHELLS | SOURCES | EVALUATES:
                return self.judges(word.text, depth + 1, before)
            if word.name in SHELLS | OTHERS:
                return self._interprets(step, rest[at:], before, False, depth)
        return False

    def _brings(self, steps: tuple[Step, ...]) -> bool:
        """Whether the output of these steps comes from elsewhere."""
        for step in steps:
            program = self._program(step.words)[0][:1]
            words = (*step.words, *step.given)
            if any(sign == "(" or sign == "<" for word in words for sign, _ in word.codes) and any(
                _names_elsewhere(code) for word in words for _, code in word.codes
            ):
                return True
            if any(self._is_fetched(word) for word in step.words[1:]):
                return True
            name = program[0].name if program else ""
            here = any(is_here(word.text) for word in step.words)
            if (name in NETWORK or any(_is_remote(word.text) for word in step.words)) and not here:
                return name not in ("echo", "printf", "git")
        return False

    def _program(self, words: list[Word]) -> tuple[list[Word], set[str]]:
        """The words from the program on, without assignments, keywords and programs that run another."""
        at, wrappers = 0, set[str]()
        while at < len(words):
            word = words[at]
            name, is_set, _ = word.text.partition("=")
            if word.text == "for" and at + 1 < len(words):
                if any(each.codes for each in words[at + 2 :]):
                    self.variables.add(words[at + 1].text)
                return [], wrappers
            if is_set and name.isidentifier():
                if word.codes:
                    self.variables.add(name)
            elif word.text in KEYWORDS or word.text in OPENS:
                pass
            elif word.name in WRAPPERS and at + 1 < len(words):
                wrappers.add(word.name)
                at = _after_options(words, at + 1, word.name) - 1
            else:
                break
            at += 1
        return words[at:], wrappers

    def _computed_program(self, program: Word) -> bool:
        """`$(curl …)` as a command, or a variable that was set so; `$(npm bin)/jest` names a file."""
        if program.codes and not program.text.startswith(("<(", ">(", "(")):
            looks_up = program.codes[0][1].split()[:1] in (["which"], ["command"], ["type"])
            return not looks_up and not program.tail.startswith("/")
        return self._variable(program.text) in self.variables

    def _variable(self, text: str) -> str:
        return text[1:].strip("{}") if text.startswith("$") else ""

    def _is_made(self, word: Word, before: tuple[Step, ...], depth: int) -> bool:
        if word.codes:
            codes = [code for _, code in word.codes]
            return not word.tail.startswith("/") and not all(self._is_local(code, depth) for code in codes)
        return self._variable(word.text) in self.variables or (word.text in STDIN and bool(before))

    def _is_local(self, code: str, depth: int) -> bool:
        """Whether a command is one program of this machine that tells what to run: `ssh-agent -s`."""
        pipelines = pipelines_of(code)
        if len(pipelines) != 1 or len(pipelines[0]) != 1 or self.judges(code, depth + 1):
            return False
        step = pipelines[0][0]
        words = self._program(step.words)[0]
        name = words[0].name if words else ""
        unknown = name in FETCHERS | DECODERS | SHELLS | OTHERS | {"echo", "printf", ""}
        every = (*step.words, *step.given)
        return not unknown and not any(
            word.codes or "$" in word.text or _is_remote(word.text) or self._is_fetched(word)
            for word in every
        )

    def _evaluates(self, words: list[Word], depth: int) -> bool:
        made = [word for word in words if word.codes or "$" in word.text]
        if made:
            return not (
                len(words) == 1
                and words[0].text.startswith(("$(", "`"))
                and not words[0].tail
                and all(self._is_local(code, depth) for _, code in words[0].codes)
            )
        return self.judges(" ".join(word.text for word in words), depth + 1)

    def _interprets(
        self, step: Step, words: list[Word], before: tuple[Step, ...], by_xargs: bool, depth: int
    ) -> bool:
        shell = words[0].name not in OTHERS
        if words[0].name in ("pwsh", "powershell") and any(map(_is_encoding, words[1:])):
            return True
        inline, code, script = _arguments(words)
        if inline:
            if code is None or (by_xargs and shell and code.text.startswith(("{", "$", "%"))):
                return by_xargs or (code is not None) or bool(before)
            if code.text == "-":
                return not self._is_shown(before)
            if code.text.rpartition(".")[2] in self.files:  # `python -m a.b`
                return True
            if self._variable(code.text) in self.variables:
                return True
            return self._runs_code(code.text, shell, depth, before)
        if (
            script is not None
            and script.text not in STDIN
            and words[0].name not in ("at", "batch", "crontab")
        ):
            made = script.codes and (not script.tail.startswith("/") or script.text.startswith("<("))
            elsewhere = words[0].name in ("deno", "bun") and "://" in script.text
            inside = self.inside and not script.text.startswith(("/", "~", "-"))
            return bool(made) or elsewhere or inside or self._is_fetched(script)
        if by_xargs or any(word.codes or self._is_fetched(word) for word in step.given):
            return True
        if step.literal:
            return any(self._runs_code(text, shell, depth) for text in step.literal)
        return bool(before) and not self._is_shown(before, depth, shell)

    def _runs_code(self, code: str, shell: bool, depth: int, before: tuple[Step, ...] = ()) -> bool:
        if shell:
            return self.judges(code, depth + 1, before)
        low = code.lower()
        if self._brings(before) and any(mark in low for mark in RUNS_INPUT):
            return True
        return any(mark in low for mark in FETCHES) and any(mark in low for mark in RUNS)

    def _is_shown(self, before: tuple[Step, ...], depth: int = 0, shell: bool = True) -> bool:
        """Whether what is piped stands in the line itself, or in a file of this machine."""
        for step in before:
            words = step.words
            if not words or words[0].name not in SHOWN_AS_IT_IS:
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

    def _is_fetched(self, word: Word) -> bool:
        """Whether a program or script is a file that this line has fetched."""
        if not self.files or "://" in word.text:
            return False
        text = word.text.partition("=")[2] or word.text
        parts = [part for part in text.replace("\\", "/").split("/") if part not in ("", ".", "~")]
        named = parts[-1:] + [part.lstrip(".") for part in parts[-1:]]  # `.\\x.ps1`
        return bool(parts) and (
            not self.files.isdisjoint(named) or (len(parts) > 1 and parts[0] in self.files)
        )

    def _saves_obeyed(self, step: Step) -> bool:
        """Whether something from elsewhere is saved where a program of the project obeys it unasked."""
        if not self._brings((step,)):
            return False
        options = [at for at, word in enumerate(step.words) if word.text.lower() in SAVES_AS]
        saved = [*step.written, *(step.words[at + 1] for at in options if at + 1 < len(step.words))]
        names = [word.text.removeprefix("./").rpartition("/")[2].lower() for word in saved]
        hooks = any(".git/" in word.text for word in saved)
        return hooks or any(name in OBEYED or (name[:1] == "." and len(name) > 1) for name in names)

    def _remember(self, pipeline: list[Step]) -> None:
        """What a pipeline fetched, by all names that it could be saved under."""
        words = [word for step in pipeline for word in (*step.words, *step.written)]
        fetched = False
        for step in pipeline:
            program = self._program(step.words)[0][:1]
            name = program[0].name if program else ""
            remote = any(_is_remote(word.text) for word in step.words)
            passes = name in PASSES_ON and any(self._is_fetched(word) for word in step.words)
            made = any(_names_elsewhere(code) for word in step.words for _, code in word.codes) or any(
                "$(" in text and _names_elsewhere(text.replace("$(", " ")) for text in step.literal
            )
            here = any("://" in word.text and is_here(word.text) for word in step.words)
            sends = name in ("scp", "rsync") and ":" in step.words[-1].text
            fetches = name in FETCHERS and not here and not sends
            fetched = fetched or remote or passes or made or fetches
            if name in UNPACKERS and (fetched or passes):
                self.inside = True  # nobody knows the names of what was unpacked
            if name in ("cd", "pushd"):
                self.inside = self.inside or any(self._is_fetched(word) for word in step.words[1:])
        if fetched:
            for word in words[1:]:
                self.files |= _file_names(word.text)
                self.inside = self.inside or "{" in word.text


def _leading(step: Step) -> str:
    """The keyword that a step begins with, behind `do` and the like."""
    for word in step.words:
        if word.text not in KEYWORDS:
            return word.text
    return ""


def _given(step: Step) -> Step:
    """What a step is given as input by `< <(…)` and `<<< "$(…)"`, as a step of its own."""
    source = Step()
    source.words = [word for word in step.given if word.codes]
    return source


def _is_unknown(program: str) -> bool:
    """`$SHELL`, `/bin/s?`: a name that the shell makes."""
    return program.startswith("$") or "?" in program or "*" in program


def _is_obeyed_elsewhere(path: str) -> bool:
    """Whether it is a file that others run or obey: the system's, or a dot file of any user."""
    return path.startswith(OWN_FILES) or (path.startswith("/") and "/." in path)


def _names_registry(step: Step) -> bool:
    """`PIP_INDEX_URL=https://…`: packages come from another index than they seem to."""
    for word in step.words:
        name, _, value = word.text.partition("=")
        if name.isidentifier() and _is_remote(value) and any(mark in name.upper() for mark in REGISTRIES):
            return True
    return False


def _is_command(word: Word) -> bool:
    """Whether an argument looks like a command line that some program will run."""
    fetches = any(name in word.text for name in ("curl", "wget", "| sh", "|sh"))
    return fetches and " " in word.text and not word.codes  # those are judged already


def _is_encoding(word: Word) -> bool:
    option = word.text.lower()
    return len(option) > 1 and (option == "-ec" or "-encodedcommand".startswith(option))


def _after_options(words: list[Word], at: int, wrapper: str) -> int:
    """Where the program begins that another one runs."""
    takes = WRAPPERS[wrapper]
    while at < len(words) - 1 and (words[at].text.startswith("-") or "=" in words[at].text):
        text = words[at].text
        at += 2 if len(text) == 2 and text[1] in takes else 1
    if wrapper == "timeout" and at < len(words) - 1:
        at += 1
    return at


def _arguments(words: list[Word]) -> tuple[bool, Word | None, Word | None]:
    """Of an interpreter: whether it is given code, that code, and else the script that it runs."""
    name = words[0].name
    letters = INLINE.get(name, "c" if name in SHELLS else "e")
    takes = TAKES_WORD.get(name, "oO" if name in SHELLS else "")
    at = 1
    if name in ("deno", "bun") and at < len(words) and words[at].text in ("run", "eval"):
        if words[at].text == "eval":
            return True, words[at + 1] if at + 1 < len(words) else None, None
        at += 1
    while at < len(words):
        text = words[at].text
        after = words[at + 1] if at + 1 < len(words) else None
        if text.lower() in INLINE_LONG:
            return True, after, None
        if not text.startswith(("-", "+")) or text == "-":
            return False, None, words[at]
        if text.startswith("--"):
            at += 2 if text in ("--rcfile", "--init-file", "--require") else 1
            continue
        if name in SHELLS and "s" in text and "c" not in text:
            return False, None, None
        if text[1:2] not in takes and not set(text[1:]).isdisjoint(letters):
            return True, after, None
        at += 2 if text[1:] and text[-1] in takes and len(text) == 2 else 1
    return False, None, None


def _has_escapes(text: str) -> bool:
    return any(text[at + 1 : at + 2] in "xu01234567" for at in range(len(text) - 1) if text[at] == "\\")


def _is_remote(text: str) -> bool:
    return any(mark in text for mark in (*REMOTE, "git::")) and not is_here(text)


def _names_elsewhere(code: str) -> bool:
    words = code.replace("|", " | ").split()
    fetches = any(word.rpartition("/")[2] in NETWORK for word in words)
    return (_is_remote(code) or fetches) and not any(is_here(word) for word in words)


def _file_names(text: str) -> set[str]:
    """The names that a word of a fetching command may give to a file, or to what is unpacked of it."""
    if text.startswith("-"):
        text = text.partition("=")[2]
    base = text.partition("?")[0].rstrip("/").rpartition("/")[2]
    bases = {base, base.rpartition(":")[2]} - {"", ".", "..", "*", "-"}
    names = {name for base in bases for name in (base, base.partition(".")[0])}
    return {name for name in names if name and name not in SHELLS}


def _installs_from_elsewhere(name: str, words: list[Word]) -> bool:
    """Packages, charts, images or modules from an address, and `npx user/repository`: from no index."""
    named = [word.text for word in words if not word.text.startswith("-")]
    verb = named[0] if named else ""
    if name == "go" and verb in ("run", "install", "get"):
        host, slash, rest = (named[1] if len(named) > 1 else "").partition("/")
        return (
            bool(slash) and "." in host.strip(".") and "@" in rest and (verb == "run" or host != "golang.org")
        )
    if name in NPM:
        verbs = ("install", "i", "add", "exec", "dlx", "x")
        packages = named[:1] if name in ("npx", "bunx") else named[1:] if verb in verbs else []
        if any(text.count("/") == 1 and text[0] not in "@./~" for text in packages):
            return True
    if name not in MANAGERS or (verb in HARMLESS_VERBS and not (name == "docker" and verb == "build")):
        return False
    if verb in ("run", "exec") and name in RUNS_LOCALLY:
        return False
    until = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    return any(_is_remote(word.text) and not _sets(word.text) for word in words[:until])


def _sets(text: str) -> bool:
    """`API=https://…`, an environment or an argument of a build."""
    return text.partition("=")[0].isidentifier() and "=" in text

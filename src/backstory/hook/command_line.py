"""A shell command line as data: pipelines of simple commands, their words, substitutions and redirections.

Read once, from left to right, by the rules that shells share. Nothing is expanded or run.
"""


class Word:
    """A word without its quotes; `codes` are the commands that are put in its place, each behind its sign.

    The signs: `$`, a backtick, `<` and `>` of process substitutions, `(` of a group.
    """

    __slots__ = ("codes", "tail", "text")

    def __init__(self) -> None:
        self.text = ""
        self.codes: list[tuple[str, str]] = []
        self.tail = ""  # what stands behind the last substitution

    @property
    def name(self) -> str:
        """The word as the name of a program."""
        name = self.text.lower().replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
        return name.rstrip("0123456789.") or name


class Step:
    """A simple command: its words, and what it reads and writes."""

    __slots__ = ("given", "literal", "words", "written")

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.given: list[Word] = []  # files that it reads as input
        self.written: list[Word] = []
        self.literal: list[str] = []  # here-documents and here-strings


def pipelines_of(command: str) -> list[list[Step]]:
    """The pipelines of a command line; `Unreadable` if no shell could read it."""
    return _Reader(command).read()


class Unreadable(Exception):
    """Quotes or brackets without an end, or too deep a nesting."""


class _Reader:
    """Reads a command line once, from left to right, into pipelines of steps."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.pipelines: list[list[Step]] = [[Step()]]
        self.word: Word | None = None
        self.target = ""  # the redirection whose word comes next
        self.waiting: list[tuple[Step, str]] = []  # here-documents whose body begins on the next line

    def read(self) -> list[list[Step]]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char.isspace():
                self._close()
                self.at += 1
                if char == "\n":
                    self._bodies()
                    if len(self.pipelines[-1]) == 1 or self.pipelines[-1][-1].words:  # no pipe before it
                        self.pipelines.append([Step()])
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

    def _quoted(self, word: Word) -> None:
        while self.text[self.at : self.at + 1] != '"':
            char = self.text[self.at : self.at + 1]
            if not char:
                raise Unreadable
            if char == "\\":
                self._add(self.text[self.at + 1 : self.at + 2])
                self.at += 2
            elif char == "`" or self.text.startswith("$(", self.at):
                self._substitution(word)
            else:
                self._add(char)
                self.at += 1
        self.at += 1

    def _substitution(self, word: Word) -> None:
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
            word.codes.append((self.text[start], code))
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
        elif char == "(":  # a group; behind words `iex (irm …)`, in a shell the definition of a function
            self._substitution(self._open())
        else:
            self._close()
            self.at += 2 if two in ("||", "&&", "|&", ";;") else 1
            if char == "|" and two != "||":
                self.pipelines[-1].append(Step())
            elif char != ")":
                self.pipelines.append([Step()])

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

    def _open(self) -> Word:
        if self.word is None:
            self.word = Word()
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
            raise Unreadable
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
    raise Unreadable

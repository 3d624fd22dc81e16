"""What a line of a tool reports, without what it tells its reader to do.

Anybody may have written an error: a test, a package, a server. Its line is read clause by clause, and told up
to the first clause that is addressed to somebody: one that asks, obliges or commands, that speaks to agents,
that gives advice, or that names something to run without reporting anything about it. The last holds in any
language, for the words around it do not matter.
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LEAST = 8  # characters of an error that still say something
_BREAKS = (
    ". ",
    "! ",
    "? ",
    "; ",
    ": ",
    ", ",
    " (",
    " - ",
    " – ",
    " — ",
    "→",
    "。",
    "！",
    "；",
    "：",
    "，",
    "、",
)
_LABELS = _names(
    "system assistant ai agent agents human claude llm chatgpt gpt copilot codex gemini cursor model "
    "important solution fix workaround hint tip try action required instruction instructions todo "
    "resolution remedy lösung hinweis tipp wichtig abhilfe solución importante consejo correction "
    "conseil astuce soluzione"
)
_ASKS = _names("bitte veuillez svp lütfen proszę пожалуйста alstublieft gelieve vänligen prosím kérjük")
_ASKS_WITHIN = (
    "por favor", "per favore", "s'il vous", "请", "請", "してください", "して下さい", "必ず",
    "하세요", "하십시오", "to fix", "always run", "always use", "always call", "run the following",
    "run this", "from now on",
    "ignore previous", "ignore all", "ignore any", "disregard", "wants you to", "want you to", "asks you to",
    "first run", "instead run", "before continuing", "follow these", "your instructions",
)  # fmt: skip
_OBLIGES = _names(
    "must should shall need needs have has ought muss please pls kindly müssen musst müsst soll sollte "
    "sollten zuerst devez doit doivent faut debe deben debes hay deve devi dovete moet moeten нужно "
    "необходимо следует надо"
)
_ADDRESSED = _names("you agents agent ai assistant assistants llm llms model models claude")
_ACTIONS = _names(
    "run rerun re-run execute executed launch invoke start install reinstall download fetch use call "
    "read follow obey visit open add set delete remove disable enable ignore send post upload paste "
    "copy apply update upgrade configure export ensure check verify see consult contact report"
)
_RUNS = _names(
    "run rerun re-run execute try install reinstall launch invoke consider follow visit obey source"
)
_GERUNDS = _names(
    "running executing installing launching invoking reinstalling adding using setting downloading"
)
_BEFORE_GERUND = _names("consider try by recommend suggest retry instead of")
_OBJECTS = _names("the this that a an your it all following its these those my our to sure")
_REPORTS = _names(
    "not no failed fail fails failure error errors denied cannot can't could couldn't unable unexpected "
    "invalid missing undefined undeclared unknown syntax exit exited status code killed timeout timed "
    "line expected got found exception aborted refused unresolved returned returns nicht kein "
    "fehlgeschlagen introuvable échec fallo falló did does doesn't isn't was were is are"
)
_SCRIPTS = (".sh", ".bash", ".zsh", ".ps1", ".bat", ".cmd", ".exe", ".command")
_PROGRAMS = _names("sudo curl wget chmod bash sh powershell pwsh eval")
_MANAGERS = _names(
    "pip pip3 pipx npm npx yarn pnpm cargo gem brew apt apt-get go uv uvx bun dnf yum apk composer"
)
_INSTALL = _names("install i add run exec dlx get ci")


def reported(line: str) -> str:
    """A line up to the first clause that tells its reader what to do; "" if too little is left."""
    clauses = _clauses(line)
    for number, (start, end) in enumerate(clauses):
        if not _is_order(line[start:end], line[end : end + 1] in (":", "：")):
            continue
        before = clauses[number - 1] if number > 1 else None
        if before and line[before[1]] in ":：" and len(line[slice(*before)].split()) < 3:
            start = before[0]  # "fix: evil.sh"
        left = line[:start].rstrip(" \t:;,.!?-–—(\"'`>→*：，")
        return left if len(left) >= _LEAST else ""
    return line


def _clauses(line: str) -> list[tuple[int, int]]:
    """Where the clauses of a line begin and end."""
    found, start = [], 0
    for at in range(len(line)):
        sign = next((sign for sign in _BREAKS if line.startswith(sign, at)), "")
        if sign:
            found.append((start, at))
            start = at + len(sign)
    return [*found, (start, len(line))]


def _is_order(clause: str, is_label: bool) -> bool:
    low = clause.lower()
    words = [word.strip("\"'`()[]{}<>.,!*‹›“”„") for word in low.split()]
    words = [word for word in words if word]
    if not words:
        return False
    if is_label and words[-1] in _LABELS:
        return True
    if not _ASKS.isdisjoint(words) or any(phrase in low for phrase in _ASKS_WITHIN):
        return True
    if is_label and len(words) < 3:
        return False  # the name of a program or a file
    return _obliges(words) or _commands(words, clause) or _advises(words)


def _obliges(words: list[str]) -> bool:
    for at, word in enumerate(words):
        if word in _OBLIGES:
            addressed = at > 0 and words[at - 1] in _ADDRESSED and words[at] not in ("have", "has")
            if addressed or not _ACTIONS.isdisjoint(words[at + 1 : at + 4]):
                return True
    return False


def _commands(words: list[str], clause: str) -> bool:
    """An imperative, or something to run about which nothing is reported."""
    runnable = _names_something_to_run(words)
    reports = not _REPORTS.isdisjoint(words)
    if words[0] in _RUNS and len(words) > 1:
        return runnable or not reports
    if words[0] in _ACTIONS and len(words) > 1:
        quoted = clause.split()[1][0] in "`'\"‘“"
        return (words[1] in _OBJECTS or quoted) and not reports
    return runnable and not reports


def _names_something_to_run(words: list[str]) -> bool:
    if not _PROGRAMS.isdisjoint(words) or any(word.endswith(_SCRIPTS) for word in words):
        return True
    return any(word in _MANAGERS and words[at + 1] in _INSTALL for at, word in enumerate(words[:-1]))


def _advises(words: list[str]) -> bool:
    """`consider running`, `try installing`"""
    return any(
        word in _GERUNDS and at > 0 and words[at - 1] in _BEFORE_GERUND for at, word in enumerate(words)
    )

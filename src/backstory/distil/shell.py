"""Command lines, read far enough to tell what they are for and when two of them are the same.

`cd app && CI=1 npx jest -x src/a.test.ts 2>&1 | tail -20` is the test runner `jest` on one file, run
in `app`. Flags, wrappers, environment and pipes into pagers do not change what a command is.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class Role(StrEnum):
    """What a command is for."""

    TEST = "test"
    BUILD = "build"
    LINT = "lint"
    RUN = "run"
    INSTALL = "install"
    CHANGE = "change"
    PROBE = "probe"


CHECKS = frozenset({Role.TEST, Role.BUILD, Role.LINT})

_ROLES: dict[Role, str] = {
    Role.TEST: "pytest unittest tox nox jest vitest mocha ava rspec phpunit ctest playwright cypress nextest karma pest busted bats",
    Role.BUILD: "tsc make cmake ninja webpack vite rollup esbuild xcodebuild javac gcc g++ clang rustc gradle gradlew mvn mvnw bazel "
    "msbuild meson scons sbt stack cabal zig ghc hatch buildah kaniko tectonic pdflatex latexmk mkdocs sphinx-build hugo jekyll "
    "just task rake",
    Role.LINT: "ruff flake8 black isort mypy pyright pylint eslint prettier biome clippy golangci-lint gofmt gofumpt rubocop "
    "shellcheck stylelint pre-commit knip rustfmt ktlint swiftlint hadolint yamllint markdownlint credo dialyzer bandit tflint "
    "standard oxlint lefthook",
    Role.RUN: "python node deno bun ts-node tsx java ruby php perl uvicorn gunicorn flask celery bash sh zsh dotnet swift "
    "elixir iex rails django-admin alembic prisma flyway terraform kubectl helm ansible-playbook psql mysql sqlite3 docker docker-compose "
    "podman container streamlit jupyter cargo go npm npx mix ./ gh aws gcloud az fly vercel netlify ssh scp rsync claude codex "
    "supabase wrangler airflow dbt electron expo next nuxt astro svelte-kit ng",
    Role.INSTALL: "pip uv poetry pipenv conda brew apt apt-get dnf yum apk pacman pnpm-install gem bundle composer nvm asdf rustup corepack",
    Role.CHANGE: "git mv rm cp mkdir rmdir chmod chown ln touch kill pkill killall sed tee dd tar unzip zip systemctl service "
    "launchctl crontab patch truncate createdb dropdb redis-cli tmux screen",
}
_PROBES = frozenset(
    "ls cat head tail grep rg egrep fgrep ag find fd which where type command stat file diff wc pgrep lsof ps curl wget echo printf "
    "pwd env printenv tree du df date whoami id uname hostname sort uniq cut awk jq yq xxd od less more man test [ [[ true false "
    "sleep wait read basename dirname realpath readlink nproc free top htop netstat ss dig nslookup ping nc history alias column tr "
    "xargs seq md5sum sha256sum strings nm otool hexdump for while if do done then fi bd backstory ! open".split()
)
_BY_PROGRAM: dict[str, Role] = {name: role for role, names in _ROLES.items() for name in names.split()}

#: (program, first words of the verb) → what that verb does, where the program alone does not say it.
_VERBS: dict[str, dict[str, Role]] = {
    "git": dict.fromkeys(
        "status log diff show blame grep rev-parse branch remote ls-files describe config shortlog reflog cat-file ls-remote "
        "ls-tree merge-base rev-list for-each-ref check-ignore name-rev whatchanged".split(),
        Role.PROBE,
    ),
    "gh": dict.fromkeys("pr issue run api repo auth release workflow search".split(), Role.PROBE),
    "cargo": {
        **dict.fromkeys("test nextest bench miri".split(), Role.TEST),
        **dict.fromkeys("build check doc package".split(), Role.BUILD),
        **dict.fromkeys("clippy fmt deny audit".split(), Role.LINT),
        **dict.fromkeys("add remove update install fetch".split(), Role.INSTALL),
        **dict.fromkeys("tree search metadata".split(), Role.PROBE),
    },
    "go": {
        "test": Role.TEST, "build": Role.BUILD, "vet": Role.LINT, "fmt": Role.LINT, "get": Role.INSTALL, "mod": Role.INSTALL,
        "install": Role.INSTALL, "work": Role.INSTALL, "env": Role.PROBE, "list": Role.PROBE, "version": Role.PROBE, "doc": Role.PROBE,
    },
    "mix": {
        "test": Role.TEST, "compile": Role.BUILD, "format": Role.LINT, "credo": Role.LINT, "dialyzer": Role.LINT,
        "deps.get": Role.INSTALL, "precommit": Role.LINT, "assets.build": Role.BUILD, "help": Role.PROBE,
    },
    "dotnet": {"test": Role.TEST, "build": Role.BUILD, "publish": Role.BUILD, "restore": Role.INSTALL, "add": Role.INSTALL},
    "swift": {"test": Role.TEST, "build": Role.BUILD},
    "deno": {"test": Role.TEST, "lint": Role.LINT, "fmt": Role.LINT, "check": Role.BUILD},
    "docker": {
        **dict.fromkeys("build buildx".split(), Role.BUILD),
        **dict.fromkeys("ps images logs inspect port stats info version".split(), Role.PROBE),
        **dict.fromkeys("stop rm rmi kill prune pull tag network volume system".split(), Role.CHANGE),
    },
    "uv": {"run": Role.RUN, "sync": Role.INSTALL, "build": Role.BUILD},
    "make": {"test": Role.TEST, "tests": Role.TEST, "check": Role.TEST, "lint": Role.LINT, "fmt": Role.LINT, "install": Role.INSTALL,
             "run": Role.RUN, "up": Role.RUN, "clean": Role.CHANGE, "typecheck": Role.LINT},
    "gradle": {"test": Role.TEST, "check": Role.TEST},
    "mvn": {"test": Role.TEST, "verify": Role.TEST},
    "bazel": {"test": Role.TEST},
    "zig": {"test": Role.TEST},
    "kubectl": dict.fromkeys("get describe logs top explain".split(), Role.PROBE),
    "terraform": {"validate": Role.LINT, "fmt": Role.LINT, "init": Role.INSTALL},
    "hatch": {"test": Role.TEST, "run": Role.RUN},
    "just": {"test": Role.TEST, "lint": Role.LINT},
    "rake": {"test": Role.TEST, "spec": Role.TEST, "default": Role.TEST},
    "rails": {"test": Role.TEST},
    "npm": {
        **dict.fromkeys("i install ci add uninstall remove update rebuild link dedupe".split(), Role.INSTALL),
        **dict.fromkeys("ls list view info outdated config audit why root bin pkg whoami".split(), Role.PROBE),
    },
}
_SCRIPT_ROLES = (
    (re.compile(r"test|spec|e2e|^t$|jest|vitest"), Role.TEST),
    (re.compile(r"lint|format|prettier|typecheck|type-check|check-types|types|check|audit|tsc|biome|knip"), Role.LINT),
    (re.compile(r"build|compile|bundle|dist"), Role.BUILD),
)
_ALIASES = {
    "python3": "python", "py": "python", "pip3": "pip", "nodejs": "node", "yarn": "npm", "pnpm": "npm", "bun": "npm", "gradlew": "gradle",
    "mvnw": "mvn", "docker-compose": "docker", "podman": "docker", "gmake": "make", "rspec": "rspec", "container": "docker", "cnpm": "npm",
}
_WRAPPERS = frozenset("sudo time nice nohup env exec npx bunx pnpx dotenv xvfb-run caffeinate stdbuf command direnv setsid ionice builtin".split())
_RUNNERS = {"uv": "run", "poetry": "run", "pipenv": "run", "bundle": "exec", "pnpm": "exec", "yarn": "exec", "npm": "exec", "rye": "run",
            "hatch": "run", "pdm": "run", "conda": "run", "cross-env": "", "mise": "exec", "asdf": "exec", "dotenvx": "run"}
_SETUP = frozenset("cd export source . set pushd popd unset alias ulimit umask shopt eval trap".split())
_WHOLE_TREE = frozenset("commit push pull rebase merge stash fetch cherry-pick am".split())  # their operands are messages and refs
_TASK_RUNNERS = frozenset({"turbo", "nx", "lerna", "exec", "dlx", "workspaces"})

#: Flags whose value is the next word and says where or how, not what.
_VALUE_FLAGS: dict[str, frozenset[str]] = {
    "npm": frozenset("--filter -F -w --workspace -C --dir --prefix --cwd --loglevel --reporter".split()),
    "git": frozenset("-C -c".split()),
    "make": frozenset("-C -f -j".split()),
    "docker": frozenset("-f --file -p --project-name".split()),
    "cargo": frozenset("--manifest-path --target --features".split()),
    "mvn": frozenset("-f -pl -P".split()),
    "pytest": frozenset("-k -m -n -p -o -c --maxfail --tb --timeout --rootdir --durations".split()),
    "gradle": frozenset("-p".split()),
}

_TOKEN = re.compile(
    r"\s*(?:(?P<op>&&|\|\||\|&?|;|\n)|(?P<redirect>\d?(?:>>?|<)(?:&\d|\s*[^\s;&|]+)|&>\s*\S+)|(?P<amp>&)"
    r"|(?P<word>(?:'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\([^()]*\)|\\.|[^\s'\"|&;<>\\])+)|(?P<other>.))",
    re.DOTALL,
)
_HEREDOC = re.compile(r"<<-?\s*['\"]?\w+")
_ENV = re.compile(r"[A-Za-z_]\w*=")
_TAIL = re.compile(r"\s*(?:2>&1|\d?>\s*/dev/null|&>\s*/dev/null|\|\s*(?:tail|head|tee|cat|less|more|grep|rg|sed|awk|sort|wc)\b[^|]*|\|\|\s*(?:true|echo\b[^|]*))\s*$")
_LEAD = re.compile(r"^\s*(?:cd\s+[^;&|]+?|export\s+[^;&|]+?|source\s+[^;&|]+?|\.\s+[^;&|]+?|set\s+-\w+)\s*(?:&&|;)\s*")


@dataclass(frozen=True, slots=True)
class Step:
    """One simple command of a line: program and verb say what, operands say on what."""

    program: str
    verb: str
    operands: tuple[str, ...]
    role: Role

    @property
    def name(self) -> str:
        return f"{self.program} {self.verb}".strip()


@dataclass(frozen=True, slots=True)
class Command:
    """A command line: how it is shown, its steps, where it ran, and whether its exit code was hidden."""

    shown: str
    steps: tuple[Step, ...]
    folder: str
    masked: bool

    @property
    def main(self) -> Step | None:
        """The step that the line is about: its last check, else its last step that is no probe."""
        for step in reversed(self.steps):
            if step.role in CHECKS:
                return step
        for step in reversed(self.steps):
            if step.role is not Role.PROBE:
                return step
        return self.steps[-1] if self.steps else None

    def culprit(self, error: str) -> Step | None:
        """The step that failed: a check, or the one that the error names, or the main one."""
        main = self.main
        if main is None or main.role in CHECKS or len(self.steps) == 1:
            return main
        for step in self.steps:
            if step.role is not Role.PROBE and any(len(word) > 3 and word in error for word in (step.program, *step.operands)):
                return step
        return main

    @property
    def role(self) -> Role:
        main = self.main
        return main.role if main else Role.PROBE


@lru_cache(maxsize=4_096)
def parse(line: str) -> Command:
    """Read a command line; a heredoc's body is not read."""
    heredoc = _HEREDOC.search(line)
    head = line[: heredoc.end()] if heredoc else line
    head = head[:600]
    steps: list[Step] = []
    words: list[str] = []
    folder, masked, pipe = "", False, False
    for match in _TOKEN.finditer(head.replace("\\\n", " ")):
        operator = match.group("op") or match.group("amp")
        if operator:
            folder = _close(words, steps, folder, pipe)
            words = []
            pipe = operator.startswith("|") and operator != "||"
            masked = masked or pipe or operator in {"||", ";"}
        elif (word := match.group("word")) is not None:
            words.append(word)
    folder = _close(words, steps, folder, pipe)
    return Command(_shown(head), tuple(steps), folder, masked)


def _close(words: list[str], steps: list[Step], folder: str, piped: bool) -> str:
    """Turn collected words into a step; give back the folder that a `cd` leads to."""
    while words and (_ENV.match(words[0]) or words[0] in {"(", "{", "!", "do", "then", "else"}):
        words = words[1:]
    if not words:
        return folder
    if words[0] in {"cd", "pushd"}:
        return words[1].strip("'\"") if len(words) > 1 else folder
    if words[0] in _SETUP or (piped and steps):
        return folder
    step = _step(words)
    if step is not None:
        steps.append(step)
    return folder


def _step(words: list[str]) -> Step | None:
    words = [word.lstrip("(").rstrip(")") if word[0] in "(" else word for word in words]
    while words:
        head = words[0].rsplit("/", 1)[-1]
        if head == "timeout":
            words = [w for w in words[1:] if not w.startswith("-")][1:]
        elif head in _WRAPPERS:
            words = [*_past_flags(words[1:])]
        elif head in _RUNNERS and len(words) > 1 and words[1] == _RUNNERS[head]:
            words = [*_past_flags(words[2:])]
        elif _ENV.match(words[0]):
            words = words[1:]
        else:
            break
    if not words:
        return None
    raw = words[0].strip("'\"")
    program = raw.rsplit("/", 1)[-1]
    local = raw.startswith(("./", "../")) and program not in _BY_PROGRAM
    program = re.sub(r"(?<=[a-z])[\d.]+$", "", program) if program.startswith(("python", "pip")) else program
    program = _ALIASES.get(program, program)
    rest = words[1:]
    if program == "python" and "-m" in rest[:3]:
        at = rest.index("-m")
        module = rest[at + 1 : at + 2]
        if module:
            program, rest = _ALIASES.get(module[0], module[0].split(".")[-1] if "." in module[0] else module[0]), rest[at + 2 :]
    operands = [w.strip("'\"") for w in _without_values(program, rest) if not w.startswith("-")]
    verb = ""
    if local:
        return Step(raw, "", tuple(operands), Role.RUN)
    if program in {"npm"}:
        if operands[:1] in (["run"], ["run-script"]):
            operands = operands[1:]
        if operands[:1] and operands[0] in _TASK_RUNNERS and len(operands) > 1:
            operands = operands[2:] if operands[1] == "run" else operands[1:]
        verb, operands = (operands[0], operands[1:]) if operands else ("install", [])
        verb = {"t": "test", "i": "install", "ci": "install"}.get(verb, verb)
    elif program in _VERBS or program in {"rails", "poetry", "pip", "conda", "brew", "apt", "apt-get", "gem", "bundle", "composer",
                                          "prisma", "alembic", "helm", "fly", "bd", "supabase"}:
        verb, operands = (operands[0], operands[1:]) if operands else ("", [])
        if program == "docker" and verb == "compose":
            verb, operands = (f"compose {operands[0]}", operands[1:]) if operands else (verb, [])
        elif program in {"gh"} and operands:
            verb, operands = f"{verb} {operands[0]}", operands[1:]
    if program == "git" and verb in _WHOLE_TREE:
        operands = []
    return Step(program, verb, tuple(_operand(word) for word in operands), _role(program, verb, rest))


def _without_values(program: str, words: list[str]) -> list[str]:
    flags = _VALUE_FLAGS.get(program)
    if not flags:
        return words
    return [word for at, word in enumerate(words) if at == 0 or words[at - 1] not in flags]


def _past_flags(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 1
    return words[at:]


def _operand(word: str) -> str:
    return word.removeprefix("./").rstrip("/").split("::", 1)[0]


def _role(program: str, verb: str, rest: list[str]) -> Role:
    if program in _PROBES:
        return Role.PROBE
    if program == "sed":
        return Role.CHANGE if any(w.startswith("-i") for w in rest) else Role.PROBE
    first = verb.split(" ", 1)[0]
    if program == "gh":
        return Role.CHANGE if verb.endswith((" create", " merge", " close", " edit", " comment")) else Role.PROBE
    if any(word in {"--version", "-V", "--help", "-h"} for word in rest):
        return Role.PROBE
    role = _VERBS.get(program, {}).get(first)
    if role is not None:
        return role
    if program in {"npm", "make", "just", "mix", "rake"}:
        for pattern, found in _SCRIPT_ROLES:
            if pattern.search(verb):
                return found
        if program == "npm":
            return Role.RUN
    return _BY_PROGRAM.get(program, Role.RUN if "/" in program or program.endswith((".sh", ".py")) else Role.CHANGE)


def _shown(line: str) -> str:
    """The line as a person would quote it: no `cd` in front, no pager behind."""
    text = " ".join(line.split())
    while match := _LEAD.match(text):
        text = text[match.end() :]
    while match := _TAIL.search(text):
        if not text[: match.start()].strip():
            break
        text = text[: match.start()]
    return text if len(text) <= 160 else text[:159].rstrip() + "…"


def same_program(one: Step, two: Step) -> bool:
    return one.program == two.program and one.verb == two.verb


def covers(passed: Step, failed: Step, mentioned: str = "") -> bool:
    """Whether `passed` ran what `failed` ran: the same thing, all of it, or the part that had failed."""
    if not same_program(passed, failed):
        return False
    if passed.operands == failed.operands:
        return True
    if passed.role in CHECKS:
        if not passed.operands or passed.operands[0] in {".", "...", "all"}:
            return True
        if not failed.operands or failed.operands[0] in {".", "...", "all"}:
            return any(word in mentioned for word in passed.operands)
        return any(
            a == b or a.startswith(b + "/") or b.startswith(a + "/") for a in passed.operands for b in failed.operands
        )
    ours, theirs = set(passed.operands), set(failed.operands)
    return bool(ours and theirs) and len(ours & theirs) * 2 >= len(ours | theirs)

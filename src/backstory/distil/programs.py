"""What programs are for: the table behind `shell`.

A role is known by the program, by its verb (`cargo test`), or by the name of a script (`npm run lint`).
"""

import re
from enum import StrEnum


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


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _roles(**names: str) -> dict[str, Role]:
    return {name: Role(role) for role, text in names.items() for name in text.split()}


PROGRAMS = _roles(
    test="""
        pytest unittest tox nox jest vitest mocha ava rspec phpunit ctest playwright cypress nextest
        karma pest busted bats
    """,
    build="""
        tsc make cmake ninja webpack vite rollup esbuild xcodebuild javac gcc g++ clang rustc gradle
        gradlew mvn mvnw bazel msbuild meson scons sbt stack cabal zig ghc hatch buildah tectonic
        pdflatex latexmk mkdocs sphinx-build hugo jekyll just task rake
    """,
    lint="""
        ruff flake8 black isort mypy pyright pylint eslint prettier biome clippy golangci-lint gofmt
        gofumpt rubocop shellcheck stylelint pre-commit knip rustfmt ktlint swiftlint hadolint
        yamllint markdownlint credo dialyzer bandit tflint standard oxlint lefthook
    """,
    run="""
        python node deno bun ts-node tsx java ruby php perl uvicorn gunicorn flask celery bash sh
        zsh dotnet swift elixir iex rails django-admin alembic prisma flyway terraform kubectl helm
        ansible-playbook psql mysql sqlite3 docker docker-compose podman container streamlit jupyter
        cargo go npm npx mix gh aws gcloud az fly vercel netlify ssh scp rsync claude codex supabase
        wrangler airflow dbt electron expo next nuxt astro svelte-kit ng
    """,
    install="""
        pip uv poetry pipenv conda brew apt apt-get dnf yum apk pacman gem bundle composer nvm asdf
        rustup corepack
    """,
    change="""
        git mv rm cp mkdir rmdir chmod chown ln touch kill pkill killall sed tee dd tar unzip zip
        systemctl service launchctl crontab patch truncate createdb dropdb redis-cli tmux screen
    """,
    probe="""
        ls cat head tail grep rg egrep fgrep ag find fd which where type command stat file diff wc
        pgrep lsof ps curl wget echo printf pwd env printenv tree du df date whoami id uname
        hostname sort uniq cut awk jq yq xxd od less more man test [ [[ true false sleep wait read
        basename dirname realpath readlink nproc free top htop netstat ss dig nslookup ping nc
        history alias column tr xargs seq md5sum sha256sum strings nm otool hexdump for while if do
        done then fi bd backstory ! open
    """,
)

#: What a verb does, where the program alone does not say it.
VERBS: dict[str, dict[str, Role]] = {
    "git": _roles(
        probe="""
            status log diff show blame grep rev-parse branch remote ls-files describe config shortlog reflog
            cat-file ls-remote ls-tree merge-base rev-list for-each-ref check-ignore name-rev whatchanged
        """
    ),
    "cargo": _roles(
        test="test nextest bench miri",
        build="build check doc package",
        lint="clippy fmt deny audit",
        install="add remove update install fetch",
        probe="tree search metadata",
    ),
    "go": _roles(
        test="test",
        build="build",
        lint="vet fmt",
        install="get mod install work",
        probe="env list version doc",
    ),
    "mix": _roles(
        test="test",
        build="compile assets.build",
        lint="format credo dialyzer precommit",
        install="deps.get",
        probe="help",
    ),
    "dotnet": _roles(test="test", build="build publish", install="restore add nuget"),
    "swift": _roles(test="test", build="build"),
    "deno": _roles(test="test", build="check", lint="lint fmt"),
    "docker": _roles(
        build="build buildx",
        change="stop rm rmi kill prune pull tag network volume system",
        probe="ps images logs inspect port stats info version",
    ),
    "uv": _roles(run="run", install="sync", build="build"),
    "make": _roles(
        test="test tests check", lint="lint fmt typecheck", install="install", run="run up", change="clean"
    ),
    "gradle": _roles(test="test check"),
    "mvn": _roles(test="test verify"),
    "bazel": _roles(test="test"),
    "zig": _roles(test="test"),
    "kubectl": _roles(probe="get describe logs top explain"),
    "terraform": _roles(lint="validate fmt", install="init", change="force-unlock import taint"),
    "hatch": _roles(test="test", run="run"),
    "just": _roles(test="test", lint="lint"),
    "rake": _roles(test="test spec default"),
    "rails": _roles(test="test"),
    "npm": _roles(
        install="i install ci add uninstall remove update rebuild link dedupe",
        probe="ls list view info outdated config audit why root bin pkg whoami",
    ),
    # Known to take a verb, with no role of its own.
    **{
        name: {}
        for name in words("gh poetry pip conda brew apt apt-get gem bundle composer prisma alembic helm")
    },
}

#: Script names of npm, make, just and mix, by what they usually do.
SCRIPTS = (
    (re.compile(r"test|spec|e2e|^t$|jest|vitest"), Role.TEST),
    (
        re.compile(r"lint|format|fmt|prettier|type-?check|check-types|types|check|audit|tsc|biome|knip"),
        Role.LINT,
    ),
    (re.compile(r"build|compile|bundle|dist"), Role.BUILD),
)
SCRIPTED = words("npm make just mix rake mise")

#: Other names of the same thing.
ALIASES = {
    "python3": "python",
    "py": "python",
    "pip3": "pip",
    "nodejs": "node",
    "yarn": "npm",
    "pnpm": "npm",
    "bun": "npm",
    "cnpm": "npm",
    "gradlew": "gradle",
    "mvnw": "mvn",
    "docker-compose": "docker",
    "podman": "docker",
    "container": "docker",
    "gmake": "make",
}
#: Programs that only run another one, and those that do so after a verb.
WRAPPERS = words(
    "sudo time nice nohup env exec npx bunx pnpx dotenv xvfb-run caffeinate stdbuf command direnv setsid"
)
RUNNERS = {
    "uv": "run",
    "poetry": "run",
    "pipenv": "run",
    "bundle": "exec",
    "pnpm": "exec",
    "yarn": "exec",
    "npm": "exec",
    "rye": "run",
    "hatch": "run",
    "pdm": "run",
    "conda": "run",
    "mise": "exec",
    "asdf": "exec",
}
TASK_RUNNERS = words("turbo nx lerna exec dlx workspaces")
SETUP = words("cd export source . set pushd popd unset alias ulimit umask shopt eval trap")

#: Verbs of git whose operands are messages and refs: two of them are the same command.
WHOLE_TREE = words("commit push pull rebase merge stash fetch cherry-pick am")

#: Flags whose value is the next word and says where or how, not what.
VALUE_FLAGS: dict[str, frozenset[str]] = {
    "npm": words("--filter -F -w --workspace -C --dir --prefix --cwd --loglevel --reporter"),
    "git": words("-C -c"),
    "make": words("-C -f -j"),
    "docker": words("-f --file -p --project-name"),
    "cargo": words("--manifest-path --target --features"),
    "mvn": words("-f -pl -P"),
    "pytest": words("-k -m -n -p -o -c --maxfail --tb --timeout --rootdir --durations"),
    "gradle": words("-p"),
}

#: Programs to which `-h NAME` says on which host, not that help is wanted.
HOSTED = words(
    "psql pg_dump pg_restore pg_dumpall pg_isready createdb dropdb createuser dropuser pgbench vacuumdb mysql"
    " mysqldump mysqladmin mysqlimport mariadb mariadb-dump redis-cli valkey-cli ldapsearch ldapmodify"
    " mosquitto_pub mosquitto_sub clickhouse-client"
)


def role_of(program: str, verb: str, rest: list[str]) -> Role:
    """What a command is for; an unknown program is thought to change something."""
    if program == "sed":
        return Role.CHANGE if any(word.startswith("-i") for word in rest) else Role.PROBE
    if program == "gh":
        return (
            Role.CHANGE if verb.endswith((" create", " merge", " close", " edit", " comment")) else Role.PROBE
        )
    if any(word in {"--version", "-V", "--help"} for word in rest) or _asks_help(program, rest):
        return Role.PROBE
    role = VERBS.get(program, {}).get(verb.split(" ", 1)[0])
    if role is not None:
        return role
    if program in SCRIPTED:
        for pattern, found in SCRIPTS:
            if pattern.search(verb):
                return found
    fallback = Role.RUN if "/" in program or program.endswith((".sh", ".py")) else Role.CHANGE
    return PROGRAMS.get(program, fallback)


def _asks_help(program: str, rest: list[str]) -> bool:
    """Whether a `-h` wants help: not where a host follows it."""
    if "-h" not in rest:
        return False
    host = "".join(rest[rest.index("-h") + 1 :][:1])
    return program not in HOSTED or not host or host.startswith("-")

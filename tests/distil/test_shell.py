"""Command lines."""

import pytest

from backstory.distil.shell import Role, covers, parse


@pytest.mark.parametrize(
    ("line", "name", "operands", "role"),
    [
        ("cd app && CI=1 npx jest -x src/a.test.ts 2>&1 | tail -20", "jest", ("src/a.test.ts",), Role.TEST),
        ("python3.11 -m pytest tests/a.py::test_b -q", "pytest", ("tests/a.py",), Role.TEST),
        ("uv run --frozen mypy src", "mypy", ("src",), Role.LINT),
        ("timeout 60 go test ./...", "go test", ("...",), Role.TEST),
        ("sudo docker compose up -d", "docker compose up", (), Role.RUN),
        ("pnpm --filter @acme/ui build", "npm build", (), Role.BUILD),
        ("pnpm turbo build --filter @acme/ui", "npm build", (), Role.BUILD),
        ("yarn run lint", "npm lint", (), Role.LINT),
        ("npm i", "npm install", (), Role.INSTALL),
        ("git commit -m 'fix: a && b'", "git commit", (), Role.CHANGE),
        ("git -C sub status", "git status", (), Role.PROBE),
        ("./run.sh fast", "./run.sh", ("fast",), Role.RUN),
        ("./mvnw -q test", "mvn test", (), Role.TEST),
        ("sed -n 1,5p a.py", "sed", ("1,5p", "a.py"), Role.PROBE),
        ("sed -i s/a/b/ a.py", "sed", ("s/a/b", "a.py"), Role.CHANGE),
        ("cargo --version", "cargo", (), Role.PROBE),
        ("psql -h db shop", "psql", ("db", "shop"), Role.RUN),
        ("psql -h", "psql", (), Role.PROBE),
        ("mysql -h --verbose", "mysql", (), Role.PROBE),
        ("cargo -h build", "cargo build", (), Role.PROBE),
    ],
)
def test_what_a_line_is(line: str, name: str, operands: tuple[str, ...], role: Role) -> None:
    main = parse(line).main
    assert main is not None
    assert (main.name, main.operands, main.role) == (name, operands, role)


def test_how_a_line_is_shown() -> None:
    assert parse("cd /r/app && export A=1 && make test 2>&1 | tail -20").shown == "make test"
    assert parse("cd /r/app && make test").folder == "/r/app"
    assert parse("git commit -m \"$(cat <<'EOF'\nlong body\nEOF\n)\"").shown.startswith("git commit -m")
    assert len(parse("echo " + "x" * 5_000).shown) <= 160


@pytest.mark.parametrize(
    "line",
    ["", "   ", "'", '"a', "&&", "| |", "((", "\x00", "<<EOF", "a=b", "timeout", "npm", "gh", "python -m"],
)
def test_any_line_can_be_read(line: str) -> None:
    parse(line)


@pytest.mark.parametrize(
    ("passed", "failed", "mentioned", "expected"),
    [
        ("pytest", "pytest tests/a.py", "", True),
        ("pytest tests", "pytest tests/a.py", "", True),
        ("pytest tests/a.py", "pytest", "FAILED tests/a.py::test_b", True),
        ("pytest tests/a.py", "pytest", "FAILED tests/c.py", False),
        ("pytest tests/b.py", "pytest tests/a.py", "", False),
        ("npm test", "npm run test", "", True),
        ("npm run build", "npm test", "", False),
        ("node b.js", "node a.js", "", False),
    ],
)
def test_when_a_pass_covers_a_failure(passed: str, failed: str, mentioned: str, expected: bool) -> None:
    one, two = parse(passed).main, parse(failed).main
    assert one is not None
    assert two is not None
    assert covers(one, two, mentioned) is expected

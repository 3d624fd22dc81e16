"""How the clients come into the cache, with a stand-in for npm."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from backstory.agents import AGENTS

from . import clients, conftest
from .drivers import DRIVERS

NPM = """#!/bin/sh
echo once more >> "$NPM_COUNT"
sleep 0.3
for package; do :; done   # the last argument, like @scope/name@1.2.3
folder="$3/node_modules/${package%@*}"
mkdir -p "$folder/bin" "$folder/dist/bundle"
for program in claude dist/bundle/cli.js; do
    printf '#!/bin/sh\\necho %s by $WHO\\n' "${package##*@}" > "$folder/$program"
done
printf '#!/bin/sh\\n[ "$1" = --version ] && echo %s && exit\\nWHO="our Node" exec /bin/sh "$@"\\n' \\
    "${package##*@}" > "$folder/bin/node"
chmod +x "$folder/claude" "$folder/bin/node"
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache on a machine that has no npm."""
    monkeypatch.setattr(clients, "CACHE", tmp_path / "clients")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(conftest, "_loud", [])
    monkeypatch.setattr(conftest, "found", conftest.found.__wrapped__)
    monkeypatch.delenv("CI", raising=False)
    return tmp_path / "clients"


@pytest.fixture
def npm(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in that counts how often it is asked."""
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "npm"
    script.write_text(NPM)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("NPM_COUNT", str(tmp_path / "count"))
    return tmp_path / "count"


def test_two_workers_at_once_download_once(npm: Path, cache: Path) -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        first, second = pool.map(clients.client, ["claude-code"] * 2, chunksize=1)
    assert first == second
    assert first.exists()
    assert npm.read_text().count("once more") == 1
    assert [left.name for left in cache.iterdir() if left.name.startswith(".new")] == []


def test_what_a_killed_download_left_is_swept_up(npm: Path, cache: Path) -> None:
    version = clients.CLIENTS["claude-code"].version
    half = cache / f".new-claude-code-{version}-killed"
    half.mkdir(parents=True)
    (cache / f"claude-code-{version}").mkdir()
    assert clients.client("claude-code").exists()
    assert not half.exists()


def test_a_client_that_is_a_script_is_run_by_a_node_from_npm(npm: Path, cache: Path) -> None:
    program = clients.client("pi")
    assert clients.version(program) == f"{clients.CLIENTS['pi'].version} by our Node"
    assert npm.read_text().count("once more") == 2, "Node and the client, nothing else"


def test_all_are_fetched_at_once_and_those_that_cannot_be_had_are_named(
    npm: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The stand-in makes only two of them."""
    missing = clients.fetch()

    told = capsys.readouterr().out.splitlines()
    assert len(told) == len(clients.CLIENTS)
    assert missing == len([line for line in told if "!!! no " in line])
    assert {name for name in clients.CLIENTS if any(f"{name} {clients.CLIENTS[name].version}" in line for line in told)} == {
        "claude-code", "pi",
    }  # fmt: skip
    assert npm.read_text().count("once more") == len(clients.CLIENTS) + 1, "and Node"


@pytest.mark.parametrize("name", clients.CLIENTS)
def test_without_npm_the_tests_are_skipped_and_the_summary_says_so(cache: Path, name: str) -> None:
    with pytest.raises(pytest.skip.Exception, match="npm is missing"):
        conftest.program(name)
    assert f"every test with the real {name} client" in conftest._loud[0]


@pytest.mark.parametrize("name", clients.CLIENTS)
def test_without_npm_ci_fails_and_names_the_client(
    cache: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=f"(?s)real {name} client.*npm is missing"):
        conftest.program(name)


def test_a_client_that_does_not_run_is_named_with_what_to_do(
    npm: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = clients.client("claude-code")
    program.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(clients.Unavailable, match=r"claude does not run .*; delete .*claude-code-"):
        clients.client("claude-code")


@pytest.mark.parametrize("name", DRIVERS)
def test_a_hand_over_takes_a_session_up_with_the_words_that_the_real_client_is_driven_with(name: str) -> None:
    driver = DRIVERS[name](Path(), Path(), Any, Any, Any)  # type: ignore[arg-type]
    _, *printed = AGENTS[name].resume.format(session="ID").split()
    words = driver.words("Go on", "ID")
    assert printed in [words[at : at + len(printed)] for at in range(len(words))]


@pytest.mark.parametrize("name", clients.CLIENTS)
def test_the_newest_version_that_is_said_to_be_tested_is_the_pinned_one(name: str) -> None:
    assert AGENTS[name].tested == clients.CLIENTS[name].version


@pytest.mark.clients
@pytest.mark.parametrize("name", clients.CLIENTS)
def test_the_pinned_client_is_the_one_that_runs(name: str) -> None:
    assert clients.CLIENTS[name].version in clients.version(conftest.program(name))

#!/usr/bin/env python3
"""Sets up what developing needs and runs the tests on every Python that is here.

    dev.py run ARGS…      run a command of the main environment, e.g. `dev.py run pytest -k brief`
    dev.py user ARGS…     the same in an environment without the developers' tools, as a user has it
    dev.py fast ARGS…     run the fast tests on the first of Python 3.11, 3.12, 3.13 that is found, and on
                          the others those of what may differ there; BACKSTORY_ALL=1 runs all on each

Environments lie in .venv/ and are made again when pyproject.toml changes. This file keeps to what old
Pythons know, because it has to look for the right one first.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13")  # those that the fast tests run on
NEWER = ("3.14", "3.15")  # good enough to run it where none of those is
# Where several Pythons usually lie side by side, apart from PATH: folder, and pattern below it.
PLACES = (
    (os.environ.get("PYENV_ROOT", "~/.pyenv"), "versions/{v}*/bin/python{v}"),
    ("~/.local/share/uv/python", "cpython-{v}*/bin/python{v}"),
    ("/opt/python", "{v}*/bin/python{v}"),
    ("/usr/local/bin", "python{v}"),
    ("/usr/bin", "python{v}"),
)
# What may differ between Pythons: patterns, the hook's bytecode, SQLite, JSON, sockets, threads, files.
# On the newest that is here all of these run, on those between every fourth test. The rest is the product's
# own logic: three whole runs would take longer than everything else together.
DIFFERS = (
    *("capture", "distil", "git", "hook", "importers", "mcp", "search", "store", "web", "wire"),
    *("cli/test_bad_input.py", "cli/test_main.py", "cli/test_output.py", "cli/test_terminal.py"),
    *("security/test_parsers.py", "upkeep/test_backups.py", "upkeep/test_repair.py"),
    *("test_atomic.py", "test_clock.py", "test_file_reader.py", "test_jsonc.py", "test_settings.py"),
    *("test_utf8.py", "test_worker.py"),
)
SLOW = "clients or faults or browser"


def say(text):
    print(text, file=sys.stderr, flush=True)


def answers(python, version):
    """Whether `python` runs, is that version and can make environments (a shim may exist and not run)."""
    code = "import sys, ensurepip, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    return done.stdout.decode().strip() == version


def find(version):
    """A Python of this version, or None."""
    found = [sys.executable, "python" + version, "python3"]
    for folder, pattern in PLACES:
        found += sorted(map(str, Path(folder).expanduser().glob(pattern.format(v=version))), reverse=True)
    return next((python for python in found if answers(python, version)), None)


def environment(version, python, dev=True):
    """The folder of programs of an environment for this version, ready to use."""
    folder = ROOT / ".venv" / (version if dev else "user")
    stamp = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + python.encode()).hexdigest()
    ready = folder / "ready"
    if not ready.exists() or ready.read_text() != stamp:
        say(f"setting up {folder.relative_to(ROOT)} with {python} …")
        subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [
            str(folder / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]
        subprocess.run([*pip, "--upgrade", "pip>=25.1"], check=True)
        group = ["--group", f"{ROOT / 'pyproject.toml'}:dev"] if dev else []
        subprocess.run([*pip, "--editable", str(ROOT), *group], check=True)
        ready.write_text(stamp)
    return folder / "bin"


def main_version():
    """The version and path of the Python that everything but the fast tests runs on."""
    for version in VERSIONS + NEWER:
        python = find(version)
        if python:
            return version, python
    say(
        "No usable Python 3.11 or newer here. Install one with its venv module, for example\n"
        "    apt-get install python3 python3-venv     (Debian, Ubuntu)\n"
        "    brew install python@3.13                 (macOS)"
    )
    return sys.exit(3)


def call(command):
    """Run it with bytecode written down: pytest would compile all test modules anew for every group."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.call(command, cwd=str(ROOT), env=environ)


def run(arguments, dev):
    programs = environment(*main_version(), dev=dev)
    return call([str(programs / arguments[0]), *arguments[1:]])


def fast(arguments):
    pythons = {version: find(version) for version in VERSIONS}
    missing = [version for version, python in pythons.items() if python is None]
    found = [version for version in VERSIONS if pythons[version]]
    failed = []
    for number, version in enumerate(found):
        pytest = environment(version, pythons[version]) / "pytest"
        part = []
        if number and not os.environ.get("BACKSTORY_ALL"):
            part = [f"tests/{name}" for name in DIFFERS]
            part += ["--share", "1/4"] if version != found[-1] else []
        say(f"\n=== fast tests on Python {version}" + (", those of what may differ there" if part else ""))
        command = [str(pytest), "-q", "-n", "2", "-m", f"not ({SLOW})", *part, *arguments]
        if call(command):
            failed.append(version)
    if missing:
        say(f"\n!!! not tested, because not found here: Python {', '.join(missing)}")
    if failed:
        say(f"\n!!! the fast tests failed on Python {', '.join(failed)}")
    return 1 if failed or len(missing) == len(VERSIONS) else 0


def main(arguments):
    actions = {"run": lambda rest: run(rest, True), "user": lambda rest: run(rest, False), "fast": fast}
    if not arguments or arguments[0] not in actions:
        say(__doc__)
        return 1
    return actions[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Sets up what developing needs and runs the tests on every Python that is here.

    dev.py run ARGS…      run a command of the main environment, e.g. `dev.py run pytest -k brief`
    dev.py user ARGS…     the same in an environment without the developers' tools, as a user has it
    dev.py fast ARGS…     run the fast tests on each of Python 3.11, 3.12 and 3.13 that is found

Environments lie in .venv/ and are made again when pyproject.toml changes. This file runs on any Python 3,
because it has to look for the right one first.
"""

import glob
import hashlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VERSIONS = ("3.11", "3.12", "3.13")
# Where several Pythons usually lie side by side, apart from PATH.
PLACES = (
    "{PYENV_ROOT}/versions/{v}*/bin/python{v}",
    "{HOME}/.pyenv/versions/{v}*/bin/python{v}",
    "{HOME}/.local/share/uv/python/cpython-{v}*/bin/python{v}",
    "/opt/python/{v}*/bin/python{v}",
    "/usr/local/bin/python{v}",
    "/usr/bin/python{v}",
)
SLOW = "clients or faults"


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
    values = {
        "v": version,
        "PYENV_ROOT": os.environ.get("PYENV_ROOT", "/nowhere"),
        "HOME": os.path.expanduser("~"),
    }
    found = [sys.executable, "python" + version, "python3"]
    for place in PLACES:
        found += sorted(glob.glob(place.format(**values)), reverse=True)
    return next((python for python in found if answers(python, version)), None)


def environment(version, python, dev=True):
    """The folder of an environment for this version that is ready to use."""
    folder = os.path.join(ROOT, ".venv", version if dev else "user")
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        stamp = hashlib.sha256(file.read() + python.encode()).hexdigest()
    stamp_file = os.path.join(folder, "ready")
    if os.path.exists(stamp_file) and open(stamp_file).read() == stamp:
        return folder
    say("setting up %s with %s …" % (os.path.relpath(folder, ROOT), python))
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)
    pip = [
        os.path.join(folder, "bin", "python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    subprocess.run([*pip, "--upgrade", "pip>=25.1"], check=True)
    subprocess.run(
        [*pip, "--editable", ROOT, *(["--group", ROOT + "/pyproject.toml:dev"] if dev else [])], check=True
    )
    with open(stamp_file, "w") as file:
        file.write(stamp)
    return folder


def main_version():
    """The version and path of the Python that everything but the fast tests runs on."""
    for version in VERSIONS:
        python = find(version)
        if python:
            return version, python
    say(
        "No usable Python 3.11, 3.12 or 3.13 here. Install one with its venv module, for example\n"
        "    apt-get install python3 python3-venv     (Debian, Ubuntu)\n"
        "    brew install python@3.13                 (macOS)"
    )
    sys.exit(3)


def run(arguments, dev):
    version, python = main_version()
    folder = environment(version, python, dev)
    command = os.path.join(folder, "bin", arguments[0])
    os.chdir(ROOT)
    return subprocess.call([command, *arguments[1:]])


def fast(arguments):
    pythons = {version: find(version) for version in VERSIONS}
    missing = [version for version, python in pythons.items() if python is None]
    failed = []
    for version, python in pythons.items():
        if python is None:
            continue
        pytest = os.path.join(environment(version, python), "bin", "pytest")
        say("\n=== fast tests on Python %s" % version)
        if subprocess.call([pytest, "-q", "-n", "2", "-m", "not (%s)" % SLOW, *arguments], cwd=ROOT):
            failed.append(version)
    if missing:
        say("\n!!! not tested, because not found here: Python %s" % ", ".join(missing))
    if failed:
        say("\n!!! the fast tests failed on Python %s" % ", ".join(failed))
    return 1 if failed or len(missing) == len(VERSIONS) else 0


def main(arguments):
    actions = {"run": lambda rest: run(rest, True), "user": lambda rest: run(rest, False), "fast": fast}
    if not arguments or arguments[0] not in actions:
        say(__doc__)
        return 1
    return actions[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A git remote in one spelling, so that every clone of a repository is the same project.

`git@github.com:Org/Repo.git`, `https://user:token@github.com/org/repo/` and `ssh://git@github.com:22/org/repo`
are all `github.com/org/repo`. Credentials never survive. A remote on this machine is its real path.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CASELESS = ("github.com", "gitlab.com", "bitbucket.org")  # where Org/Repo and org/repo are one
_ALIASES = {
    "www.github.com": "github.com",
    "ssh.github.com": "github.com",  # ssh over port 443
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
_PORTS = {"ssh": "22", "git+ssh": "22", "ssh+git": "22", "https": "443", "http": "80", "git": "9418"}


def last_part(identity: str) -> str:
    """What people call it: the last part of its path, without `.git`."""
    path = identity.replace("\\", "/").rstrip("/").removesuffix("/.git")
    name = path.rpartition("/")[2] or path or "/"
    return name[:-4] if name.endswith(".git") and len(name) > 4 else name


def normalise_url(url: str, root: str = "") -> str:
    """The one spelling of a remote; relative paths start at `root`. Empty if nothing can be made of it."""
    url = url.strip()
    if not url or any(ord(char) < 32 or ord(char) == 127 for char in url):
        return ""
    scheme, separator, rest = url.partition("://")
    if separator:
        scheme = scheme.lower()
        if scheme == "file":
            return _local(rest.partition("/")[1] + rest.partition("/")[2], root)
        authority, _, path = rest.partition("/")
        host, port = _host(authority)
    else:
        scheme = "ssh"
        authority, colon, path = url.partition(":")
        if not colon or "/" in authority or "\\" in authority or len(authority) == 1:
            return _local(url, root)  # a path; one letter before the colon is a Windows drive
        host, port = _host(authority)[0], ""
    path = "/".join(part for part in path.partition("?")[0].partition("#")[0].split("/") if part)
    path = path[:-4] if path.endswith(".git") else path
    path = path.rstrip("/")
    if not host or not path:
        return ""
    if host in _ALIASES:
        host, port = _ALIASES[host], ""
    if port and port != _PORTS.get(scheme):
        host = f"{host}:{port}"
    return f"{host}/{path.lower() if host in _CASELESS else path}"


def _host(authority: str) -> tuple[str, str]:
    """Host and port, without whoever logs in there."""
    authority = authority.rpartition("@")[2].lower()
    if authority.startswith("["):  # an IPv6 address
        host, _, port = authority[1:].partition("]")
        return f"[{host}]", port.lstrip(":")
    host, _, port = authority.partition(":")
    return host.rstrip("."), port


def _local(path: str, root: str) -> str:
    """The real path of a repository on this machine, as its own common folder would be named."""
    path = os.path.join(root, path)
    if leaves_machine(path, root):
        return path
    for candidate in (os.path.join(path, ".git"), path, path + ".git"):
        if os.path.isdir(candidate):
            path = candidate
            break
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return ""


def leaves_machine(
    path: str, folder: str, drive_of: "Callable[[str], tuple[str, str]]" = os.path.splitdrive
) -> bool:
    """Whether a path in git's files names another host (`\\\\host\\share`), which Windows would log in to."""
    drive = drive_of(path)[0].replace("/", "\\").lower()
    return drive.startswith("\\\\") and drive != drive_of(folder)[0].replace("/", "\\").lower()


def remote_urls(config: str) -> dict[str, str]:
    """Each remote's first URL in a `.git/config`; includes are not followed."""
    return {name: url for name, url in config_values(config, "remote", "url").items() if name}


def config_values(config: str, wanted: str, key: str) -> dict[str, str]:
    """The first value of a key in each section of this sort, by the section's name ("" if it has none)."""
    found: dict[str, str] = {}
    sort = name = ""
    for raw in config.split("\n"):
        line = raw.strip()
        if line.startswith("["):
            sort, name, line = _section(line)
        word, equals, value = line.partition("=")
        if sort == wanted and equals and word.strip().lower() == key and name not in found:
            found[name] = _value(value)
    return found


def _section(line: str) -> tuple[str, str, str]:
    """The sort and the name of a section by its header, and what follows the header on its line."""
    body, name, quoted, rest = "", "", False, iter(line[1:])
    for char in rest:
        if quoted and char == "\\":
            name += next(rest, "")
        elif char == '"':
            quoted = not quoted
        elif quoted:
            name += char
        elif char == "]":
            break
        else:
            body += char
    return body.strip().lower(), name, "".join(rest).strip()


def _value(text: str) -> str:
    """A value as git reads it: quotes removed, escapes undone, comments cut."""
    out, quoted, chars = "", False, iter(text.strip())
    for char in chars:
        if char == "\\":
            out += {"n": "\n", "t": "\t", "b": "\b"}.get(after := next(chars, ""), after)
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            out += char
    return out.strip()

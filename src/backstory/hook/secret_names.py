"""Which identifiers name a secret: password, api_key, clientSecret, --token, and not max_tokens or keyboard.

Nothing is imported here but the table: the hook loads this file while an agent waits.
"""

from backstory.hook.argument_shapes import NAMES
from backstory.hook.patterns import STEMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

IDENT = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
LABELS = ("name", "Name", "key", "Key")  # of a name that stands next to its value
LABELS_QUOTED = ('"name"', '"key"')
LONGEST_NAME = 40  # of a flag in a list, and of a name that stands next to its value


def listed(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


NAME_WORDS = listed(
    """
    password passwd passphrase pass pwd secret token credentials credential creds cred authorization auth key
    """
)
NAME_GOES_ON = {"pass": ("word", "wd", "phrase"), "cred": ("ential", "s"), "auth": ("orization",)}
HUMAN_WORDS = listed("password passwd passphrase pass pwd")
NAMES_ABROAD = (
    *("mot de passe", "mot_de_passe", "motdepasse"),
    *listed("passwort passord senha contraseña contrasena"),
)
# commands that give a value to a name after it
SETTERS = ("env ", "arg ", "set -", "setenv ", "setx ", "git config ", "rclone ", "poetry config ")
SETTING = (" set", " add", " put", ":set", " --secret", " --global")  # `npm config set`, `user-secrets set`
NAME_TAILS = listed("key base string value prod dev live staging old new")
KEY_OF = listed(
    """
    api access secret private client encryption signing master account service auth shared storage ssh
    deploy webhook app hmac license admin fastly server rest integration write global ingest preshared
    subscription application genie jwt consumer crypto cipher csrf totp otp jwe jws recaptcha captcha
    """
)
# keys that are no secrets; any other NAME_KEY in capitals is judged by what it is given
NO_KEY_OF = listed(
    """
    public primary foreign cache sort partition map object index unique bucket row lock group ref query
    route idempotency storage hot short registry publishable pub site hash range id dedupe content build
    commit trace digest checksum version artifact asset etag file image blob layer
    """
)
# a pass of a compiler or a test is none of these
PASS_OF = listed(
    """
    db database sql mysql mariadb postgres postgresql pg mongo redis rabbit rabbitmq mq smtp mail email imap
    ftp sftp ssh ldap http proxy vnc wifi wpa user login auth admin root sudo keystore truststore vault
    registry docker app api service basic become ansible default guest
    """
)
# tokens of tokenizers, parsers and pagers
TOKEN_OF = listed(
    """
    next page continuation cancel cancellation pad eos bos unk mask sep cls start end stop special max
    min num sync new_line last first current
    """
)


def name_before(text: str, at: int) -> str:
    """The part of an identifier that stands before a position."""
    run = text[max(0, at - 48) : at]
    head = run.rstrip(IDENT)
    run = run[len(head) :]
    if head.endswith("\\"):  # \n or \u00e9 before a name, in text that is still JSON
        run = run[5:] if run.startswith("u") else run[1:]
    return run.lower()


def names_secret(before: str, word: str) -> str:
    """Which kind of secret an identifier names, or "" for none.

    "plain" is a password, be it a mere word; "human" may be one; "machine" is a key or a token; "keyed" is a
    key of something, a secret only if its name is in capitals and its value was drawn by a machine; "drawn"
    is the whole key of an object whose value is a secret if a machine has drawn it.
    """
    for known in NAME_WORDS:
        if not word.startswith(known):
            continue
        tail = word[len(known) :].lstrip("_-")
        if tail and tail not in NAME_TAILS and not (tail.isdigit() and len(tail) <= 3):
            continue
        owner = before.rstrip("_-")
        if known == "key" and not owner.endswith(KEY_OF):
            if word == known and before.endswith("_") and owner.rpartition("_")[2] not in NO_KEY_OF:
                return "keyed"
            continue
        if known == "token" and owner.replace("-", "_").rpartition("_")[2] in TOKEN_OF:
            continue
        if known == "pass" and (not owner.endswith(PASS_OF) or word != known):
            continue
        if known == "auth" and before and before[-1] not in "_-":
            continue
        if known == "pwd" and owner in ("", "old"):
            return "human"  # or a working directory
        return "plain" if known in HUMAN_WORDS else "machine"
    return ""


def key_names_secret(low: str) -> str:
    """The same for a whole key of a JSON object, in lowercase."""
    if low.endswith(NAMES_ABROAD):
        return "plain"
    for stem in STEMS:
        at = low.rfind(stem)
        if at >= 0:
            kind = names_secret(name_before(low, at), low[at:])
            if kind:
                return kind
    name = next((name for name in NAMES if low.endswith(name)), "")
    return "drawn" if name and low[: -len(name)][-1:] in ("", "_", "-", ".", " ") else ""


def assigns_secret(low: str, stem: str) -> bool:
    """Whether some secret's name with this stem is followed by something that could give it a value.

    Exact enough to skip `input_tokens`, `author` and `keyboard`; never misses what the row `secret` matches,
    nor what a list or an object of raw JSON says about a value.
    """
    goes_on = NAME_GOES_ON.get(stem, ()) + NAME_TAILS
    at = low.find(stem)
    while at >= 0:
        place, at = at, low.find(stem, at + 1)
        rest = low[place + len(stem) : place + len(stem) + 48]
        if rest[:1].isalpha() and not rest.startswith(goes_on):
            continue
        after = rest.lstrip(IDENT)
        gap = after.lstrip(" \t\"'`]\\")
        if (
            gap
            and (
                gap[0] in ":=>!|?+"
                or (gap[0] == "," and gap[1:].lstrip(" \t\\")[:1] in ("'", '"'))
                or gap.startswith("is")
                or "\\" in after[: len(after) - len(gap)]
                or (
                    after.lstrip("\\\"'")[:1] in (" ", "\t")
                    and (
                        after[1:2] in (" ", "\t")
                        or name_before(low, place).startswith("-")
                        or given_by_command(low, place)
                    )
                )
            )
        ) or (after[:1] == '"' and _tells(low, place, after)):
            word = stem + rest[: len(rest) - len(after)].rstrip("_-")
            if names_secret(name_before(low, place), word):
                return True
    return False


def given_by_command(text: str, place: int) -> bool:
    """Whether a command gives a value to the name that stands here: `ENV DB_PASSWORD …`."""
    line = text[max(0, place - 96) : place].lower().rpartition("\n")[2].rpartition("\\n")[2]
    command, blank, _ = line.lstrip(" +>$#").rpartition(" ")
    return line.lstrip(" +>$#").startswith(SETTERS) or bool(blank and command.endswith(SETTING))


def _tells(low: str, place: int, after: str) -> bool:
    """Whether a name in raw JSON tells about another string: a flag in a list, or the name of a "value"."""
    before = name_before(low, place)
    if before.startswith("-") and after[1:].lstrip()[:1] == ",":
        return True
    start = place - len(before)
    label, colon, _ = low[max(0, start - 24) : start].rpartition(":")
    return bool(colon) and label.rstrip().endswith(LABELS_QUOTED) and '"value"' in low


def tells_of_next(text: str) -> bool:
    """Whether an item of a list could be a flag whose value is the next item."""
    return text[:1] == "-" and len(text) <= LONGEST_NAME and not text.strip(IDENT)


def names_beside(item: "Mapping[Any, object]") -> list[str]:
    """The name in `{"name": "API_KEY", "value": "…"}`."""
    names = [name for name in map(item.get, LABELS) if isinstance(name, str)]
    return [name for name in names if len(name) <= LONGEST_NAME and not name.strip(IDENT)]

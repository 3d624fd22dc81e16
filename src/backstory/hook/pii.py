"""What makes a match of patterns.py personal data: e-mail and network addresses, numbers, phones.

A judge sees a match and answers where the span to replace ends, or 0 to leave it alone: see validators.py.
"""

from backstory.hook.placeholders import glued
from backstory.hook.secret_names import IDENT, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

GIT_PEOPLE = listed("author author: commit: committer committer: tagger tagger:")
SAFE_DOMAINS = listed("example test invalid localhost local")
LONG_TLDS = listed(
    """
    academy agency cloud codes company consulting design digital email energy engineering finance global
    group health internal media money museum network online photography science services shop software
    solutions space store studio systems today tools travel ventures works world amsterdam berlin london
    paris
    """
)
FILE_TYPES = listed(
    """
    png jpg jpeg gif svg webp json html css tsx jsx mjs cjs lock tgz whl txt yml yaml toml mount timer
    scope slice
    """
)
COUNTRIES = listed(
    """
    20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81
    82 84 86 90 91 92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232
    233 234 235 236 237 238 239 240 241 242 243 244 245 246 248 249 250 251 252 253 254 255 256 257 258 260
    261 262 263 264 265 266 267 268 269 290 291 297 298 299 350 351 352 353 354 355 356 357 358 359 370 371
    372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 500 501 502 503 504 505 506 507
    508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 678 679 680 681 682 683 685
    686 687 688 689 690 691 692 800 850 852 853 855 856 870 880 886 960 961 962 963 964 965 966 967 968 970
    971 972 973 974 975 976 977 992 993 994 995 996 998
    """
)


def email(match: "re.Match[str]") -> int:
    """An e-mail address; git authors, remotes, scp targets, package versions and examples stay."""
    text, start, end = match.string, match.start(), match.end()
    if start and text[start - 1] in IDENT + ".%+":
        return 0  # the pattern stops at 64 characters; no address is longer
    local, _, domain = match[0].lower().rpartition("@")
    labels = domain.split(".")
    if len(labels[-1]) > 4 and labels[-1] not in LONG_TLDS:
        return 0
    if labels[-1] in FILE_TYPES or labels[-1] in SAFE_DOMAINS or "example" in labels[:-1]:
        return 0
    if labels[0].isdigit() and labels[1].isdigit():
        return 0  # package@1.2.beta
    if local == "git" or "noreply" in domain or "noreply" in local.replace("-", "").replace("_", ""):
        return 0
    if text[end : end + 1] in ("(", "["):
        return 0  # matrix @ module.call()
    if text[end : end + 1] == ":":
        target = text[end + 1 : end + 81].split(maxsplit=1)
        if target and not text[end + 1].isspace() and ("/" in target[0] or "~" in target[0]):
            return 0  # user@host:path
    line = text[max(0, start - 160) : start].rpartition("\n")[2].rpartition("\\n")[2].lower()
    words = line.split()
    if line.endswith("<") and (words[0] in GIT_PEOPLE or "-by:" in line or "--author" in line):
        return 0
    if any(word in ("ssh", "scp", "sftp", "rsync", "ssh-copy-id", "mosh") for word in words[-6:]):
        return 0
    authority = words[-1] if words and not line[-1:].isspace() else ""
    if "://" in authority and "/" not in authority.rpartition("://")[2]:
        return 0  # https://user@host: the row url-password looks after it
    return end


VERSION_WORDS = listed(
    """
    version versions ver v release released package pkg build tag revision rev firmware driver upgrade
    upgraded section chapter schema sdk bump chrome
    """
)
ADDRESS_WORDS = listed(
    """
    host hostname ip ipv4 addr address server ping dns nameserver resolver peer client remote connect
    connected connecting curl wget ssh telnet nc traceroute dig nslookup listen bind gateway proxy
    upstream origin src dst endpoint forwarded-for real-ip remote_addr ip_address ipaddress clientip
    client_ip host_ip
    """
)
RESOLVERS = listed("8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 4.2.2.2 149.112.112.112")


def public_ip(match: "re.Match[str]") -> int:
    """A public IPv4 address; private, reserved and documentation ranges and versions stay."""
    text, start, end = match.string, match.start(), match.end()
    parts = match[0].split(".")
    if glued(text, start) or text[start - 1 : start] in (".", "_"):
        return 0
    if any(part[0] == "0" and part != "0" for part in parts):
        return 0
    a, b, c, d = (int(part) for part in parts)
    if max(a, b, c, d) > 255 or a in (0, 10, 127) or a >= 224:
        return 0
    if (a, b) in ((192, 168), (169, 254), (198, 18), (198, 19)) or (a == 172 and 16 <= b < 32):
        return 0
    if (a == 100 and 64 <= b < 128) or (a, b, c) in ((192, 0, 0), (192, 0, 2), (198, 51, 100), (203, 0, 113)):
        return 0
    before = text[max(0, start - 40) : start].rpartition("\n")[2].lower()
    bare = before.rstrip(" \t\"'`:=([{<>~^@!")
    signs = before[len(bare) :]
    word = bare[len(bare.rstrip(IDENT)) :]
    if word.endswith("version") or word in VERSION_WORDS:
        return 0
    if any(sign in signs for sign in ("==", ">=", "<=", "~", "^")):
        return 0
    if before.endswith("/") and before[-2:-1].isalnum():
        return 0  # Chrome/120.0.0.0
    # 1.2.3.4, 4.18.0.240: could be a version, so the context must say that it is an address.
    versionlike = a < 30 and sum(part <= 9 for part in (a, b, c, d)) >= 2 and match[0] not in RESOLVERS
    if versionlike and (before.endswith("-") or text[end : end + 1] == "-"):
        return 0
    if versionlike and not (
        before.endswith("//")
        or word in ADDRESS_WORDS
        or word.endswith(ADDRESS_WORDS[:10])
        or (text[end : end + 1] in (":", "/") and text[end + 1 : end + 2].isdigit())
        or text.strip() == match[0]
    ):
        return 0
    return end


RESERVED_V6 = ("2001:db8:", "2001:0db8:", "3fff:")  # documentation


def public_ipv6(match: "re.Match[str]") -> int:
    """A global IPv6 address, whole or with one gap; times, slices and documentation addresses stay."""
    text, start, low = match.string, match.start(), match[0].lower()
    if glued(text, start) or text[start - 1 : start] in (":", ".", "_", "-") or low.startswith(RESERVED_V6):
        return 0
    gaps, groups = low.count("::"), len(low.replace("::", ":").strip(":").split(":"))
    if gaps > 1 or (groups > 7 if gaps else groups != 8):
        return 0
    # items[2400::2] is a slice
    return 0 if groups == 2 and low.replace(":", "").isdigit() else match.end()


def clear(text: str, start: int) -> bool:
    """Whether digits start here, and are no part of an id, a hash, a date or a longer number."""
    return not glued(text, start) and text[start - 1 : start] not in ("-", "_", ".", "/", "+", "#")


def ssn(match: "re.Match[str]") -> int:
    """A US social security number that could have been issued."""
    text, start = match.string, match.start()
    area, group, serial = match[0][:3], match[0][4:6], match[0][7:]
    if not clear(text, start) or area in ("000", "666") or area[0] == "9":
        return 0
    if group == "00" or serial == "0000":
        return 0
    before = text[max(0, start - 40) : start].lower()
    if " " in match[0] and "ssn" not in before and "social" not in before:
        return 0
    return match.end()


def card(match: "re.Match[str]") -> int:
    """A payment card number: a known issuer, the right length, a valid check digit."""
    text, start = match.string, match.start()
    number = match[0].replace(" ", "").replace("-", "")
    size, two, four = len(number), int(number[:2]), int(number[:4])
    known = (
        (number[0] == "4" and size in (13, 16, 19))
        or ((51 <= two <= 55 or 2221 <= four <= 2720) and size == 16)
        or (two in (34, 37) and size == 15)
        or ((two in (62, 65, 35) or four == 6011 or 6440 <= four <= 6499) and 16 <= size <= 19)
        or ((3000 <= four <= 3059 or two in (36, 38, 39)) and size == 14)
    )
    if not known or not clear(text, start) or len(set(number)) == 1:
        return 0
    if len(number) == len(match[0]):
        name = text[max(0, start - 24) : start].rstrip(" \t\"'`:=\\").lower()
        if name.endswith("id") and not name.endswith("paid"):
            return 0
    total = 0
    for place, digit in enumerate(reversed(number)):
        weighed = int(digit) * (1 + place % 2)
        total += weighed - 9 if weighed > 9 else weighed
    return 0 if total % 10 else match.end()


def phone(match: "re.Match[str]") -> int:
    """A US phone number; with spaces only where the text says that it is one."""
    text, start = match.string, match.start()
    if not clear(text, start):
        return 0
    if match[0].count(" ") > 1 or (match[0].count(" ") == 1 and "(" not in match[0] and match[0][1] != " "):
        before = text[max(0, start - 24) : start].lower()
        if not any(word in before for word in ("phone", "tel", "call", "mobile", "cell", "fax")):
            return 0
    return match.end()


def _dialled(digits: str) -> bool:
    """Whether digits without a break start with a country's code: +4294967296 is a number."""
    if digits[0] in "17":
        return len(digits) == 11 and digits[1] not in "01"
    return digits[:2] in COUNTRIES or digits[:3] in COUNTRIES


def world_phone(match: "re.Match[str]") -> int:
    """A phone number with its country code; signed numbers, floats and diff counts stay."""
    text, start, number = match.string, match.start(), match[0]
    if glued(text, start) or text[start - 1 : start] in ("+", "-", ")", "_", "]"):
        return 0
    digits = sum(char.isdigit() for char in number)
    separators = "".join("0" if char.isdigit() else char for char in number[1:]).split("0")
    marks = [mark for mark in separators if mark]
    if any(mark not in (" ", "-", ".", " (", "(", ")", ") ", ")-") for mark in marks) or len(marks) > 6:
        return 0
    if digits < (9 if marks else 10) or "".join(marks).count(".") == 1:
        return 0
    return match.end() if marks or _dialled(number[1:]) else 0

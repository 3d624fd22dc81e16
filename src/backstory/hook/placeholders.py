"""What tells a secret from a placeholder, a template, a path or code that only stands where one would.

Loaded when a text holds something that may be a secret, like all that looks at it closely.
"""

from backstory.hook.secret_names import IDENT, listed

LONGEST = 256  # patterns read at most this much of a value, so hostile input stays linear; judges extend

PLACEHOLDERS = listed(
    """
    example placeholder changeme change-me change_me your xxxx dummy redacted insert replace sample
    foobar fixme notreal not-real not_real fake **** .... …
    """
)
COUNTING = listed("123456 1234567 12345678 123456789 1234567890 0123456789 654321")


def placeholder(value: str) -> bool:
    """Whether a value only stands for a secret: `ghp_your_token_here`, `sk-xxxxxxxx`, `changeme`."""
    low = value.lower()
    return len(set(low[-16:])) <= 3 or stands_in(low)


def stands_in(low: str) -> bool:
    """Whether a lowercase value says itself that it stands for another, however short it is."""
    return low in COUNTING or any(word in low for word in PLACEHOLDERS)


def template(value: str) -> bool:
    """Whether something else fills the value in: `${X}`, `$X`, `<key>`, `{{ x }}`, `%s`, `%X%`."""
    if value[0] in "$<{" or value.startswith(("%s", "%(", "%{")) or (value[0] == value[-1] == "%"):
        return True
    return "${" in value or "{{" in value or "$(" in value


def glued(text: str, at: int) -> bool:
    """Whether a match is the tail of a longer word; a literal `\\n` before it, as in nested JSON, is not."""
    if not at or not (text[at - 1].isascii() and text[at - 1].isalnum()):
        return False
    return not (text[at - 1] in "nrtbf" and text[at - 2 : at - 1] == "\\")


def extend(text: str, end: int, chars: str = IDENT) -> int:
    """The end of the run of characters that a bounded pattern may have cut."""
    while end < len(text) and text[end] in chars:
        end += 1
    return end


SIGNS = ",;()[]{}<>&|"  # may end a value without quotes
OPENERS = {")": "(", "]": "[", "}": "{"}


def bare_end(text: str, start: int, end: int) -> int:
    """Where a value without quotes ends: at a blank, or at a sign after which code or an address goes on."""
    value = text[start:end]
    if not any(sign in value for sign in SIGNS):
        return end
    for at in range(start, end):
        if text[at] in SIGNS and _ends_value(text, start, at):
            return at
    return end


def _ends_value(text: str, start: int, at: int) -> bool:
    sign, after, before = text[at], text[at + 1 : at + 2], text[start:at]
    if not after or not (after.isalnum() or after in "!@#$%^*+-_=~?./"):
        return True
    rest = text[at + 1 : at + 64]
    name = rest[: len(rest) - len(rest.lstrip(IDENT))]
    follows = rest[len(name) : len(name) + 1]
    if follows in ("=", ":") and name and not name[0].isdigit():
        return True  # the next parameter, field or assignment
    if sign == "(" and not _closed(text, at):
        return False
    if sign in "([{<":
        plain = before.replace(".", "").replace("_", "").replace("-", "")
        drawn = before.upper() != before != before.lower() and any(map(str.isdigit, before))
        return (plain.isalnum() and not drawn) or (sign == "<" and (after.isalpha() or after == "/"))
    line = text[max(0, start - 200) : start].rpartition("\n")[2]
    closed = {sign: OPENERS[sign]} if sign in OPENERS else OPENERS if sign == "," else {}
    if any(line.count(left) > line.count(right) for right, left in closed.items()):
        return True  # an argument, an item, a field
    if sign in ",;|":
        return name.isalpha() or not name
    return sign in OPENERS and OPENERS[sign] in before and before.count(OPENERS[sign]) <= before.count(sign)


def _closed(text: str, at: int) -> bool:
    """Whether a parenthesis is closed on its line, or opens what goes on in the next."""
    line = text[at : at + 400].partition("\n")[0].rstrip()
    return ")" in line or line.endswith((",", "(", "{", "[", "+", "\\")) or len(line) > 300


PASSPHRASE_WORD = 4  # letters of each of its two words or more


class Grain:
    """How a value is made up: what tells random strings and passwords from words and identifiers."""

    __slots__ = ("digits", "letters", "lower", "parts", "special", "upper")

    def __init__(self, value: str) -> None:
        self.digits = self.letters = self.lower = self.upper = self.special = 0
        # Each part is a run of letters and digits: (length, digits, capitals, changes of character class).
        self.parts: list[tuple[int, int, int, int]] = []
        length = digits = upper = turns = 0
        last = ""
        for char in value + " ":
            if not char.isalnum():
                if length:
                    self.parts.append((length, digits, upper, turns))
                length = digits = upper = turns = 0
                last = ""
                self.special += char in "!@#$%^&*?~"
                continue
            kind = "0" if "0" <= char <= "9" else "A" if char.isupper() else "a"
            # A capital that starts a word is no change: HttpServer is two words, hFz9Kq is not.
            turns += bool(last) and kind != last and not (last == "A" and kind == "a")
            length += 1
            digits += kind == "0"
            upper += kind == "A"
            last = kind
            self.digits += kind == "0"
            self.upper += kind == "A"
            self.lower += kind == "a"
        self.letters = self.upper + self.lower

    def random(self) -> bool:
        """Whether some part looks drawn by a machine."""
        return any(
            (size >= 8 and digits and turns >= 3)
            or (size >= 10 and size > digits >= 2)
            or (size >= 20 and not digits and 0.3 <= upper / size <= 0.7)
            for size, digits, upper, turns in self.parts
        )

    def scattered(self) -> bool:
        """Whether it is drawn by a machine although signs cut it into short parts: `aB3d/fG7hJ9k`."""
        turns = sum(part[3] for part in self.parts)
        mixed = self.digits >= 2 and self.upper >= 2 and self.lower >= 2 and turns >= 5
        return mixed or (self.special >= 3 and self.digits >= 3 and self.letters >= 5)

    def chosen(self, quoted: bool) -> bool:
        """Whether it looks like a password that a person chose."""
        if not self.letters:
            return self.digits >= 6 and (len(self.parts) == 1 or self.special > 0)
        return bool(
            (self.special and self.digits)
            or (quoted and self.special > 1)
            or (self.upper and self.lower and self.digits)
            or any(size >= 5 and size > digits > 0 for size, digits, _, _ in self.parts)
        )


def looks_secret(value: str, human: bool, quoted: bool) -> bool:
    """Whether the value given to a secret's name is a secret, and not code, a template or a path."""
    if len(value) < (6 if human else 8) or template(value) or placeholder(value):
        return False
    if value[0] == "^" or "://" in value:
        return False  # a pattern, a URL
    if not human and value.islower() and not any(digit in value for digit in "0123456789"):
        return False  # words: the usual case, and Grain is slow
    grain = Grain(value[:64])
    if value[0] in "/~." and not any(size >= 16 and turns >= 5 for size, _, _, turns in grain.parts):
        return False  # a path
    if grain.random():
        return True
    if not human:
        return bool(quoted and grain.special and grain.digits and grain.letters) or grain.scattered()
    if not quoted and not grain.special and ("pass" in value.lower() or "pwd" in value.lower()):
        return False  # password=password2 is a variable
    return grain.chosen(quoted) or _is_passphrase(value)


def _is_passphrase(value: str) -> bool:
    """`sunny-otter-88`: words and a number, joined by hyphens."""
    parts = value.split("-")
    words = [part for part in parts if part.isalpha() and len(part) >= PASSPHRASE_WORD]
    return len(words) > 1 and len(words) + sum(map(str.isdigit, parts)) == len(parts) > len(words)


SHORTEST_NAME_WORD = 3
MOST_CONSONANTS = 3  # in a row, in a word of a name
MOST_NUMBERS = 3  # in a name of words


def of_words(name: str) -> bool:
    """Whether half of a name with capitals is made of words; what digits cut into many pieces is not."""
    in_words = cuts = 0
    word = ""
    for before, char in zip("A" + name, name + "A", strict=True):
        if char.islower():
            word += char
            continue
        cuts += char.isdigit() and not before.isdigit()
        in_words += len(word) + 1 if _spoken(word) else 0  # with its capital
        word = ""
    return in_words * 2 >= len(name) and cuts <= MOST_NUMBERS


def _spoken(word: str) -> bool:
    """Whether one could say a word: no long run of consonants."""
    run = longest = 0
    for char in word:
        run = 0 if char in "aeiouy" else run + 1
        longest = max(longest, run)
    return len(word) >= SHORTEST_NAME_WORD and longest <= min(MOST_CONSONANTS, len(word) - 1)

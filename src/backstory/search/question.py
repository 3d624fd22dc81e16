"""A question, taken apart: the words that say what is sought, and the time that it speaks of.

Stop words say nothing, unless there are no others. A word with punctuation inside (`foo_bar.py:42`,
`--no-verify`) stays one word, which finds itself. Time words ("last week", "in March", "3 days ago") are a
wish for hits of that time, not for these words.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from backstory import clock
from backstory.store.words import phrases

_CHARS = 2_000
_WORDS = 40
_WORD = re.compile(r"[^\s\"'`()\[\]{}<>,;!?]+")
_STOP = frozenset(
    {
        "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as",
        "at", "be", "because", "been", "before", "being", "between", "both", "but", "by", "can",
        "could", "did", "do", "does", "doing", "done", "during", "each", "else", "ever", "few",
        "for", "from", "further", "get", "gets", "getting", "go", "goes", "going", "got", "had",
        "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if",
        "in", "into", "is", "it", "its", "itself", "just", "let", "like", "made", "make", "makes",
        "many", "may", "me", "might", "more", "most", "much", "must", "my", "no", "nor", "not",
        "now", "of", "off", "on", "once", "one", "only", "or", "other", "our", "ours", "out",
        "over", "own", "per", "please", "put", "re", "said", "same", "say", "says", "see",
        "shall", "she", "should", "since", "so", "some", "such", "than", "that", "the", "their",
        "them", "then", "there", "these", "they", "thing", "things", "this", "those", "through",
        "thus", "to", "too", "under", "until", "up", "upon", "us", "use", "used", "using", "very",
        "via", "was", "way", "we", "were", "what", "whatever", "when", "where", "whether",
        "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without",
        "would", "yes", "yet", "you", "your", "yours", "d", "ll", "m", "s", "t", "ve", "don",
        "didn", "doesn", "isn", "wasn", "weren", "won", "aren", "couldn", "shouldn", "wouldn",
    }
)  # fmt: skip
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple of": 2, "few": 3}
_AGO = re.compile(
    r"\b(\d{1,3}|a|one|two|three|four|five|six|a couple of|a few) (hour|day|week|month|year)s? ago\b"
)
_SPAN = re.compile(r"\b(today|yesterday|(?:this|last|past) (?:hour|day|night|week|month|year))\b")
_WEEKDAY = re.compile(rf"\b(?:on|last) ({'|'.join(_DAYS)})\b")
_MONTH = re.compile(rf"\b(?:in|during|since|last) ({'|'.join(_MONTHS)})(?: (\d{{4}}))?\b")
_LANDMARK = re.compile(
    r"\b(before|prior to|after|since) (?:(?:the|our|my|that|this|we|i|you|they) )*"
    r"([a-z][\w./-]*(?: [\w./-]+){0,2})"
)
_EARLIER = ("before", "prior to")
_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_UNIT_DAYS = {"hour": 1 / 24, "day": 1, "night": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question, and the quoted phrases by which the index finds it."""

    text: str
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: its words, the text that its meaning is taken from, the time it speaks of, if any.

    `landmark` are phrases of something that happened, before which (`earlier`) or after which it asks.
    """

    words: tuple[Word, ...]
    text: str
    since: int = 0
    until: int = 0
    landmark: tuple[str, ...] = ()
    earlier: bool = False

    @property
    def phrases(self) -> list[str]:
        """All phrases, each once."""
        return list(dict.fromkeys(phrase for word in self.words for phrase in word.phrases))


def question(text: str, now: int, zone: tzinfo | None = None) -> Question:
    """Take a question apart."""
    text = text.replace("\0", " ")[:_CHARS]
    since, until, rest = _time(text, clock.in_zone(now, zone))
    telling: dict[str, Word] = {}
    spare: dict[str, Word] = {}
    for found in _WORD.findall(rest)[: 4 * _WORDS]:
        quoted = tuple(phrases(found))
        if quoted:
            target = spare if found.strip(".:*-_/?").lower() in _STOP else telling
            target.setdefault(found.lower(), Word(found.lower(), quoted))
    words = list((telling or spare).values())[:_WORDS]
    landmark, earlier = ((), False) if until else _landmark(rest)
    return Question(tuple(words), rest if words else text, since, until, landmark, earlier)


def _landmark(text: str) -> tuple[tuple[str, ...], bool]:
    """The phrases of what a text says it was before or after, and whether before."""
    match = _LANDMARK.search(text.lower())
    if match is None:
        return (), False
    named = [word for word in match[2].split() if word.strip(".-") not in _STOP]
    return tuple(phrase for word in named for phrase in phrases(word)), match[1] in _EARLIER


def _time(text: str, now: datetime) -> tuple[int, int, str]:
    """The time that a text speaks of, as [since, until), and the text without those words."""
    low = text.lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if match := _DATE.search(low):
        try:
            day = midnight.replace(year=int(match[1]), month=int(match[2]), day=int(match[3]))
        except ValueError:
            return 0, 0, text
        return _ms(day), _ms(day + timedelta(days=1)), text  # the date may be what is looked for
    if match := _AGO.search(low):
        number = match[1].removeprefix("a ") if match[1] in ("a couple of", "a few") else match[1]
        days = _UNIT_DAYS[match[2]] * (int(number) if number.isdecimal() else _NUMBERS[number])
        middle = now - timedelta(days=days)
        slack = timedelta(days=max(days / 4, 0.6))
        return _ms(middle - slack), _ms(middle + slack), _without(text, match)
    if match := _SPAN.search(low):
        return *_span(match[1], now, midnight), _without(text, match)
    if match := _WEEKDAY.search(low):
        back = (now.weekday() - _DAYS.index(match[1])) % 7 or 7
        day = midnight - timedelta(days=back)
        return _ms(day), _ms(day + timedelta(days=1)), _without(text, match)
    if match := _MONTH.search(low):
        return *_month(match, now, midnight), _without(text, match)
    return 0, 0, text


def _span(words: str, now: datetime, midnight: datetime) -> tuple[int, int]:
    if words == "today":
        return _ms(midnight), _ms(now)
    if words in ("yesterday", "last night", "last day"):
        return _ms(midnight - timedelta(days=1)), _ms(midnight)
    which, unit = words.split()
    days = _UNIT_DAYS[unit]
    if which == "last" and unit == "week":  # up to the day: people count from where they are
        return _ms(midnight - timedelta(days=7 + now.weekday())), _ms(now - timedelta(days=now.weekday()))
    if which == "last" and unit in ("month", "year"):
        return _ms(now - timedelta(days=2 * days)), _ms(now - timedelta(days=days / 2))
    return _ms(now - timedelta(days=days)), _ms(now)


def _month(match: re.Match[str], now: datetime, midnight: datetime) -> tuple[int, int]:
    month = _MONTHS.index(match[1]) + 1
    year = int(match[2]) if match[2] else now.year - (month > now.month)
    if not 1970 < year < 9999:
        return 0, 0
    first = midnight.replace(year=year, month=month, day=1)
    return _ms(first), _ms((first + timedelta(days=32)).replace(day=1))


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"


def _ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)

"""The words in which people speak of times, in English; and what other languages say, put into English.

`plain` turns a text into such words, one space between them, and remembers where each of them stood.
"""

import re
from bisect import bisect_right
from typing import NamedTuple

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple of": 2, "couple": 2, "few": 3, "some": 3,
    "several": 4,
}  # fmt: skip
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth",
    "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth",
    "thirty-first",
)  # fmt: skip
_ONE_WORD = {
    # German
    "heute": "today", "gestern": "yesterday", "vorgestern": "day before yesterday",
    "vormittag": "morning", "nachmittag": "afternoon", "abend": "evening", "nacht": "night",
    "letzte": "last", "letzten": "last", "letzter": "last", "letztes": "last", "letztem": "last",
    "vergangene": "last", "vergangenen": "last", "vergangenes": "last", "vorige": "last", "vorigen": "last",
    "diese": "this", "diesen": "this", "dieser": "this", "dieses": "this", "diesem": "this",
    "stunde": "hour", "stunden": "hours", "tage": "days", "tagen": "days", "woche": "week",
    "wochen": "weeks", "monat": "month", "monate": "months", "monaten": "months", "jahr": "year",
    "jahre": "years", "jahren": "years", "wochenende": "weekend", "minuten": "minutes",
    "monats": "month", "jahres": "year", "quartal": "quarter", "quartals": "quarter", "vorhin": "today",
    "vorletzte": "last-but-one", "vorletzten": "last-but-one", "vorletzter": "last-but-one",
    "vorletztes": "last-but-one", "vorletztem": "last-but-one", "neulich": "recently", "kürzlich": "recently",
    "einem": "one", "einer": "one", "zwei": "two", "drei": "three", "vier": "four", "fünf": "five",
    "sechs": "six", "sieben": "seven", "acht": "eight", "neun": "nine", "zehn": "ten", "paar": "few",
    "januar": "january", "jänner": "january", "februar": "february", "märz": "march", "mai": "may",
    "juni": "june", "juli": "july", "oktober": "october", "dezember": "december",
    "montag": "monday", "dienstag": "tuesday", "mittwoch": "wednesday", "donnerstag": "thursday",
    "freitag": "friday", "samstag": "saturday", "sonnabend": "saturday", "sonntag": "sunday",
    "seit": "since", "bis": "until", "nach": "after", "zwischen": "between", "und": "and", "im": "in",
    "von": "from", "vom": "from", "anfang": "early", "mitte": "mid", "ende": "late",
    # Spanish
    "hoy": "today", "ayer": "yesterday", "anteayer": "day before yesterday", "desde": "since",
    "hasta": "until", "días": "days", "semana": "week", "semanas": "weeks", "meses": "months",
    "enero": "january", "febrero": "february", "marzo": "march", "abril": "april", "mayo": "may",
    "junio": "june", "julio": "july", "agosto": "august", "septiembre": "september",
    "octubre": "october", "noviembre": "november", "diciembre": "december", "lunes": "monday",
    "martes": "tuesday", "miércoles": "wednesday", "jueves": "thursday", "viernes": "friday",
    "sábado": "saturday", "domingo": "sunday",
    # French
    "aujourd'hui": "today", "aujourd’hui": "today", "avant-hier": "day before yesterday",
    "depuis": "since", "janvier": "january", "février": "february", "avril": "april", "juin": "june",
    "juillet": "july", "août": "august", "septembre": "september", "octobre": "october",
    "novembre": "november", "décembre": "december", "lundi": "monday", "mardi": "tuesday",
    "mercredi": "wednesday", "jeudi": "thursday", "vendredi": "friday", "samedi": "saturday",
    "dimanche": "sunday",
}  # fmt: skip
_PHRASES = {
    "half an hour": "30 minutes", "einer halben stunde": "30 minutes", "last but one": "last-but-one",
    "heute morgen": "this morning", "heute früh": "this morning", "gestern morgen": "yesterday morning",
    "la semana pasada": "last week", "el mes pasado": "last month", "el año pasado": "last year",
    "esta semana": "this week", "este mes": "this month", "este año": "this year",
    "esta mañana": "this morning", "anoche": "last night",
    "la semaine dernière": "last week", "le mois dernier": "last month",
    "l'année dernière": "last year", "l’année dernière": "last year", "cette semaine": "this week",
    "ce mois": "this month", "ce matin": "this morning", "hier soir": "yesterday evening",
    "hier matin": "yesterday morning", "la semana antepasada": "last-but-one week",
    "l'avant-dernière semaine": "last-but-one week", "l’avant-dernière semaine": "last-but-one week",
}  # fmt: skip
# Written without spaces: they are words wherever they stand.
_UNSPACED = {
    "前天": "day before yesterday", "昨天": "yesterday", "今天": "today", "昨晚": "last night",
    "今早": "this morning", "今天早上": "this morning", "上周": "last week", "上星期": "last week",
    "上个星期": "last week", "上週": "last week", "这周": "this week", "本周": "this week",
    "这个星期": "this week", "上个月": "last month", "上月": "last month", "这个月": "this month",
    "本月": "this month", "去年": "last year", "今年": "this year",
    "一昨日": "day before yesterday", "おととい": "day before yesterday", "昨日": "yesterday",
    "今日": "today", "昨夜": "last night", "今朝": "this morning", "先週": "last week",
    "今週": "this week", "先月": "last month", "今月": "this month",
    "그저께": "day before yesterday", "어제": "yesterday", "오늘": "today", "지난주": "last week",
    "이번 주": "this week", "지난달": "last month", "작년": "last year", "올해": "this year",
}  # fmt: skip


def _any(words: dict[str, str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_LETTER = rf"(?!{_any(_UNSPACED)})\w"
_TOKEN = re.compile(
    rf"{_any(_UNSPACED)}|(?<!\w)(?:{_any(_PHRASES)})(?!\w)|(?<![\w-])(?:mid|early|late)(?=-)|(?:{_LETTER})+(?:[.:/@'’-]+(?:{_LETTER})+)*"
)
_MEANING = _ONE_WORD | _PHRASES | _UNSPACED
_DASH = re.compile(r"(?<=\d)[–—](?=\d)")
# "hier" is here in German and yesterday in French.
_FRENCH = re.compile(r"\b(?:nous|avons|fait|passé|travaillé)\b")


class Plain(NamedTuple):
    """A text in plain words; where each begins, and the stretch of the text that it stands for."""

    text: str
    words: str
    starts: list[int]
    places: list[tuple[int, int]]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the text that a stretch of the words stands for."""
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end - 1) - 1
        return self.places[first][0], self.places[last][1]

    def written(self, start: int, end: int) -> str:
        """What a stretch of the words is in the text."""
        first, after = self.place(start, end)
        return self.text[first:after]

    def is_name(self, start: int) -> bool:
        """Whether the word there is written as a name is, not only because the text begins with it."""
        first, after = self.place(start, start + 1)
        return first > 0 and self.text[first:after].istitle() and after - first > 1


def plain(text: str) -> Plain:
    """The words of a text, small, without what stands between them, in English if they speak of time."""
    low = text.lower()
    if len(low) != len(text):  # a letter whose small form is two: places would be lost
        low = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    low = _DASH.sub("-", low)
    meaning = _MEANING | {"hier": "yesterday"} if _FRENCH.search(low) else _MEANING
    words, starts, places, length = [], [], [], 0
    for match in _TOKEN.finditer(low):
        bare = match[0].removesuffix("'s").removesuffix("’s")
        said = meaning.get(bare, bare)
        words.append(said)
        starts.append(length)
        places.append(match.span())
        length += len(said) + 1
    return Plain(text, " ".join(words), starts, places)

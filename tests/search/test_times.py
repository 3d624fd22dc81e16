"""The time that a question speaks of: every form, its direction, in every zone and on every day."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.search.times import Time, time_of
from backstory.search.timewords import DAYS, MONTHS, plain

BERLIN = ZoneInfo("Europe/Berlin")
# Clocks change at midnight, by half an hour, not at all.
ZONES = [
    ZoneInfo(name)
    for name in (
        "UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Asia/Beirut", "Australia/Lord_Howe",
        "Asia/Kolkata",
    )
]  # fmt: skip
NOW = int(datetime(2026, 11, 18, 15, 0, tzinfo=BERLIN).timestamp() * 1000)  # a Wednesday


def told(time: Time, zone: ZoneInfo = BERLIN) -> tuple[str, str]:
    """The time as people write it; midnights without their hour, now as such."""

    def one(at: int) -> str:
        if at - 1 == NOW:
            return "now"
        return (
            f"{datetime.fromtimestamp(at / 1000, zone):%Y-%m-%d %H:%M}".removesuffix(" 00:00") if at else ""
        )

    return one(time.since), one(time.until)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("what changed since March", "2026-03-01", "now"),
        ("what changed since December", "2025-12-01", "now"),
        ("what broke before 2026-03-01", "", "2026-03-01"),
        ("what broke prior to June 2025", "", "2025-06-01"),
        ("what broke after 3 June", "2026-06-04", "now"),
        ("deploys until yesterday", "", "2026-11-18"),
        ("deploys up to 3 June", "", "2026-06-04"),
        ("deploys since Friday", "2026-11-13", "now"),
        ("deploys since the day before yesterday", "2026-11-16", "now"),
        ("deploys since 2024", "2024-01-01", "now"),
        ("from March onwards", "2026-03-01", "now"),
        ("the login fix from last week", "2026-11-09", "2026-11-16"),
        ("deploys in March on the gateway", "2026-03-01", "2026-04-01"),
        ("between 2026-03-01 and 2026-03-08", "2026-03-01", "2026-03-09"),
        ("from March 3 to April 5 2025", "2025-03-03", "2025-04-06"),
        ("between 3 and 8 June", "2026-06-03", "2026-06-09"),
        ("between December and February", "2025-12-01", "2026-03-01"),
        ("between February and December", "2025-02-01", "2026-01-01"),
        ("from Monday to Wednesday", "2026-11-09", "2026-11-12"),
        ("since March until May", "2026-03-01", "2026-06-01"),
        ("the day before yesterday", "2026-11-16", "2026-11-17"),
        ("the last 3 days", "2026-11-15", "now"),
        ("in the past two weeks", "2026-11-04", "now"),
        ("the last 24 hours", "2026-11-17 15:00", "now"),
        ("this morning", "2026-11-18 04:00", "2026-11-18 12:00"),
        ("this afternoon", "2026-11-18 12:00", "now"),
        ("yesterday afternoon", "2026-11-17 12:00", "2026-11-17 18:00"),
        ("on Friday morning", "2026-11-13 04:00", "2026-11-13 12:00"),
        ("late last night", "2026-11-17 18:00", "2026-11-18 06:00"),
        ("earlier today", "2026-11-18", "now"),
        ("earlier this week", "2026-11-16", "now"),
        ("in the first week of May", "2026-05-01", "2026-05-08"),
        ("the last week of March 2025", "2025-03-25", "2025-04-01"),
        ("in late May", "2026-05-21", "2026-06-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last quarter", "2026-07-01", "2026-10-01"),
        ("last weekend", "2026-11-14", "2026-11-16"),
        ("3 days ago", "2026-11-15", "2026-11-16"),
        ("a few days ago", "2026-11-14", "2026-11-17"),
        ("2 hours ago", "2026-11-18 12:00", "2026-11-18 14:00"),
        ("the week after May 8, 2025", "2025-05-08", "2025-05-16"),
        ("3 days before May 8, 2025", "2025-05-05", "2025-05-09"),
        ("on 24 Dec", "2025-12-24", "2025-12-25"),
        ("on the Monday before 24 July, 2025", "2025-07-21", "2025-07-25"),
        ("the Saturday after July 24, 2025", "2025-07-24", "2025-07-27"),
        ("in mid-August 2025", "2025-08-11", "2025-08-21"),
        ("the cake made recently in May 2025", "2025-05-01", "2025-06-01"),
        ("what was done lately", "2026-11-04", "now"),
        ("visits in the last year", "2025-11-18", "now"),
        ("was haben wir vorgestern gemacht", "2026-11-16", "2026-11-17"),
        ("vor drei Tagen", "2026-11-15", "2026-11-16"),
        ("seit März", "2026-03-01", "now"),
        ("nach dem 3. März", "2026-03-04", "now"),
        ("zwischen dem 1. März und dem 8. März", "2026-03-01", "2026-03-09"),
        ("in den letzten zwei Wochen", "2026-11-04", "now"),
        ("am Freitag", "2026-11-13", "2026-11-14"),
        ("qu'avons-nous fait hier", "2026-11-17", "2026-11-18"),
        ("was steht hier", "", ""),
        ("la semana pasada", "2026-11-09", "2026-11-16"),
        ("昨天我们做了什么", "2026-11-17", "2026-11-18"),
        ("先週何をした", "2026-11-09", "2026-11-16"),
        ("between the 3rd and the 5th", "2026-11-03", "2026-11-06"),
        ("from the 28th to the 3rd", "2026-10-28", "2026-11-04"),
        ("from the 3rd to the 5th of November", "2026-11-03", "2026-11-06"),
        ("on the 10th", "2026-11-10", "2026-11-11"),
        ("on the 25th", "2026-10-25", "2026-10-26"),
        ("on the 31st", "2026-10-31", "2026-11-01"),
        ("on the first", "2026-11-01", "2026-11-02"),
        ("since the 3rd", "2026-11-03", "now"),
        ("until the 5th", "", "2026-11-06"),
        ("the 3rd of last month", "2026-10-03", "2026-10-04"),
        ("the first of November", "2026-11-01", "2026-11-02"),
        ("we met the 15th and 16th of May", "2026-05-15", "2026-05-17"),
        ("3–8 June", "2026-06-03", "2026-06-09"),
        ("the week before last", "2026-11-02", "2026-11-09"),
        ("the weekend before last", "2026-11-07", "2026-11-09"),
        ("the month before last", "2026-09-01", "2026-10-01"),
        ("the night before last", "2026-11-16 18:00", "2026-11-17 06:00"),
        ("the week before last Friday", "2026-11-06", "2026-11-14"),
        ("at the start of the month", "2026-11-01", "2026-11-11"),
        ("at the end of the month", "2026-10-21", "2026-11-01"),
        ("in the middle of the week", "2026-11-18", "now"),
        ("at the end of last week", "2026-11-13", "2026-11-16"),
        ("since the beginning of the year", "2026-01-01", "now"),
        ("the first half of 2025", "2025-01-01", "2025-07-02"),
        ("the last week of 2025", "2025-12-25", "2026-01-01"),
        ("the first two weeks of March", "2026-03-01", "2026-03-15"),
        ("the first Monday of March", "2026-03-02", "2026-03-03"),
        ("the last Friday of October", "2026-10-30", "2026-10-31"),
        ("between the start of March and the end of May", "2026-03-01", "2026-06-01"),
        ("on 03/11/2026", "2026-11-03", "2026-11-04"),
        ("on 11/23/2025", "2025-11-23", "2025-11-24"),
        ("on 3.11.2026", "2026-11-03", "2026-11-04"),
        ("on 2026/11/03", "2026-11-03", "2026-11-04"),
        ("in 2026-03", "2026-03-01", "2026-04-01"),
        ("the week of October 5", "2026-10-05", "2026-10-12"),
        ("the week of the 5th", "2026-11-02", "2026-11-09"),
        ("the weekend of October 7", "2026-10-10", "2026-10-12"),
        ("two Fridays ago", "2026-11-06", "2026-11-07"),
        ("the Friday before last", "2026-11-06", "2026-11-07"),
        ("on Friday of last week", "2026-11-13", "2026-11-14"),
        ("last week on Tuesday", "2026-11-10", "2026-11-11"),
        ("a fortnight ago", "2026-11-01", "2026-11-08"),
        ("in the past few days", "2026-11-15", "now"),
        ("the other day", "2026-11-11", "2026-11-18"),
        ("in Q3", "2026-07-01", "2026-10-01"),
        ("Q4 2025", "2025-10-01", "2026-01-01"),
        ("in H1", "2026-01-01", "2026-07-01"),
        ("the third quarter of 2025", "2025-07-01", "2025-10-01"),
        ("in the last quarter", "2026-07-01", "2026-10-01"),
        ("tonight", "2026-11-18 17:00", "2026-11-19"),
        ("an hour ago", "2026-11-18 13:00", "2026-11-18 15:00"),
        ("half an hour ago", "2026-11-18 14:23", "2026-11-18 14:37"),
        ("yesterday at noon", "2026-11-17 11:00", "2026-11-17 14:00"),
        ("vorletzte Woche", "2026-11-02", "2026-11-09"),
        ("Ende des Monats", "2026-10-21", "2026-11-01"),
        ("am 10.", "2026-11-10", "2026-11-11"),
        ("vom 3. bis zum 5. November", "2026-11-03", "2026-11-06"),
        ("im 3. Quartal", "2026-07-01", "2026-10-01"),
        ("what did we do Friday", "2026-11-13", "2026-11-14"),
        ("What did I do Tuesday?", "2026-11-17", "2026-11-18"),
        ("Monday, what did we do", "2026-11-16", "2026-11-17"),
        ("which commands failed Sunday in the parser", "2026-11-15", "2026-11-16"),
        ("Thursday's deploy", "2026-11-12", "2026-11-13"),
        ("what did we do fri", "2026-11-13", "2026-11-14"),
        ("was haben wir Freitag gemacht", "2026-11-13", "2026-11-14"),
        ("what did we do Saturday and Sunday", "2026-11-14", "2026-11-16"),
        ("what did we do Monday to Wednesday", "2026-11-09", "2026-11-12"),
        ("on Friday, November 13", "2026-11-13", "2026-11-14"),
        ("on Friday, 13 November 2026", "2026-11-13", "2026-11-14"),
        ("on Fri Nov 13", "2026-11-13", "2026-11-14"),
        ("Nov 14 (Sat)", "2026-11-14", "2026-11-15"),
        ("on Friday the 13th", "2026-11-13", "2026-11-14"),
        ("on Thursday the 13th", "2026-08-13", "2026-08-14"),
        ("the week of Thursday the 13th", "2026-08-10", "2026-08-17"),
        ("since Tue, 10 November", "2026-11-10", "now"),
        ("from Fri 6 Nov to Tue 10 Nov", "2026-11-06", "2026-11-11"),
        ("on Saturday, 14 November morning", "2026-11-14 04:00", "2026-11-14 12:00"),
        ("in Nov", "2026-11-01", "2026-12-01"),
        ("what broke in Oct", "2026-10-01", "2026-11-01"),
        ("since Sept", "2026-09-01", "now"),
        ("before Feb", "", "2026-02-01"),
        ("end of Oct", "2026-10-21", "2026-11-01"),
        ("between Jan and Mar", "2026-01-01", "2026-04-01"),
        ("Dec 2025", "2025-12-01", "2026-01-01"),
    ],
)
def test_a_time_has_its_length_and_its_direction(text: str, since: str, until: str) -> None:
    assert told(time_of(text, NOW, BERLIN)) == (since, until)


@pytest.mark.parametrize(
    "text",
    [
        "the last tag", "may I march", "keys of 2048 bits", "what is new in Python 3.11", "upgrade to 1.2.3",
        "ping 10.0.0.1", "section 2.1", "version 3.11.2026", "release 2026.11.3", "src/2026/11/03/x.py",
        "the 3rd argument", "on the 3rd attempt", "on the third attempt", "from the 3rd to the 5th line",
        "between the 1st and 2nd pass", "the 99th percentile", "change from the first to the second",
        "port 2024", "listen on 8080", "line 2019 of parser.py", "in 2019 rows", "step 3 may fail", "1/2/3",
        "employee of the month", "day of the week", "the end of the file", "the other thread", "q3 table",
        "the last quarter of the file", "the second half of the table", "the last 3 weeks of work",
        "the week of the release", "on the 32nd", "on 31.02.2026", "on 45/45/2026", "monday.com api",
        "the Friday deploy script", "friday.py", "Black Friday", "the black friday sale", "the Patch Tuesday",
        "the Lazy Sunday", "every Monday", "next Friday", "Sunday drivers", "the Monday and Friday jobs",
        "which Tuesday", "enum Friday", "restart the ceph mon", "may", "march through it", "dec", "mar", "sep",
        "convert it to dec", "show it in dec and hex", "the jan user", "before Jan joined", "a sep token",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    for said in (text, f"why did it break {text}", f"{text} in the parser"):
        assert time_of(said, NOW, BERLIN) == (0, 0, said, said, "")


def test_a_date_that_can_be_read_in_two_ways_says_how_it_was() -> None:
    how = time_of("what broke on 03/11/2026", NOW, BERLIN).how
    assert how == "03/11/2026 is read as 3 November 2026, the day first."
    for clear in ("11/23/2026", "05/05/2026", "3.11.2026", "2026/11/03", "2026-11-03", "3 November 2026"):
        assert time_of(f"what broke on {clear}", NOW, BERLIN).how == ""


def test_a_weekday_that_a_date_is_not_gives_way_and_that_is_told() -> None:
    wrong = time_of("what broke on Monday, 13 November 2026", NOW, BERLIN)
    assert told(wrong) == ("2026-11-13", "2026-11-14")
    assert wrong.how == "13 November 2026 is a Friday."
    assert time_of("what broke on Friday, 13 November 2026", NOW, BERLIN).how == ""


def test_the_words_that_say_it_are_taken_out_with_their_direction() -> None:
    for text in ("login fix prior to 3 June", "login fix starting last week", "login fix vor dem 3. März"):
        assert time_of(text, NOW, BERLIN).rest.split() == ["login", "fix"]
    for text in (
        "login fix Friday",
        "login fix on Friday, Nov 13",
        "login fix Nov 13 (Fri)",
        "login fix in Oct",
    ):
        assert time_of(text, NOW, BERLIN).rest.strip(" (),").split()[:2] == ["login", "fix"]
        assert not {"friday", "fri", "13", "in", "oct"} & set(
            plain(time_of(text, NOW, BERLIN).rest).words.split()
        )
    dated = time_of("login fix older than 2026-02-03", NOW, BERLIN)
    assert (dated.rest.split(), dated.other.split()) == (["login", "fix", "2026-02-03"], ["login", "fix"])


MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1))
NUMBERS = st.integers(1, 400)


@st.composite
def asked(draw: st.DrawFn) -> tuple[datetime, ZoneInfo]:
    """A moment of asking, in some zone."""
    zone = draw(st.sampled_from(ZONES))
    return draw(MOMENTS).replace(tzinfo=UTC).astimezone(zone), zone


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def noon(day: date, zone: ZoneInfo) -> int:
    return ms(datetime(day.year, day.month, day.day, 12, tzinfo=zone))


def read(text: str, now: datetime, zone: ZoneInfo) -> Time:
    return time_of(f"what did we do {text}", ms(now), zone)


SPOKEN = """
    since before after until between and from to the last past this first week weeks of day days
    yesterday today morning night 3 08 31 2026 2026-03-08 march may december friday ago two a few
    in on hour months year 2048 weekend quarter early late onwards vor gestern seit 昨天 hier fait
    3rd 31st 29th fifth month end start half middle fridays fortnight other q3 h2 03/11/2026 30.02.2026 2026/13/01
    monday am des last-but-one minutes night fri sat oct sept dec or 13th the friday's
"""
WORDS = st.lists(st.sampled_from(SPOKEN.split()), max_size=9).map(" ".join)


@settings(max_examples=400, deadline=None)
@given(text=WORDS | st.text(max_size=60), when=asked())
def test_a_time_is_never_empty_nor_reversed_and_no_text_breaks_it(
    text: str, when: tuple[datetime, ZoneInfo]
) -> None:
    now, zone = when
    time = time_of(text, ms(now), zone)
    assert (time.since, time.until) == (0, 0) or 0 <= time.since < time.until
    assert all(start < end for start, end in plain(text).places)


NAMED = [
    "yesterday", "on Friday", "last week", "the week before last", "on the 10th", "on the 31st", "in Q3",
    "between the 3rd and the 5th", "at the start of the month", "at the end of last year", "two Fridays ago",
    "the week of 5 October", "on 03/11/2026", "on 3.11.2026", "in the past few days", "the other day",
    "Friday", "on Friday the 13th", "Tuesday, 3 March 2026", "in Oct", "since Nov", "Sunday afternoon",
    "an hour ago", "since March", "the last weekend of May", "a fortnight ago", "this morning", "in 1999",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    when=asked(),
    named=st.sampled_from(NAMED),
    before=st.sampled_from(["", "hey, ", "please tell me ", "so, the parser: "]),
    after=st.sampled_from(["", "?", " please", " again", " exactly", " in the project", ", I wonder"]),
)
def test_fillers_around_a_time_change_nothing(
    when: tuple[datetime, ZoneInfo], named: str, before: str, after: str
) -> None:
    now, zone = when
    alone, amid = (time_of(text, ms(now), zone) for text in (named, f"{before}{named}{after}"))
    assert alone.until > 0
    assert amid[:2] == alone[:2]


@settings(max_examples=200, deadline=None)
@given(when=asked(), number=st.integers(1, 31))
def test_a_day_without_a_month_is_the_latest_such_day(when: tuple[datetime, ZoneInfo], number: int) -> None:
    now, zone = when
    end = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number not in (11, 12, 13) else 0, "th")
    time = read(f"on the {number}{end}", now, zone)
    day = datetime.fromtimestamp((time.since + time.until) / 2000, zone).date()
    assert (day.day, 0 <= (now.date() - day).days <= 62) == (number, True)
    later = (day + timedelta(days=n) for n in range(1, (now.date() - day).days + 1))
    assert number not in {each.day for each in later}


@settings(max_examples=200, deadline=None)
@given(
    when=asked(),
    unit=st.sampled_from(["week", "month", "quarter", "year"]),
    which=st.sampled_from(["last", "this"]),
)
def test_parts_lie_within_their_whole_and_cover_it(
    when: tuple[datetime, ZoneInfo], unit: str, which: str
) -> None:
    now, zone = when
    whole = read(f"{which} {unit}", now, zone)
    start, middle, end = (
        read(f"at the {p} of {which} {unit}", now, zone) for p in ("start", "middle", "end")
    )
    assert start.since == whole.since
    assert start.since < middle.since < end.since
    assert middle.since <= start.until or start.until == ms(now) + 1
    if which == "last":
        assert end.until == whole.until
        assert end.since <= middle.until
        halves = [read(f"the {p} half of {which} {unit}", now, zone) for p in ("first", "second")]
        assert [halves[0].since, halves[0].until] == [whole.since, halves[1].since]
        assert halves[1].until == whole.until


@settings(max_examples=150, deadline=None)
@given(when=asked(), number=st.integers(1, 9), name=st.sampled_from(DAYS))
def test_so_many_weekdays_ago_are_that_many_weeks_back(
    when: tuple[datetime, ZoneInfo], number: int, name: str
) -> None:
    now, zone = when
    latest, ago = read(f"on {name}", now, zone), read(f"{number} {name}s ago", now, zone)
    back = datetime.fromtimestamp(latest.since / 1000, zone).date() - timedelta(days=7 * (number - 1))
    assert ago.since <= noon(back, zone) < ago.until
    assert ago.until - ago.since <= 26 * 3_600_000


def test_29_february_is_the_latest_that_there_was() -> None:
    zone = ZoneInfo("Europe/Berlin")
    for text in ("what did we do on February 29", "on Tuesday, 29 February", "on Tue, Feb 29"):
        found = read(text, datetime(2029, 11, 16, 12, tzinfo=zone), zone)
        assert datetime.fromtimestamp(found.since / 1000, zone).date() == date(2028, 2, 29), text
    assert read("on February 30", datetime(2029, 11, 16, 12, tzinfo=zone), zone).until, "a month all the same"


@settings(max_examples=150, deadline=None)
@given(when=asked(), back=st.integers(1, 700), short=st.booleans())
def test_a_weekday_beside_a_date_says_the_same_day(
    when: tuple[datetime, ZoneInfo], back: int, short: bool
) -> None:
    now, zone = when
    day = now.date() - timedelta(days=back)
    name, month = DAYS[day.weekday()].title(), MONTHS[day.month - 1].title()
    name, month = (name[:3], month[:3]) if short else (name, month)
    said = read(f"on {day}", now, zone)
    for text in (
        f"on {name}, {day.day} {month} {day.year}",
        f"{name}, {month} {day.day}, {day.year}",
        f"{day} ({name})",
    ):
        assert read(text, now, zone)[:2] == said[:2]
    for text in (f"on {name}, {month} {day.day}", f"on {name} the {day.day}th"):  # the latest that is one
        found = datetime.fromtimestamp((sum(read(text, now, zone)[:2])) / 2000, zone).date()
        assert day <= found <= now.date()
        assert (found.day, found.weekday()) == (day.day, day.weekday())
    if back <= 7:
        assert read(name if not short else f"on {DAYS[day.weekday()]}", now, zone)[:2] == said[:2]


@settings(max_examples=150, deadline=None)
@given(when=asked(), back=st.integers(2, 3_000))
def test_dates_in_figures_are_the_day_that_their_words_say(
    when: tuple[datetime, ZoneInfo], back: int
) -> None:
    now, zone = when
    day = now.date() - timedelta(days=back)
    said = read(f"on {day.day} {MONTHS[day.month - 1]} {day.year}", now, zone)
    forms = (f"{day:%d/%m/%Y}", f"{day.day}.{day.month}.{day.year}", f"{day:%Y/%m/%d}", f"{day:%d-%m-%Y}")
    for form in forms if day.day > 12 or day.day == day.month else forms[:3]:
        assert read(f"on {form}", now, zone)[:2] == said[:2]
    week = read(f"in the week of {day}", now, zone)
    monday = day - timedelta(days=day.weekday())
    assert week.since <= noon(monday, zone) <= noon(monday + timedelta(days=6), zone) < week.until
    assert week.until - week.since <= (7 * 24 + 2) * 3_600_000


@settings(max_examples=150, deadline=None)
@given(when=asked(), back=st.integers(2, 300), part=st.sampled_from(["", " morning"]))
def test_a_date_holds_its_day_and_no_other_and_directions_part_time_at_it(
    when: tuple[datetime, ZoneInfo], back: int, part: str
) -> None:
    now, zone = when
    day = now.date() - timedelta(days=back)
    named = f"{day.day} {MONTHS[day.month - 1]} {day.year}"
    on, iso = read(f"on {named}", now, zone), read(f"on {day.isoformat()}", now, zone)
    assert (on.since, on.until) == (iso.since, iso.until)
    assert on.since <= noon(day, zone) < on.until
    assert 22 <= (on.until - on.since) / 3_600_000 <= 26
    before, after = read(f"before {named}", now, zone), read(f"after {named}", now, zone)
    since, until = read(f"since {named}", now, zone), read(f"until {named}", now, zone)
    assert (before.until, after.since) == (on.since, on.until)
    assert (since.since, until.until) == (on.since, on.until)
    assert before.since == until.since == 0
    assert after.until > ms(now)
    assert since.until > ms(now)
    within = read(f"on {named}{part}", now, zone)
    assert on.since <= within.since < within.until <= on.until


@settings(max_examples=150, deadline=None)
@given(when=asked(), backs=st.tuples(st.integers(0, 500), st.integers(0, 500)))
def test_between_holds_both_days_and_all_in_between(
    when: tuple[datetime, ZoneInfo], backs: tuple[int, int]
) -> None:
    now, zone = when
    late, early = (now.date() - timedelta(days=back) for back in sorted(backs))
    for text in (f"between {early} and {late}", f"from {early} to {late}", f"between {late} and {early}"):
        time = read(text, now, zone)
        assert time.since <= noon(early, zone) <= noon(late, zone) < time.until
        assert time.until - time.since <= (late - early).days * 86_400_000 + 26 * 3_600_000


@settings(max_examples=150, deadline=None)
@given(
    when=asked(),
    number=NUMBERS,
    unit=st.sampled_from(["hour", "day", "week", "month", "year"]),
    which=st.sampled_from(["last", "past", "previous"]),
)
def test_the_last_so_many_end_now_and_are_so_long(
    when: tuple[datetime, ZoneInfo], number: int, unit: str, which: str
) -> None:
    now, zone = when
    time = read(f"in the {which} {number} {unit}s", now, zone)
    least = {"hour": 1 / 24, "day": 1, "week": 7, "month": 28, "year": 365}[unit] * number
    assert time.until == ms(now) + 1
    if least < 10_000:  # nothing is older than 1971
        assert time.until - time.since >= least * 86_400_000 - 2 * 3_600_000
    assert time.until - time.since <= (least * 1.11 + 4) * 86_400_000


@settings(max_examples=150, deadline=None)
@given(when=asked(), number=st.integers(1, 60), unit=st.sampled_from(["day", "week"]))
def test_so_long_ago_holds_that_day(when: tuple[datetime, ZoneInfo], number: int, unit: str) -> None:
    now, zone = when
    day = now.date() - timedelta(days=number * (7 if unit == "week" else 1))
    for text in (f"{number} {unit}s ago", f"vor {number} {unit}s"):
        time = read(text, now, zone)
        assert time.since <= noon(day, zone) < time.until


@settings(max_examples=150, deadline=None)
@given(when=asked())
def test_near_days_weekdays_and_months_are_what_the_calendar_says(when: tuple[datetime, ZoneInfo]) -> None:
    now, zone = when
    today = now.date()
    for text, back in (("yesterday", 1), ("the day before yesterday", 2), ("gestern", 1), ("昨天", 1)):
        time = read(text, now, zone)
        assert time.since <= noon(today - timedelta(days=back), zone) < time.until
        assert time.until <= ms(now)
    for text in ("today", "earlier today", "this week", "this month", "this year", "the last day"):
        time = read(text, now, zone)
        assert time.since <= ms(now) < time.until
    for number, name in enumerate(DAYS):
        time = read(f"on {name}", now, zone)
        day = datetime.fromtimestamp((time.since + 43_200_000) / 1000, zone).date()
        assert (day.weekday(), 1 <= (today - day).days <= 7) == (number, True)
    for number, name in enumerate(MONTHS, 1):
        time = read(f"in {name}", now, zone)
        year = today.year - (number > today.month)
        assert time.since <= noon(date(year, number, 1), zone)
        assert noon(date(year, number, 28), zone) < time.until
        week = read(f"in the first week of {name}", now, zone)
        assert week.since == time.since
        assert noon(date(year, number, 7), zone) < week.until < noon(date(year, number, 8), zone) + 1
    week, month = read("last week", now, zone), read("last month", now, zone)
    monday = today - timedelta(days=today.weekday() + 7)
    assert week.since <= noon(monday, zone) < noon(monday + timedelta(days=6), zone) < week.until
    last = today.replace(day=1) - timedelta(days=1)
    assert month.since <= noon(last.replace(day=1), zone) < noon(last, zone) < month.until


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 7, 1), 24)]
)
def test_a_day_is_as_long_as_the_clocks_make_it(day: date, hours: int) -> None:
    time = time_of(f"on {day}", NOW, BERLIN)
    assert time.until - time.since == hours * 3_600_000


def test_a_day_that_a_zone_left_out_is_no_time() -> None:
    apia = ZoneInfo("Pacific/Apia")  # 30 December 2011 was skipped there
    assert time_of("on 2011-12-30", NOW, apia)[:2] == (0, 0)
    around = time_of("between 2011-12-29 and 2011-12-31", NOW, apia)
    assert around.until - around.since == 2 * 86_400_000


def test_without_a_zone_it_is_the_systems_with_its_own_summer(monkeypatch: pytest.MonkeyPatch) -> None:
    import time as system

    if not hasattr(system, "tzset"):
        pytest.skip("no tzset here")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    system.tzset()
    try:
        for text in ("on 2026-07-01", "on 2026-12-01", "last month", "since March"):
            assert time_of(text, NOW, None) == time_of(text, NOW, BERLIN)
    finally:
        monkeypatch.undo()
        system.tzset()

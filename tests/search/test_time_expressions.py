"""Time expressions: every form, its direction, in every zone and on every day."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.search.time_expressions import DAYS, MONTHS, TimeExpression, read_time

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


def told(time: TimeExpression, zone: ZoneInfo = BERLIN) -> tuple[str, str]:
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
        ("earlier today", "2026-11-18", "now"),
        ("earlier this week", "2026-11-16", "now"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("last weekend", "2026-11-14", "2026-11-16"),
        ("3 days ago", "2026-11-15", "2026-11-16"),
        ("a few days ago", "2026-11-14", "2026-11-17"),
        ("2 hours ago", "2026-11-18 12:00", "2026-11-18 14:00"),
        ("the week after May 8, 2025", "2025-05-08", "2025-05-16"),
        ("on 24 Dec", "2025-12-24", "2025-12-25"),
        ("the cake made recently in May 2025", "2025-05-01", "2025-06-01"),
        ("visits in the last year", "2025-11-18", "now"),
        ("this morning", "2026-11-18", "now"),
        ("last night", "2026-11-17", "now"),
        ("an hour ago", "2026-11-18 13:00", "now"),
        ("we met the 15th and 16th of May", "2026-05-15", "2026-05-17"),
        ("3–8 June", "2026-06-03", "2026-06-09"),
        ("the week before last Friday", "2026-11-06", "2026-11-14"),
        ("in the past few days", "2026-11-15", "now"),
        ("what did we do Friday", "2026-11-13", "2026-11-14"),
        ("What did I do Tuesday?", "2026-11-17", "2026-11-18"),
        ("what did we do Monday to Wednesday", "2026-11-09", "2026-11-12"),
        ("on Friday, November 13", "2026-11-13", "2026-11-14"),
        ("on Friday, 13 November 2026", "2026-11-13", "2026-11-14"),
        ("on Fri Nov 13", "2026-11-13", "2026-11-14"),
        ("Nov 14 (Sat)", "2026-11-14", "2026-11-15"),
        ("on Friday the 13th", "2026-11-13", "2026-11-14"),
        ("Dec 2025", "2025-12-01", "2026-01-01"),
    ],
)
def test_a_time_has_its_length_and_its_direction(text: str, since: str, until: str) -> None:
    assert told(read_time(text, NOW, BERLIN)) == (since, until)


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
        assert read_time(said, NOW, BERLIN) == (0, 0, said, said)


def test_the_words_that_say_it_are_taken_out_with_their_direction() -> None:
    for text in ("login fix prior to 3 June", "login fix since last week", "login fix on Friday"):
        assert read_time(text, NOW, BERLIN).rest.split() == ["login", "fix"]
    dated = read_time("login fix older than 2026-02-03", NOW, BERLIN)
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


def read(text: str, now: datetime, zone: ZoneInfo) -> TimeExpression:
    return read_time(f"what did we do {text}", ms(now), zone)


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
    time = read_time(text, ms(now), zone)
    assert (time.since, time.until) == (0, 0) or 0 <= time.since < time.until


NAMED = [
    "yesterday", "on Friday", "last Monday", "last week", "this month", "on 2026-03-04", "3 days ago", "in March",
    "since March", "before 3 June", "between March and May", "in March 2019", "in the past few days", "in 1999",
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    when=asked(),
    named=st.sampled_from(NAMED),
    before=st.sampled_from(["", "hey, ", "please tell me ", "so, the parser: "]),
    after=st.sampled_from(["", "?", " please", " again", " in the project", ", I wonder"]),
)
def test_fillers_around_a_time_change_nothing(
    when: tuple[datetime, ZoneInfo], named: str, before: str, after: str
) -> None:
    now, zone = when
    alone, amid = (read_time(text, ms(now), zone) for text in (named, f"{before}{named}{after}"))
    assert alone.until > 0
    assert amid[:2] == alone[:2]


def test_29_february_is_the_latest_that_there_was() -> None:
    zone = ZoneInfo("Europe/Berlin")
    for text in ("what did we do on February 29", "on 29 Feb"):
        found = read(text, datetime(2029, 11, 16, 12, tzinfo=zone), zone)
        assert datetime.fromtimestamp(found.since / 1000, zone).date() == date(2028, 2, 29), text


@settings(max_examples=150, deadline=None)
@given(when=asked(), back=st.integers(2, 300))
def test_a_date_holds_its_day_and_no_other_and_directions_part_time_at_it(
    when: tuple[datetime, ZoneInfo], back: int
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


@settings(max_examples=150, deadline=None)
@given(when=asked(), backs=st.tuples(st.integers(0, 500), st.integers(0, 500)))
def test_between_holds_both_days_and_all_in_between(
    when: tuple[datetime, ZoneInfo], backs: tuple[int, int]
) -> None:
    now, zone = when
    late, early = (now.date() - timedelta(days=back) for back in sorted(backs))
    for text in (f"between {early} and {late}", f"from {early} to {late}", f"between {late} and {early}"):
        time = read(text, now, zone)
        assert time.since <= noon(early, zone)
        assert min(noon(late, zone), ms(now)) < time.until
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
    time = read(f"{number} {unit}s ago", now, zone)
    assert time.since <= noon(day, zone) < time.until


@settings(max_examples=150, deadline=None)
@given(when=asked())
def test_near_days_weekdays_and_months_are_what_the_calendar_says(when: tuple[datetime, ZoneInfo]) -> None:
    now, zone = when
    today = now.date()
    for text, back in (("yesterday", 1), ("the day before yesterday", 2)):
        time = read(text, now, zone)
        assert time.since <= noon(today - timedelta(days=back), zone) < time.until
        assert time.until <= ms(now)
    for text in ("today", "earlier today", "this week", "this month", "this year"):
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
        assert min(noon(date(year, number, 28), zone), ms(now)) < time.until
    week, month = read("last week", now, zone), read("last month", now, zone)
    monday = today - timedelta(days=today.weekday() + 7)
    assert week.since <= noon(monday, zone) < noon(monday + timedelta(days=6), zone) < week.until
    last = today.replace(day=1) - timedelta(days=1)
    assert month.since <= noon(last.replace(day=1), zone) < noon(last, zone) < month.until


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 7, 1), 24)]
)
def test_a_day_is_as_long_as_the_clocks_make_it(day: date, hours: int) -> None:
    time = read_time(f"on {day}", NOW, BERLIN)
    assert time.until - time.since == hours * 3_600_000


def test_a_day_that_a_zone_left_out_is_no_time() -> None:
    apia = ZoneInfo("Pacific/Apia")  # 30 December 2011 was skipped there
    assert read_time("on 2011-12-30", NOW, apia)[:2] == (0, 0)
    around = read_time("between 2011-12-29 and 2011-12-31", NOW, apia)
    assert around.until - around.since == 2 * 86_400_000


def test_without_a_zone_it_is_the_systems_with_its_own_summer(monkeypatch: pytest.MonkeyPatch) -> None:
    import time as system

    if not hasattr(system, "tzset"):
        pytest.skip("no tzset here")
    monkeypatch.setenv("TZ", "Europe/Berlin")
    system.tzset()
    try:
        for text in ("on 2026-07-01", "on 2026-12-01", "last month", "since March"):
            assert read_time(text, NOW, None) == read_time(text, NOW, BERLIN)
    finally:
        monkeypatch.undo()
        system.tzset()

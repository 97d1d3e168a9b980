"""Surrogates of dates: all of a document shifted by one number of days, each written as it was."""

import datetime
import re
from collections.abc import Sequence

from phidrift.deidentification.surrogates.draw import Draw

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAY = (
    r"(?P<weekday>mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?|sat(?:urday)?"
    r"|sun(?:day)?)"
)
_FIRST = rf"(?:{_WEEKDAY}(?:\.?,\s*|\.?\s+)(?:the\s+)?)?"
_DAY = r"(?P<day>\d{1,2})(?P<ordinal>st|nd|rd|th)?"
_YEAR = r"['’]?(?P<year>\d{4}|\d{2})"
# Tried in this order: the first that fits and names a day that exists. A hyphen may also join the two ends of a range
# ("March 14-16", "3-5"): it stands before a year only where one stands before the month too, or where no day does.
_FORMS = [
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        _FIRST + r"(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})",
        r"(?P<year>(?:19|20)\d{2})(?P<month>\d{2})(?P<day>\d{2})",
        _FIRST + r"(?P<one>\d{1,2})(?P<sign>[-/.])\s?(?P<two>\d{1,2})(?P=sign)\s?(?P<year>\d{4}|\d{2})",
        _FIRST + r"(?P<one>\d{1,2})(?P<sign>[/.])\s?(?P<two>\d{1,2})",
        r"(?P<month>\d{1,2})[-/.](?P<year>\d{4}|00|3[2-9]|[4-9]\d)",  # 02/30 is a day that there isn't
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})",
        _FIRST + _MONTH + r"(?:\s*|-)" + _DAY + r"(?:(?:\s*,\s*|\s+)" + _YEAR + r")?",
        _FIRST + _DAY + "-" + _MONTH + "-" + _YEAR,
        _FIRST + _DAY + r"(?:\s*(?:of\s+)?|-)" + _MONTH + r"(?:\s*,?\s*" + _YEAR + r")?",
        _MONTH + r"(?:\s+of\s+|\s*,\s*|\s+|-)['’]?(?P<year>\d{4}|(?<=['’])\d{2})",
        _MONTH,
        _WEEKDAY + "s?",
        r"(?P<year>1[89]\d{2}|20\d{2})",
    )
]
_EDGES = re.compile(r"([\s.,;:'’\"“”()\[\]-]*)(.*?)([\s.,;:'’\"“”()\[\]-]*)", re.DOTALL)
_IN_ORDER = re.compile(
    _FIRST + r"(?P<one>\d{1,2})(?P<sign>[-/])\s?(?P<two>\d{1,2})(?:(?P=sign)\s?(?P<year>\d{4}|\d{2}))?",
    re.IGNORECASE | re.ASCII,
)
_YEARS_BACK_AND_FORTH = (400, 1825)  # days
_PIVOT = 50  # two digits from here on are of the 20th century


def day_offset(draw: Draw) -> int:
    """Days by which all dates of a document are shifted: 400 to 1,825 back or forth.

    No whole number of weeks, nor within 20 days of whole years: so every weekday, month and day without a year changes.
    """
    low, high = _YEARS_BACK_AND_FORTH
    able = [days for days in range(low, high + 1) if days % 7 and 20 <= days % 365 <= 345]
    days = able[draw("days", len(able))]
    return days if draw("forth or back", 2) else -days


def shifted_dates(surfaces: Sequence[str], days: int) -> list[str | None]:
    """The dates of a document, each later by `days` and in the form that it had; None for what reads as no date.

    Dates with a year keep the days between them. A date without one is taken to be of the first year that the document
    states; a month without a day to be its 15th; a year alone to be its 2 July. 3/4 is the 4th of March, unless full
    stops part it (4.3.), or more dates of the document can only have the day first (14/3) than the month (3/14). A
    date that has but one reading is read that way whatever the others are. A range (14-16 March, 3-5) is no date.

    Args:
        surfaces: in text order; English names of months and weekdays.
        days: see `day_offset`.
    """
    cores = [_EDGES.fullmatch(surface) for surface in surfaces]
    day_first = sum(_only_order(core[2]) for core in cores if core is not None) > 0
    stated = (_stated_year(core[2]) for core in cores if core is not None)
    year = next((year for year in stated if year is not None), 2001)
    found = []
    for core in cores:
        new = None if core is None else _shifted(core[2], days, year, day_first)
        found.append(None if core is None or new in (None, core[2]) else f"{core[1]}{new}{core[3]}")
    return found


def _only_order(core: str) -> int:
    """1 for a date that can only have the day first, -1 the month, 0 for others."""
    match = _IN_ORDER.fullmatch(core)
    if match is None or (match["sign"] == "-" and not match["year"]):  # 14-3 may be a range
        return 0
    one, two = int(match["one"]), int(match["two"])
    return int(12 < one <= 31 and 1 <= two <= 12) - int(1 <= one <= 12 < two <= 31)


def _stated_year(core: str) -> int | None:
    for form in _FORMS:
        match = form.fullmatch(core)
        year = match and match.groupdict().get("year")
        if year and len(year) == 4:
            return int(year)
    return None


def _shifted(core: str, days: int, assumed: int, day_first: bool) -> str | None:
    for form in _FORMS:
        match = form.fullmatch(core)
        if match:
            try:
                return _moved(match, days, assumed, day_first)
            except ValueError:  # no such day; perhaps another form has one
                continue
            except OverflowError:  # beyond the years 1 to 9999
                return None
    return None


def _moved(match: re.Match[str], days: int, assumed: int, day_first: bool) -> str:
    fields = {name: text for name, text in match.groupdict().items() if text is not None}
    day_name, month_name = "day", "month"
    if "one" in fields:
        first = day_first or fields["sign"] == "."
        if int(fields["two" if first else "one"]) > 12:  # no month
            first = not first
        day_name, month_name = ("one", "two") if first else ("two", "one")
    new: dict[str, str] = {}
    if "weekday" in fields:
        number = _number(fields["weekday"], _DAYS)
        new["weekday"] = _like(_DAYS[(number + days) % 7], fields["weekday"], full=len(_DAYS[number]))
    if fields.keys() != {"weekday"}:
        day = int(fields[day_name]) if day_name in fields else None
        month = int(fields[month_name]) if month_name in fields else None
        if "name" in fields:
            month = _number(fields["name"], _MONTHS) + 1
        date = _date(fields.get("year"), month, day, assumed) + datetime.timedelta(days)
        padded = _is_padded(fields, day_name, month_name)
        new[day_name], new[month_name] = (
            f"{value:02d}" if padded and len(fields.get(name, "")) == 2 else str(value)
            for name, value in ((day_name, date.day), (month_name, date.month))
        )
        new["name"] = _like(
            _MONTHS[date.month - 1],
            fields.get("name", ""),
            full=len(_MONTHS[(month or 1) - 1]),
        )
        new["ordinal"] = _ordinal(date.day, fields.get("ordinal", ""))
        new["year"] = f"{date.year:04d}"[-len(fields.get("year", "0000")) :]
    return _replaced(match, {name: new[name] for name in fields if name in new})


def _date(year: str | None, month: int | None, day: int | None, assumed: int) -> datetime.date:
    number = assumed if year is None else int(year)
    if year is not None and len(year) == 2:
        number += 1900 if number >= _PIVOT else 2000
    if month is None:
        return datetime.date(number, 7, 2)
    if year is None and (month, day) == (2, 29):
        number = 2004
    return datetime.date(number, month, 15 if day is None else day)


def _is_padded(fields: dict[str, str], day: str, month: str) -> bool:
    """Whether days and months below ten have a zero: one shows it, or the year comes first."""
    numbers = [fields[name] for name in (day, month) if name in fields]
    year_first = "year" in fields and "one" not in fields and "name" not in fields
    return year_first or any(number.startswith("0") for number in numbers)


def _number(name: str, names: Sequence[str]) -> int:
    return next(number for number, each in enumerate(names) if each.startswith(name.casefold()[:3]))


def _like(name: str, like: str, *, full: int) -> str:
    """A name in the case of another and, unless that is written in full (`full` letters), cut to three letters."""
    name = name if len(like) >= full else name[:3]
    if like.isupper():
        return name.upper()
    return name if like.islower() else name.capitalize()


def _ordinal(day: int, like: str) -> str:
    ending = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return ending.upper() if like.isupper() else ending


def _replaced(match: re.Match[str], new: dict[str, str]) -> str:
    text, done, parts = match[0], 0, []
    for name in sorted(new, key=match.start):
        parts += [text[done : match.start(name)], new[name]]
        done = match.end(name)
    return "".join([*parts, text[done:]])

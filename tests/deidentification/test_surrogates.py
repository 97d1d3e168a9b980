"""Surrogates: consistent inside a document, independent between documents, and never what they stand for."""

import datetime
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phidrift.deidentification.redaction import Mark
from phidrift.deidentification.surrogates.addresses import address_surrogates
from phidrift.deidentification.surrogates.contacts import contact_surrogates
from phidrift.deidentification.surrogates.dates import day_offset, shifted_dates
from phidrift.deidentification.surrogates.document import document_surrogates
from phidrift.deidentification.surrogates.draw import document_draw
from phidrift.deidentification.surrogates.names import person_surrogates

DRAW = document_draw(b"secret", 1)
OFFSETS = [day_offset(document_draw(b"secret", number)) for number in range(300)]


def test_one_person_stays_one() -> None:
    mentions = [
        "Dr. Anna Weber",
        "Weber",
        "WEBER",
        "A. Weber",
        "Anna",
        "anna",
        "Weber's",
        "Weber, Anna",
        "A. W.",
    ]
    found = person_surrogates(mentions, DRAW)
    title, given_name, surname = (found[0] or "").split()
    assert title == "Dr."
    assert found == [
        f"Dr. {given_name} {surname}",
        surname,
        surname.upper(),
        f"{given_name[0]}. {surname}",
        given_name,
        given_name.lower(),
        f"{surname}'s",
        f"{surname}, {given_name}",
        f"{given_name[0]}. {(found[8] or '')[3]}.",
    ]
    assert not {given_name.casefold(), surname.casefold()} & {"anna", "weber"}
    assert given_name[0] != "A"
    assert surname[0] != "W"


def test_what_is_no_name_around_a_name() -> None:
    found = person_surrogates(
        [
            "Deanna Cruz, M.D.",
            "Ludwig van der Berg",
            "Berg",
            "Müller-Weber",
            "Mu\u0308ller",
            "O'Brien",
            "李明",
        ],
        DRAW,
    )
    assert re.fullmatch(r"[A-Z]\w+ [A-Z]\w+, M\.D\.", found[0] or "")
    assert re.fullmatch(r"[A-Z]\w+ [A-Z]\w+", found[1] or "")  # the particles tell where a name is from
    assert (found[1] or "").endswith(f" {found[2]}")
    assert (found[3] or "").split("-")[0] == found[4]  # one name, however its umlaut is written
    assert all(re.fullmatch(r"[A-Z]\w+", each or "") for each in found[5:])


@pytest.mark.parametrize("sign", "'’‘ʼ")
def test_apostrophes_are_one(sign: str) -> None:
    name, whose, upper = person_surrogates([f"O{sign}Brien", f"O'Brien{sign}s", f"O{sign}BRIEN"], DRAW)
    (plain,) = person_surrogates(["O'Brien"], DRAW)
    assert (name, whose, upper) == (plain, f"{plain}{sign}s", (plain or "").upper())
    assert address_surrogates([f"O{sign}Brien Road"], DRAW) == address_surrogates(["O'Brien Road"], DRAW)


@pytest.mark.parametrize("mention", ["Dr.", "MRN 98053", "", "-", "[Weber]", "Ana ☎", "Weber2"])
def test_what_reads_as_no_name_has_no_surrogate(mention: str) -> None:
    assert person_surrogates([mention], DRAW) == [None]


def test_different_persons_stay_different() -> None:
    names = [f"{a}{b}ora" for a in "BCDFGHKLMN" for b in ("a", "e", "i", "o")]
    found = person_surrogates(names, DRAW)
    assert len(set(found)) == len(names)
    assert not {(each or "").casefold() for each in found} & {name.casefold() for name in names}


def test_initials_change_with_the_names() -> None:
    names = [
        f"{letter}{ending}"
        for letter in string.ascii_uppercase
        for ending in ("ebora", "elwin", "ister", "onas")
    ]
    for name, new in zip(names, person_surrogates(names, DRAW), strict=True):
        assert (new or name)[0] != name[0]


def test_every_offset_changes_what_has_no_year() -> None:
    for days in OFFSETS:
        assert 400 <= abs(days) <= 1825
        assert None not in shifted_dates(["Monday", "3/14", "14 Mar", "March", "2019", "Mar 2019"], days)
    assert min(OFFSETS) < 0 < max(OFFSETS)


def test_a_reserved_number_gets_another() -> None:
    for number in range(300):  # by chance alone, three of them would keep it
        found = contact_surrogates(["555-0123", "user1234@example.org"], document_draw(b"secret", number))
        assert None not in found
        assert found[0] != "555-0123"


def test_documents_are_independent_and_a_secret_repeats_them() -> None:
    found = {person_surrogates(["Weber"], document_draw(b"secret", number))[0] for number in range(50)}
    assert len(found) > 40  # of some 950 names
    assert len(set(OFFSETS)) > 200  # of some 2,000 offsets
    text, marks = "Ana on 3/14/2019", [Mark(0, 3, "PERSON", 1.0), Mark(7, 16, "DATE", 1.0)]
    assert document_surrogates(text, marks, b"a", 1) == document_surrogates(text, marks, b"a", 1)
    assert document_surrogates(text, marks, b"a", 1) != document_surrogates(text, marks, b"b", 1)


def test_dates_are_written_as_they_were() -> None:
    # By hand: 14 March 2019 is a Thursday; 400 days later, since 2020 is a leap year, is 17 April 2020, a Friday.
    dates = {
        "03/14/2019": "04/17/2020",
        "3/14/2019": "4/17/2020",
        "14.3.2019": "17.4.2020",
        "14.03.2019": "17.04.2020",
        "2019-03-14": "2020-04-17",
        "20190314": "20200417",
        "03/14/19": "04/17/20",
        "March 14, 2019": "April 17, 2020",
        "MARCH 14TH, 2019": "APRIL 17TH, 2020",
        "Mar. 14 2019": "Apr. 17 2020",
        "14 Mar 2019": "17 Apr 2020",
        "14-mar-2019": "17-apr-2020",
        "14th of March, 2019": "17th of April, 2020",
        "Thursday, March 14, 2019": "Friday, April 17, 2020",
        "Thu 3/14": "Fri 4/17",  # of the document's first year, 2019
        "14 Mar": "17 Apr",
        "3/14": "4/17",
        "Mar 2019": "Apr 2020",  # 15 March, hence 18 April
        "Mar '19": "Apr '20",
        "03/2019": "04/2020",
        "2019-03": "2020-04",
        "March": "April",
        "Monday": "Tuesday",  # 400 = 57 weeks and a day
        "Mondays": "Tuesdays",
        "2019": "2020",  # 2 July 2019, hence 5 August 2020
        "(3/14/2019),": "(4/17/2020),",
    }
    assert dict(zip(dates, shifted_dates(list(dates), 400), strict=True)) == dates


def test_a_date_that_can_only_have_the_day_first_decides_for_all() -> None:
    # 3 April 2019 + 400 days is 7 May 2020; 14 March 2019 as above. Alone, 03/04 is 4 March, hence 7 April.
    assert shifted_dates(["03/04/2019", "14/03/2019"], 400) == ["07/05/2020", "17/04/2020"]
    assert shifted_dates(["03/04/2019"], 400) == ["04/07/2020"]


@pytest.mark.parametrize(
    "surface",
    [
        "1990s",
        "March 3-5",
        "02/30",
        "13/25",
        "3-14",
        "last week",
        "3/14/2019 10:30",
        "",
        "30/30/2019",
        "12/31/9999",
        "'19",
        "14. März",
    ],
)
def test_what_reads_as_no_date_has_no_surrogate(surface: str) -> None:
    assert shifted_dates([surface], 400) == [None]


def test_a_date_with_one_reading_is_read_that_way_whatever_the_others_are() -> None:
    # 25 December 2019 + 400 days is 28 January 2021: 366 days to 25 December 2020, and 34 more.
    assert shifted_dates(["12/25", "25/12/2019"], 400) == ["1/28", "28/1/2021"]
    assert shifted_dates(["25/12", "12/25/2019"], 400) == ["28/1", "1/28/2021"]
    assert shifted_dates(["12/25", "14.3.2019"], 400) == ["1/28", "17.4.2020"]
    # 3/4 is 4 March (7 April) on a tie, and 3 April (7 May) where the day comes first more often. 3-14 is no witness.
    assert shifted_dates(["3/4/2019", "14/3/2019", "3/14/2019"], 400)[0] == "4/7/2020"
    assert shifted_dates(["3/4/2019", "14/3/2019", "Thu 14/3", "3/14/2019"], 400)[0] == "7/5/2020"
    assert shifted_dates(["3/4/2019", "14-3"], 400) == ["4/7/2020", None]


def test_a_year_stands_after_a_hyphen_only_between_hyphens() -> None:
    dates = {"14-Mar-19": "17-Apr-20", "14Mar2019": "17Apr2020", "14 March, 2019": "17 April, 2020"}
    assert dict(zip(dates, shifted_dates(list(dates), 400), strict=True)) == dates
    ranges = ["March 14-16", "April 19-17", "May 3 - 10", "14 March-16", "14 March - 16", "Mon 3-5", "3. - 5"]
    assert shifted_dates(ranges, 400) == [None] * len(ranges)


ENDS = (
    *("%m/%d/%Y", "%d.%m.%Y", "%B %d, %Y", "%d %b %Y", "%Y%m%d", "%m/%d", "%B %d", "%d %b", "%d", "%B", "%A"),
    "%Y",
)


@given(
    st.sampled_from(OFFSETS),
    st.dates(datetime.date(1950, 1, 1), datetime.date(2040, 1, 1)),
    st.integers(1, 400),
    st.sampled_from([*((form, form) for form in ENDS), ("%B %d", "%d"), ("%d", "%d %B"), ("%d %b", "%d")]),
    st.sampled_from(["-", "–", "—", " - ", " – ", "- ", " to ", " through ", "/ to "]),
)
def test_a_range_is_masked(
    days: int, start: datetime.date, length: int, forms: tuple[str, str], between: str
) -> None:
    end = start + datetime.timedelta(length)
    assert shifted_dates([f"{start.strftime(forms[0])}{between}{end.strftime(forms[1])}"], days) == [None]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.integers(1, 31).map(str),
            st.sampled_from(["March", "Mar", "May", "2019", "19", "3rd", "Monday", "of", "'19"]),
            st.sampled_from(["-", "/", ".", " ", ", ", " - "]),
        ),
        min_size=1,
        max_size=6,
    ).map("".join)
)
def test_a_shifted_date_is_never_partly_the_old_one(surface: str) -> None:
    every = [shifted_dates([surface], days)[0] for days in OFFSETS[:40]]
    found = [re.findall(r"\d+|[A-Za-z]+", each) for each in every if each is not None]
    # Over many offsets each number and name becomes many: none is merely handed on.
    for place, old in enumerate(re.findall(r"\d+|[A-Za-z]+", surface) if found else []):
        assert old in ("of", "rd") or any(each[place] != old for each in found)


FORMS = ("%m/%d/%Y", "%d.%m.%Y", "%Y-%m-%d", "%B %d, %Y", "%d %b %Y", "%Y%m%d")
DAYS = st.dates(datetime.date(1900, 1, 1), datetime.date(2090, 1, 1))


@given(st.lists(st.tuples(DAYS, st.sampled_from(FORMS)), min_size=2, max_size=6), st.sampled_from(OFFSETS))
def test_the_days_between_dates_stay(dates: list[tuple[datetime.date, str]], days: int) -> None:
    found = shifted_dates([date.strftime(form) for date, form in dates], days)
    for (date, form), new in zip(dates, found, strict=True):
        # From "May" one can't see whether months are written in full: what follows it then is.
        form = form.replace("%b", "%B") if date.month == 5 else form
        assert datetime.datetime.strptime(new or "", form).date() == date + datetime.timedelta(days)


@given(
    st.sampled_from(OFFSETS),
    DAYS,
    st.sampled_from([*FORMS, "%m/%d", "%d %b", "%B %Y", "%A", "%a", "%B", "%m/%Y", "%y"]),
)
def test_no_date_stays(days: int, date: datetime.date, form: str) -> None:
    surface = date.strftime(form)
    assert shifted_dates([surface], days) != [surface]


def test_contacts_are_in_reserved_ranges() -> None:
    surfaces = [
        "617-555-0123",
        "(617) 555-0123",
        "6175550123",
        "+1 617 555 0123",
        "555-0123",
        "Tel: 617.555.0100 x12",
    ]
    found = [each or "" for each in contact_surrogates(surfaces, DRAW)]
    area, number = found[0][:3], found[0][-4:]
    assert re.fullmatch(r"01\d\d", number)
    assert area != "617"
    # One number, however it is written.
    assert found[:4] == [
        f"{area}-555-{number}",
        f"({area}) 555-{number}",
        f"{area}555{number}",
        f"+1 {area} 555 {number}",
    ]
    assert re.fullmatch(r"555-01\d\d", found[4])
    assert found[4] != "555-0123"
    assert re.fullmatch(r"Tel: \d{3}\.555\.01\d\d x\d\d", found[5])
    # No reserved number has that layout.
    assert re.fullmatch(r"\d{3}-555-01\d\d", contact_surrogates(["+49 30 1234567"], DRAW)[0] or "")
    mails = contact_surrogates(["ana@example.com", "Ana@Example.com", "<b@example.com>"], DRAW)
    assert mails[0] == mails[1]
    assert re.fullmatch(r"user\d{4}@example\.org", mails[0] or "")
    assert re.fullmatch(r"<user\d{4}@example\.org>", mails[2] or "")
    webs = contact_surrogates(["https://www.example.com/ana?x=1", "example.com"], DRAW)
    assert re.fullmatch(r"https://www\.example\.org/\d{4}", webs[0] or "")
    assert re.fullmatch(r"example\.org/\d{4}", webs[1] or "")
    assert contact_surrogates(["@ana", "x1234", "pager 12345", "", "Ana"], DRAW) == [None] * 5


def test_different_contacts_stay_different() -> None:
    found = contact_surrogates([f"617-555-01{number:02d}" for number in range(60)], DRAW)
    assert len({(each or "")[-2:] for each in found}) == 60


def test_addresses_are_invented_part_by_part() -> None:
    surfaces = [
        "12 Main Street, Elmtown, IL 62701",
        "Elmtown",
        "ELMTOWN",
        "Elmtown Memorial Hospital",
        "P.O. Box 12",
    ]
    found = [each or "" for each in address_surrogates(surfaces, DRAW)]
    match = re.fullmatch(r"\d+ [A-Z][a-z]+ Street, ([A-Z][a-z]+), ([A-Z]{2}) 000\d\d", found[0])
    assert match
    assert match[2] != "IL"
    assert found[1:3] == [match[1], match[1].upper()]
    assert re.fullmatch(r"[A-Z][a-z]+ Hospital", found[3])
    assert re.fullmatch(r"PO Box \d+", found[4])
    assert address_surrogates(["-", ""], DRAW) == [None, None]


NAMES = st.text(string.ascii_letters + "äéÖñ '-.,", max_size=30)
ANYTHING = st.one_of(
    NAMES,
    st.text(max_size=20),
    st.text("0123456789-/. ()", max_size=16),
    st.from_regex(r"[0-9]{1,3} [A-Z][a-z]{1,6} St, [A-Z][a-z]{1,8}, (MA|IL) [0-9]{5}", fullmatch=True),
    st.sampled_from(
        ["Dr. Weber", "555-0123", "00012", "Fernfield", "user1234@example.org", "example.org/1000", "IN"]
    ),
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["PERSON", "DATE", "CONTACT", "ADDRESS", "OTHER"]), ANYTHING), max_size=6
    ),
    st.integers(0, 5),
)
def test_no_surrogate_is_what_it_stands_for(surfaces: list[tuple[str, str]], number: int) -> None:
    text, marks = "", []
    for label, surface in surfaces:
        marks.append(Mark(len(text), len(text) + len(surface), label, 1.0))
        text += surface
    found = document_surrogates(text, marks, b"secret", number)
    assert len(found) == len(marks)
    for (label, surface), new in zip(surfaces, found, strict=True):
        assert new is None or label != "OTHER"
        assert new != surface


@settings(max_examples=300, deadline=None)
@given(NAMES)
def test_no_word_of_a_name_stays(name: str) -> None:
    (found,) = person_surrogates([name], DRAW)
    kept = {
        "dr",
        "mr",
        "mrs",
        "ms",
        "miss",
        "mx",
        "prof",
        "sir",
        "md",
        "rn",
        "phd",
        "jr",
        "sr",
        "ii",
        "iii",
        "s",
    }
    kept |= {
        "m",
        "d",
        "r",
        "n",
        "ph",
        "o",
        "drs",
        "madam",
        "doctor",
        "professor",
    }  # M.D., and R. of a surrogate
    old, new = (set(re.findall(r"[^\W\d_]+", each.casefold())) for each in (name, found or ""))
    assert not {word for word in old & new if len(word) > 1} - kept

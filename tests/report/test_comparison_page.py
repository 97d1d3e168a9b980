"""The page of a comparison, from a result made by hand: offline, escaped, its bars and dashes by hand."""

import html.parser
import re

import pytest

from phidrift.report.comparison_page import comparison_page, times_floor

MORE, ALIKE = "higher_is_more_drift", "higher_is_more_alike"


def metric(value, floor, clear, **changes):
    return {
        "value": value,
        "interval": None if value is None else [value / 2, 2 * value],
        "floor": floor,
        "reference": None,
        "candidate": None,
        "family": "lexical",
        "direction": MORE,
        "unit": "bit",
        "clear": clear,
        "reason": None,
        "value_full": value,
        **changes,
    }


METRICS = {
    "twice": metric(0.5, 0.25, True),  # 2 of 5 times: 64 of 160 pixels
    "half": metric(0.125, 0.25, False),  # 16 pixels
    "far": metric(25.0, 1.0, True),  # 25 times, cut at 5: 160 pixels
    "overlap": metric(0.2, 0.5, True, direction=ALIKE, unit="share"),  # 0.5 / 0.2 = 2.5 times: 80 pixels
    "no_value": metric(None, None, None, reason="the corpus is <empty> & blank"),
    "no_floor": metric(0.75, None, None, reason="no floor of the candidate: too few", family="semantic"),
    "floor_of_0": metric(0.4, 0.0, True, family="structural"),
    "nothing_shared": metric(0.0, 0.3, True, direction=ALIKE, family="structural"),
    "both_0": metric(0.0, 0.0, False, family="structural"),
    "own": metric(2.0, 1.0, True, reference=12.345, candidate=10.345, family="structural"),
    "unmatched_missing": metric(2.0, 1.0, True, value_full=None, reason="half coincide", family="semantic"),
}


def result(metrics=METRICS, **changes):
    side = {"name": "notes", "format": "jsonl", "stand_in": False, "restricted": False, "documents": 7}
    side |= {"tokens": 70, "sentences": 14, "lm_tokens": 0, "drawn": {"tokens": 30.0}}
    sample = {"tokens": 30, "sentences": 6, "lm_tokens": None, "repeats": 40, "floor_pairs": 39}
    sample |= {"reference": side, "candidate": {**side, "name": "made", "documents": 8}}
    whole = {"metrics": metrics, "sample": sample, "seed": 123, "versions": {"encoder": None, "lm": None}}
    return {**whole, **changes}


def page(given=None, title="Drift of a from b", notes=("One note.",), extras=("AUC 0.7",)):
    return comparison_page(given or result(), title, notes, extras)


class Read(html.parser.HTMLParser):
    """Cells of every row with a header, widths of its bars; what the page would load; unclosed elements."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.bars, self.loads, self.open = {}, {}, [], []
        self.row, self.cell = None, None
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.loads += [given[name] for name in ("src", "href", "srcset", "action") if name in given]
        if tag not in ("meta", "link"):
            self.open.append(tag)
        if tag == "tr":
            self.row = []
        if tag in ("td", "th"):
            self.cell = ""
        if tag == "span":
            width = re.fullmatch(r"width: (\d+)px", given["style"])
            self.bars[self.row[0]] = (int(width[1]), given["class"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag in ("td", "th"):
            self.row.append(" ".join(self.cell.split()))
            self.cell = None
        if tag == "tr":
            self.cells[self.row[0]] = self.row[1:]

    def handle_data(self, data):
        self.text += data
        if self.cell is not None:
            self.cell += data


def test_times_the_floor():
    found = {name: times_floor(each) for name, each in METRICS.items()}
    assert found == {
        "twice": 2,
        "half": 0.5,
        "far": 25,
        "overlap": 2.5,
        "no_value": None,
        "no_floor": None,
        "floor_of_0": None,
        "nothing_shared": None,
        "both_0": None,
        "own": 2,
        "unmatched_missing": 2,
    }


@pytest.mark.parametrize(("value", "floor"), [(0.2, 0.5), (0.5, 0.2), (0.3, 0.3)])
def test_above_1_is_clear_either_way(value, floor):
    assert (times_floor(metric(value, floor, None)) > 1) == (value > floor)
    assert (times_floor(metric(value, floor, None, direction=ALIKE)) > 1) == (value < floor)


def test_the_page_opens_offline():
    text = page()
    read = Read(text)
    assert read.open == []
    assert read.loads == ["data:,"]
    assert not re.search(r"https?:|//[a-z]|url\(|@import|<script", text, re.IGNORECASE)
    assert text == page()


def test_bars():
    bars = Read(page()).bars
    assert bars == {
        "twice": (64, "bar clear"),
        "half": (16, "bar"),
        "far": (160, "bar clear"),
        "overlap": (80, "bar clear"),
        # No ratio exists: as far as a bar goes.
        "floor_of_0": (160, "bar clear"),
        "nothing_shared": (160, "bar clear"),
        "own": (64, "bar clear"),
        "unmatched_missing": (64, "bar clear"),
    }


def test_cells():
    cells = Read(page()).cells
    assert cells["twice"] == ["0.5", "0.25 to 1", "0.25", "2", "–", "–", "0.5", "bit"]
    assert cells["far"][3] == "25"
    assert cells["own"][4:7] == ["12.3", "10.3", "2"]
    assert cells["no_value"] == ["–", "–", "–", "the corpus is <empty> & blank", "–", "–", "–", "bit"]
    assert cells["no_floor"][:4] == ["0.75", "0.375 to 1.5", "–", "no floor of the candidate: too few"]
    assert cells["floor_of_0"][2:4] == ["0", "clear"]
    assert cells["nothing_shared"][0] == "0"
    assert cells["both_0"][:4] == ["0", "0 to 0", "0", "–"]
    # A reason is never swallowed, even where there is a bar.
    assert cells["unmatched_missing"][3] == "2 half coincide"
    assert cells["unmatched_missing"][6] == "–"
    assert "None" not in Read(page()).text


def test_families_in_turn_and_each_once():
    names = list(Read(page()).cells)
    assert [n for n in names if n in ("lexical", "semantic", "structural")] == [
        "lexical",
        "semantic",
        "structural",
    ]
    assert names.index("semantic") < names.index("no_floor") < names.index("structural") < names.index("own")
    assert set(METRICS) <= set(names)


def test_corpora_their_marks_and_the_sample():
    given = result()
    given["sample"]["reference"]["stand_in"] = True
    given["sample"]["candidate"] |= {"restricted": True}
    read = Read(page(given))
    assert read.cells["reference"] == ["notes (a stand-in)", "7", "70", "14", "0"]
    assert read.cells["candidate"] == ["made (restricted)", "8", "70", "14", "0"]
    assert read.cells["a sample"] == ["", "", "30", "6", "–"]
    assert "Seed 123, 40 samples a value, 39 pairs a floor." in read.text
    assert "(a stand-in)" not in page()
    assert "(restricted)" not in page()


def test_whatever_is_said_is_escaped():
    evil = "<script>alert(1)</script>&\"'<b>"
    given = result({evil: metric(None, None, None, reason=evil, unit=evil, family=evil)})
    given["sample"]["reference"]["name"] = given["sample"]["candidate"]["name"] = evil
    text = page(given, evil, [evil], [evil])
    assert "<script" not in text
    assert "<b>" not in text
    read = Read(text)
    assert read.open == []
    # Title and heading, note, extra, family, metric, reason, unit, two names.
    assert read.text.count(evil) == 10


def test_notes_and_extras_are_shown_and_no_extras_leave_no_heading():
    text = Read(page(notes=["First.", "Second."], extras=["AUC 0.7", "p 0.01"])).text
    for line in ("First.", "Second.", "AUC 0.7", "p 0.01", "Beside the 25 metrics"):
        assert line in text
    assert "Beside" not in Read(page(extras=[])).text

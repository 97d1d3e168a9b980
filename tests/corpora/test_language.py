"""The language of a corpus from a sample of its texts."""

import csv
import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from defusedxml.ElementTree import parse

from phidrift.corpora.language import LanguageSample, languages, not_english

SHARED = Path(__file__).parents[3] / "shared" / "corpora"
ENGLISH = (
    "The patient was seen in clinic today and reports that the pain in her left knee is much better than it was two "
    "weeks ago, so we will stop the tablets and see her again in a month."
)
SPANISH = (
    "El paciente acude hoy a la consulta y refiere que el dolor de la rodilla izquierda ha mejorado mucho desde hace "
    "dos semanas, por lo que suspendemos el tratamiento y lo citamos dentro de un mes."
)
# Abbreviations, drugs and values, of 20 words or more each.
ABBREVIATED = (
    "VS: T 37.1 BP 132/84 HR 88 RR 18 SpO2 97% RA. Gen NAD. HEENT NCAT, PERRL, EOMI. CV RRR no m/r/g. Lungs CTAB.",
    "Na 138 K 4.1 Cl 102 CO2 24 BUN 18 Cr 1.1 Glu 104 WBC 7.2 Hgb 13.1 Hct 39.4 Plt 244 AST 22 ALT 19 ALP 88",
    "Metformin 500mg tab po bid\nAmlodipine 5mg tab po qd\nOmeprazole 20mg cap po qd\nGabapentin 300mg cap po tid",
    "PMH: HTN, DM2, CAD s/p CABG x3, CHF EF 35%, COPD, CKD III, GERD, OSA on CPAP, BPH, OA, hx DVT/PE, MI x 2",
    "Meds: ASA 81 mg PO daily, metoprolol 25 mg PO BID, lisinopril 10 mg PO qd, atorvastatin 40 mg qhs, KCl 20 mEq",
)


def sample(texts: Iterable[str], seed: int = 1) -> LanguageSample:
    made = LanguageSample(seed)
    for text in texts:
        made.add(text)
    return made


def test_a_small_stream_is_taken_whole_in_order_and_cut() -> None:
    long = "word " * 1000  # 5,000 characters
    assert sample([ENGLISH, long, "Short."]).texts == (ENGLISH, long[:2000])
    assert len(long[:2000]) == 2000


def test_short_texts_are_sampled_only_where_there_are_no_others() -> None:
    nineteen, twenty = " ".join(["word"] * 19), " ".join(["word"] * 20)
    assert sample([nineteen]).texts == (nineteen,)
    assert sample([nineteen, twenty, nineteen]).texts == (twenty,)
    assert sample([]).texts == ()


def test_a_long_stream_is_sampled_alike_for_a_seed_and_otherwise_for_another() -> None:
    texts = [f"{number} {ENGLISH}" for number in range(5000)]
    first = sample(texts, seed=3).texts
    assert len(first) == len(set(first)) == 200
    assert set(first) <= set(texts)
    assert sample(texts, seed=3).texts == first
    assert sample(texts, seed=4).texts != first


def test_each_text_of_a_stream_is_as_likely_to_be_sampled() -> None:
    # 200 of 1,000 texts, 100 seeds: of the first 500 texts, 100 are expected in each sample, 10,000 in all, with a
    # standard deviation of about 90 (hypergeometric, variance 40 each); 500 is more than five of these.
    early = 0
    for seed in range(100):
        early += sum(int(text) < 500 for text in sample(map(str, range(1000)), seed).texts)
    assert abs(early - 10_000) < 500


def test_languages_are_counted_most_frequent_first() -> None:
    assert languages(sample([ENGLISH, SPANISH, SPANISH])) == {"es": 2, "en": 1}
    assert list(languages(sample([ENGLISH, SPANISH, SPANISH]))) == ["es", "en"]
    assert languages(sample([])) == {}


def test_text_without_a_language_is_undetermined() -> None:
    found = languages(sample(["12 34 " * 30, "\ud800x " * 30, "", *ABBREVIATED]))
    # The empty text, and one of the abbreviated ones (words by blanks), are short, so that they aren't sampled.
    assert found == {"und": 6}


@pytest.mark.parametrize(
    ("counts", "warning"),
    [
        (
            {"es": 195, "ca": 5},
            "most of 200 sampled texts are not English (es 195, ca 5): models and stand-ins are",
        ),
        # 99 of 199 whose language is clear is under half.
        (
            {"es": 100, "en": 99, "und": 1},
            "most of 199 sampled texts are not English (es 100): models and stand-ins are",
        ),
        ({"en": 100, "es": 100}, None),
        ({"en": 200}, None),
        ({"es": 4}, None),
        ({"es": 5}, "most of 5 sampled texts are not English (es 5): models and stand-ins are"),
        ({"und": 196, "es": 4}, None),
        ({}, None),
    ],
)
def test_the_warning(counts: dict[str, int], warning: str | None) -> None:
    assert not_english(counts) == warning


def test_abbreviated_english_is_not_flagged_and_spanish_is() -> None:
    texts = list(ABBREVIATED) * 40
    random.Random(5).shuffle(texts)
    assert not_english(languages(sample(texts))) is None
    assert not_english(languages(sample([SPANISH] * 6))) is not None


@pytest.mark.skipif(not (SHARED / "meddocan").is_dir(), reason="MEDDOCAN is not here")
def test_the_real_meddocan_is_spanish() -> None:
    texts = [
        parse(path).getroot().findtext("TEXT") or "" for path in sorted((SHARED / "meddocan").glob("*.xml"))
    ]
    found = languages(sample(texts))
    assert found == {"es": 200}
    assert (not_english(found) or "").startswith("most of 200 sampled texts are not English (es 200)")


@pytest.mark.skipif(not (SHARED / "mts-dialog").is_dir(), reason="MTS-Dialog and ACI-Bench are not here")
def test_real_clinical_english_is_english() -> None:
    for path, column, least in (
        ("mts-dialog/MTS-Dialog-TrainingSet.csv", "section_text", 195),
        ("aci-bench/train.csv", "note", 67),
    ):
        with (SHARED / path).open(encoding="utf-8", newline="") as file:
            found = languages(sample(row[column] for row in csv.DictReader(file)))
        assert found["en"] >= least
        assert not set(found) - {"en", "und"}
        assert not_english(found) is None


@pytest.mark.skipif(not (SHARED / "multileg").is_dir(), reason="the real MultiLeg is not here")
def test_real_legal_english_with_foreign_names_is_english() -> None:
    paths = sorted((SHARED / "multileg").glob("*.jsonl"))
    texts = [json.loads(line)["text"] for path in paths for line in path.read_text("utf-8").splitlines()]
    found = languages(sample(texts))
    assert found["en"] >= 180
    assert not_english(found) is None

"""Stand-ins for corpora that can't be shipped: seeded, in each source's own raw format.

What stands in them is invented: grammars (grammar_*.yaml), names and streets from Faker, and telephone numbers, mail
domains and network addresses from ranges reserved for documentation.
"""

import json
import random
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import quoteattr

from phidrift.core.errors import PhidriftError
from phidrift.core.files import whole_folder, write_lines, write_text
from phidrift.core.progress import progress
from phidrift.core.text import tokens
from phidrift.corpora.grammar import Grammar, expand, load_grammar
from phidrift.corpora.source import RawSpan
from phidrift.corpora.splitting import seeded_key

NOTE_TOKENS = (500, 1000)
_POOL = 500  # draws from Faker a pool
_FILES = 30  # court documents
_ELEMENTS = {
    "NAME": ("PATIENT", "DOCTOR", "USERNAME"),
    "LOCATION": ("HOSPITAL", "CITY", "STATE", "STREET", "ZIP", "COUNTRY", "ORGANIZATION"),
    "CONTACT": ("PHONE", "FAX", "EMAIL"),
    "ID": ("MEDICALRECORD", "ID"),
    "DATE": ("DATE",),
    "AGE": ("AGE",),
    "PROFESSION": ("PROFESSION",),
}
_ELEMENT_OF = {label: element for element, labels in _ELEMENTS.items() for label in labels}


def write_standins(folder: Path, seed: int, i2b2: tuple[int, int], multileg: int, ai4privacy: int) -> None:
    """Writes `folder`/{i2b2,multileg,ai4privacy}, each whole and with a STANDIN file that says what it is.

    `i2b2` is (train, test) records, the others are documents. The same seed gives the same bytes, and each
    corpus depends on the seed and its own size alone.
    """
    work: list[tuple[str, str, Callable[[Path], None]]] = [
        ("i2b2", "i2b2 2014 (invented notes)", lambda path: _write_i2b2(path, seed, *i2b2)),
        ("multileg", "MultiLeg (invented paragraphs)", lambda path: _write_multileg(path, seed, multileg)),
        (
            "ai4privacy",
            "Ai4Privacy 200k (invented messages)",
            lambda path: _write_ai4privacy(path, seed, ai4privacy),
        ),
    ]
    with progress("stand-ins", len(work)) as advance:
        for name, what, write in work:
            with whole_folder(folder / name) as temporary:
                write(temporary)
                write_text(
                    temporary / "STANDIN", f"A stand-in for {what}, seed {seed}: not the corpus itself.\n"
                )
            advance(1)


def source_grammar(name: str, seed: int) -> dict[str, list[str]]:
    """The grammar of a source over the shared one, with seeded pools from Faker."""
    return {**_pools(name, seed), **load_grammar("shared"), **load_grammar(name)}


def _pools(name: str, seed: int) -> dict[str, list[str]]:
    from faker import Faker

    # Court documents name people from all over Europe, with letters outside ASCII.
    locales = {"multileg": ["en_GB", "de_DE", "fr_FR"]}.get(name, ["en_US"])
    draw = [Faker(locale) for locale in locales]
    american, british = Faker("en_US"), Faker("en_GB")
    for position, faker in enumerate([*draw, american, british]):
        faker.seed_instance(f"{seed}:{name}:{position}")
    turns = [draw[turn % len(draw)] for turn in range(_POOL)]
    drawn: dict[str, list[str]] = {
        "first": [faker.first_name() for faker in turns],
        "last": [faker.last_name() for faker in turns],
        "female": [faker.first_name_female() for faker in turns],
        "male": [faker.first_name_male() for faker in turns],
        "street_name": [american.street_name() for _ in range(_POOL)],
        "invented_city": [american.city() for _ in range(_POOL)],
        "state": [american.state() for _ in range(_POOL)],
        "state_abbr": [american.state_abbr(include_territories=False) for _ in range(_POOL)],
        "county": [british.county() for _ in range(_POOL)],
        "company": [american.company() for _ in range(_POOL)],
        "job": [british.job().split(",")[0].split(" (")[0].lower() for _ in range(_POOL)],
    }
    return {pool: sorted(set(values)) for pool, values in drawn.items()}


def _random(seed: int, name: str) -> random.Random:
    return random.Random(int(seeded_key(seed, name), 16))


# i2b2: records of 1-3 a patient, patients of train and test disjoint -----------------------------------------------


def _write_i2b2(folder: Path, seed: int, train: int, test: int) -> None:
    rng, grammar = _random(seed, "i2b2"), source_grammar("i2b2", seed)
    patients = iter(rng.sample(range(100, 100 + 2 * (train + test) + 400), train + test))
    for split, wanted in (("train", train), ("test", test)):
        (folder / split).mkdir()
        written = 0
        while written < wanted:
            patient = next(patients)
            person = _patient(grammar, _random(seed, f"i2b2-{patient}"))
            for record in range(1, min(rng.choice((1, 1, 2, 3)), wanted - written) + 1):
                text, spans = _note({**grammar, **person}, _random(seed, f"i2b2-{patient}-{record}"))
                write_text(folder / split / f"{patient}-{record:02d}.xml", i2b2_xml(text, spans))
                written += 1


def _patient(grammar: Grammar, rng: random.Random) -> dict[str, list[str]]:
    woman = rng.random() < 0.5
    hospital = rng.choice(
        (f"{rng.choice(grammar['last'])} Hospital", f"{rng.choice(grammar['real_city'])} Medical Center")
    )
    year = rng.randrange(2072, 2096)
    years = [year] * 6 + list(range(year - 12, year))  # most dates of a note lie near the record's
    return {
        "pfirst": [rng.choice(grammar["female" if woman else "male"])],
        "plast": [rng.choice(grammar["last"])],
        "dfirst": [rng.choice(grammar["first"])],
        "dlast": [rng.choice(grammar["last"])],
        "year": [str(number) for number in years],
        "year2": [str(number % 100) for number in years],
        "hospital": [hospital],
        "hospital_short": ["".join(word[0] for word in hospital.split())],
        "he": ["She" if woman else "He", "The patient", "Pt"],
        "he_small": ["she" if woman else "he", "the patient"],
        "his_small": ["her" if woman else "his"],
        "woman": ["woman", "female", "F"] if woman else ["man", "male", "M"],
        "mr": ["Ms." if woman else "Mr."],
        "mrn": [str(rng.randrange(1_000_000, 9_999_999))],
        "age": [str(rng.randrange(24, 89))],
    }


def _note(grammar: Grammar, rng: random.Random) -> tuple[str, list[RawSpan]]:
    low, high = NOTE_TOKENS
    for _ in range(200):
        text, spans = expand("{note}", grammar, rng)
        if low <= len(tokens(text)) <= high:
            return text, spans
    raise PhidriftError(f"the note grammar writes no note of {low} to {high} tokens")


def i2b2_xml(text: str, spans: list[RawSpan]) -> str:
    """One record in the i2b2 2014 layout."""
    tags = []
    for number, span in enumerate(spans):
        element = _ELEMENT_OF[span.label]
        surface = quoteattr((span.surface or "").replace("\n", " "))
        tags.append(
            f'<{element} id="P{number}" start="{span.start}" end="{span.end}" text={surface} '
            f'TYPE="{span.label}" comment="" />\n'
        )
    head = '<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n'
    return f"{head}<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{''.join(tags)}</TAGS>\n</deIdi2b2>\n"


# MultiLeg: court documents of uneven length, a paragraph a line ----------------------------------------------------


def _write_multileg(folder: Path, seed: int, paragraphs: int) -> None:
    rng, grammar = _random(seed, "multileg"), source_grammar("multileg", seed)
    files = min(_FILES, paragraphs)
    shares = [1.0 + rng.random() for _ in range(files)]
    bounds = [round(paragraphs * sum(shares[:n]) / sum(shares)) for n in range(files + 1)]
    names = sorted(rng.sample(range(100_000, 299_999), files))
    for name, low, high in zip(names, bounds, bounds[1:], strict=False):
        lines = []
        for number in range(low, high):
            text, spans = expand("{paragraph}", grammar, _random(seed, f"multileg-{number}"))
            label = [[span.start, span.end, span.label] for span in spans]
            lines.append(json.dumps({"text": text, "label": label}, ensure_ascii=False))
        write_lines(folder / f"{name}_en.jsonl", lines)


# Ai4Privacy: one message a line, the shape of english_pii_43k.jsonl without its token columns -----------------------


def _write_ai4privacy(folder: Path, seed: int, messages: int) -> None:
    grammar = source_grammar("ai4privacy", seed)
    lines = []
    for number in range(messages):
        text, spans = expand("{message}", grammar, _random(seed, f"ai4privacy-{number}"))
        lines.append(json.dumps(ai4privacy_row(number + 1, text, spans), ensure_ascii=False))
    write_lines(folder / "english_pii_43k.jsonl", lines)


def ai4privacy_row(number: int, text: str, spans: list[RawSpan]) -> dict[str, object]:
    """One row of the 200k release."""
    target, position = "", 0
    stretches: list[list[object]] = []
    for span in spans:
        if position < span.start:
            stretches.append([position, span.start, "O"])
        stretches.append([span.start, span.end, span.label])
        target += f"{text[position : span.start]}[{span.label}]"
        position = span.end
    if position < len(text):
        stretches.append([position, len(text), "O"])
    return {
        "source_text": text,
        "target_text": target + text[position:],
        "privacy_mask": [
            {"value": span.surface, "start": span.start, "end": span.end, "label": span.label}
            for span in spans
        ],
        "span_labels": json.dumps(stretches),
        "id": number,
        "language": "en",
        "set": "train",
    }

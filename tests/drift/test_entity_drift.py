"""Entity-level drift by hand, and on bad input."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from phidrift.core import text as units
from phidrift.core.document import Document, Span
from phidrift.drift.entities import entity_drift, marked_words, size_matched

NUMBERS = ("surface_jaccard", "seen_share", "length_diff", "density_diff", "context_jsd")


def document(marked, name="d"):
    """A document from text with spans written {PERSON|Ann Lee}."""
    text, spans = "", []
    while "{" in marked:
        before, rest = marked.split("{", 1)
        inner, marked = rest.split("}", 1)
        label, surface = inner.split("|", 1)
        text += before
        spans.append(Span(len(text), len(text) + len(surface), label))
        text += surface
    return Document(name, text + marked, tuple(spans))


def test_every_number_by_hand():
    reference = [
        document("Seen by Dr. {PERSON|Ann Lee} on {DATE|3 May 2020} at noon."),
        document("{PERSON|ann\n lee} and {PERSON|Bo} came."),
    ]
    candidate = [document("Then by {PERSON|BO}, {PERSON|Bo} and {PERSON|Cy van Dam} left.")]
    person = entity_drift(reference, candidate)["PERSON"]
    # Strings: {ann lee, bo} and {bo, cy van dam}: 1 of 3; two of the candidate's three mentions are "bo".
    assert person.surface_jaccard == pytest.approx(1 / 3)
    assert person.seen_share == pytest.approx(2 / 3)
    # Tokens of mentions: 2 + 2 + 1 in three; 1 + 1 + 3 in three.
    assert (person.reference_length, person.candidate_length, person.length_diff) == (5 / 3, 5 / 3, 0)
    # Tokens of text: Seen by Dr . Ann Lee on 3 May 2020 at noon . = 13, ann lee and Bo came . = 6;
    # Then by BO , Bo and Cy van Dam left . = 11.
    assert person.reference_density == pytest.approx(300 / 19)
    assert person.candidate_density == pytest.approx(300 / 11)
    assert person.density_diff == pytest.approx(300 / 11 - 300 / 19)
    # Context, reference. Ann Lee: seen by dr | on (3, May inside a span). ann lee: and, (Bo), came. Bo: (ann lee) and,
    # came. So seen 1, by 1, dr 1, on 1, and 2, came 2.
    # Candidate. BO: then by | (Bo) and (Cy). Bo: then by (BO) | and (Cy van). Cy van Dam: (BO Bo) and | left.
    # So then 2, by 2, and 3, left 1.
    words = ["seen", "by", "dr", "on", "and", "came", "then", "left"]
    a = [1, 1, 1, 1, 2, 2, 0, 0]
    b = [0, 2, 0, 0, 3, 0, 2, 1]
    assert len(words) == len(a) == len(b)
    assert person.context_jsd == pytest.approx(jensenshannon(a, b, base=2) ** 2)
    assert person.reasons == {}


def test_an_entity_without_mentions_on_a_side():
    drift = entity_drift([document("On {DATE|3 May} seen.")], [document("Nothing here.")])
    date = drift["DATE"]
    assert (date.surface_jaccard, date.seen_share, date.length_diff, date.context_jsd) == (None,) * 4
    assert (date.reference_length, date.candidate_length) == (2, None)
    assert date.candidate_density == 0  # observed: three tokens, none of them a date
    assert date.density_diff == pytest.approx(100 / 5)
    assert date.reasons == dict.fromkeys(
        ("surface_jaccard", "seen_share", "length_diff", "context_jsd", "candidate_length"),
        "no DATE span in the candidate",
    )
    assert drift["PERSON"].reasons["context_jsd"] == "no PERSON span in the reference"


BAD = {
    "empty": ([], "no labelled document in the candidate"),
    "unlabelled": ([Document("u", "Ann Lee came", None)], "no labelled document in the candidate"),
    "blank": ([Document("b", " \n\t", ())], "no PERSON span in the candidate"),
    "no text": ([Document("b", "", ())], "no PERSON span in the candidate"),
    "emoji": ([Document("e", "😀🏥", ())], "no PERSON span in the candidate"),
    "blank span": ([Document("e", "a  b", (Span(1, 3, "PERSON"),))], "no PERSON span in the candidate"),
    "other label": ([document("{ID|17} came")], "no PERSON span in the candidate"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gives_none_and_a_reason(name):
    documents, reason = BAD[name]
    person = entity_drift([document("See {PERSON|Ann} now")], documents)["PERSON"]
    assert person.reasons["surface_jaccard"] == reason
    for number in NUMBERS + tuple(
        f"{side}_{of}" for side in ("reference", "candidate") for of in ("length", "density")
    ):
        assert (getattr(person, number) is None) == (number in person.reasons)


def test_no_tokens_and_no_context_have_their_own_reasons():
    blank = entity_drift([document("See {PERSON|Ann} now")], [Document("b", " ", ())])["PERSON"]
    assert blank.reasons["density_diff"] == "no tokens in the labelled documents of the candidate"
    bare = entity_drift([document("See {PERSON|Ann} now")], [document("{PERSON|Ann} {DATE|3 May}")])["PERSON"]
    assert bare.context_jsd is None
    assert bare.reasons == {"context_jsd": "no words around the mentions of a side"}
    assert bare.surface_jaccard == 1


def test_emoji_and_one_document():
    one = [document("😀 {PERSON|🏥} 😀")]
    person = entity_drift(one, one)["PERSON"]
    assert (person.surface_jaccard, person.seen_share, person.length_diff, person.density_diff) == (
        1,
        1,
        0,
        0,
    )
    assert person.reference_length == 1
    assert person.context_jsd is None


def test_context_does_not_cross_documents_and_counts_for_both_neighbours():
    together = [document("a b c d {DATE|1} e {DATE|2} f g h i")]
    # 1: b c d | e (2) f. 2: (1) e, d | f g h: b1 c1 d2 e2 f2 g1 h1.
    alone = [document("b c d e f g h d e f {DATE|1}"), document("z")]
    # Within three words of the mention: d e f alone.
    date = entity_drift(together, alone)["DATE"]
    expected = jensenshannon([1, 1, 2, 2, 2, 1, 1], [0, 0, 1, 1, 1, 0, 0], base=2) ** 2
    assert date.context_jsd == pytest.approx(expected)


CORPORA = st.lists(
    st.lists(
        st.sampled_from(["saw ", "{PERSON|Ann Lee} ", "{PERSON|bo} ", "on {DATE|3 May} ", "then\n", "😀 "]),
        max_size=8,
    ).map(lambda parts: document("".join(parts))),
    max_size=6,
)


@given(CORPORA, CORPORA, st.randoms())
def test_order_symmetry_and_range(a, b, dice):
    drift, back = entity_drift(a, b), entity_drift(b, a)
    assert entity_drift(dice.sample(a, len(a)), dice.sample(b, len(b))) == drift
    for entity, one in drift.items():
        for number in NUMBERS:
            value = getattr(one, number)
            assert (value is None) == (number in one.reasons)
            assert value is None or 0 <= value <= (1 if "_diff" not in number else float("inf"))
            if number != "seen_share":
                assert value == pytest.approx(getattr(back[entity], number))


@given(CORPORA)
def test_a_corpus_against_itself(corpus):
    for one in entity_drift(corpus, corpus[::-1]).values():
        assert one.surface_jaccard in (None, 1)
        assert one.seen_share in (None, 1)
        assert one.length_diff in (None, 0)
        assert one.density_diff in (None, 0)
        assert one.context_jsd in (None, 0)
    assert size_matched(corpus, corpus[::-1], 3)[0] == size_matched(corpus[::-1], corpus, 3)[1]


def test_size_matching_takes_whole_documents_in_an_order_of_its_own():
    large = [
        document(f"note {number} of {{PERSON|Ann}} here", f"l{number}") for number in range(40)
    ]  # 5 tokens each
    small = [document("only {PERSON|Bo} came today", f"s{number}") for number in range(5)]  # 20 tokens in all
    unlabelled = [Document("u", "many words " * 50, None)]
    drawn, whole = size_matched(large, small + unlabelled, seed=1)
    assert len(drawn) == 4  # 20 tokens
    assert sorted(d.id for d in whole) == [f"s{number}" for number in range(5)]
    assert size_matched(random.Random(0).sample(large, 40), small, seed=1)[0] == drawn
    assert size_matched(large, small, seed=2)[0] != drawn
    assert size_matched(large, [], seed=1) == ([], [])


@given(st.text(st.sampled_from("aB3ßñ_ .\n😀\ud800İ"), max_size=30), st.integers(-3, 30), st.integers(-3, 40))
def test_marked_words_are_the_words(text, start, end):
    found = marked_words(text, [(start, end)])
    assert [word.word for word in found] == units.words(text)
    for word in found:
        assert text[word.start : word.end].casefold() == word.word
        assert word.inside == any(start <= place < end for place in range(word.start, word.end))

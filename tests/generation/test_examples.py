from samples import sample

from phidrift.generation.examples import draw_examples, example_pool, under_cap

TAIL = "was seen today with a mild cough."


def test_the_cap_counts_case_folded_strings():
    # "lee" twice reaches a cap of 2; the third and the double one would pass it.
    samples = [
        sample(0, f"Mr. <PERSON>Lee</PERSON> {TAIL}"),
        sample(1, f"Mr. <PERSON>LEE</PERSON> {TAIL}"),
        sample(2, f"Mr. <PERSON>lee</PERSON> {TAIL}"),
        sample(3, f"Ms. <PERSON>Cho</PERSON> and <PERSON>Cho</PERSON> and <PERSON>Cho</PERSON> {TAIL}"),
        sample(4, f"He {TAIL}", positive=False),
    ]
    assert [s.id for s in under_cap(samples, 2)] == ["PERSON-0", "PERSON-1", "PERSON-4"]


def test_only_well_judged_samples_of_the_entity_and_polarity():
    samples = [
        sample(0, f"Mr. <PERSON>A Lee</PERSON> {TAIL}", score=2.0),
        sample(1, f"Mr. <PERSON>B Lee</PERSON> {TAIL}", score=4.0),
        sample(2, f"Mr. <PERSON>C Lee</PERSON> {TAIL}", score=None),
        sample(3, f"He {TAIL}", positive=False, score=5.0),
        sample(4, f"On <DATE>3 May</DATE> he {TAIL}", entity="DATE", score=5.0),
    ]
    assert [s.id for s in example_pool(samples, "PERSON", True, 3.0, 10)] == ["PERSON-1"]
    # The median of 2 and 4 is 3; the 5 of other kinds doesn't count.
    assert [s.id for s in example_pool(samples, "PERSON", True, "q0.5", 10)] == ["PERSON-1"]
    assert example_pool([], "PERSON", True, "q0.5", 10) == []


def test_draws_are_seeded_and_without_repetition():
    pool = [sample(n, f"Mr. <PERSON>L{n}</PERSON> {TAIL}") for n in range(20)]
    first = draw_examples(pool, 3, "a")
    assert first == draw_examples(pool, 3, "a")
    assert first != draw_examples(pool, 3, "b")
    assert len({s.id for s in first}) == 3
    assert len(draw_examples(pool[:2], 3, "a")) == 2

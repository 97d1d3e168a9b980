"""Reading what other stages wrote, and the main figures."""

import json
from pathlib import Path

import pytest

from phidrift.analysis.correlation import Resampling, correlate
from phidrift.analysis.scores import Score, read_drift, read_scores
from phidrift.analysis.summary import (
    ABLATION_COLUMNS,
    AblationRow,
    ablation_points,
    ablation_rows,
    mean_f1,
    pairs_learnt,
    read_ablation,
    summarize,
)
from phidrift.core.errors import PhidriftError
from phidrift.core.files import write_csv

CELL = {"f1": 0.5, "f1_low": 0.4, "f1_high": 0.6, "support": 9, "in_distribution": True, "trained": True}
DRIFT_HEAD = "set,source,size,entity,target,metric,family,direction,value,reason\n"


def score(source: str, target: str, f1: float | None, entity: str = "DATE") -> Score:
    return Score(f"{source}-9", source, 9, entity, target, f1, None, None, 5, source == target, True, None)


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    path = tmp_path / "ai-9.json"
    cell = {name: value for name, value in CELL.items() if name != "support"}
    path.write_text(
        json.dumps({"set": "ai-9", "source": "ai", "size": 9, "entities": {"DATE": {"ai": cell}}})
    )
    with pytest.raises(PhidriftError, match=r"ai-9\.json, entities\.DATE\.ai: field 'support' is missing"):
        read_scores(path)
    with pytest.raises(PhidriftError, match="no such file"):
        read_scores(tmp_path / "other.json")


def test_an_undefined_score_keeps_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "ai-9.json"
    cells = {"ai": CELL, "law": {**CELL, "f1": None, "reason": "no spans"}, "syn": {**CELL, "f1": None}}
    path.write_text(json.dumps({"set": "ai-9", "source": "ai", "size": 9, "entities": {"DATE": cells}}))
    scores = read_scores(path)
    assert [(s.target, s.f1) for s in scores] == [("ai", 0.5), ("law", None), ("syn", None)]
    assert scores[1].reason == "no spans"
    assert scores[2].reason  # never undefined without one


def test_drift_values(tmp_path: Path) -> None:
    path = tmp_path / "drift.csv"
    start = "ai-9,ai,9,DATE,law"
    path.write_text(
        f"{DRIFT_HEAD}{start},mmd,semantic,higher_is_more_drift,0.25,\n"
        f"{start},vocab_overlap,lexical,higher_is_more_alike,,empty corpus\n"
    )
    first, second = read_drift(path)
    assert (first.value, first.alike, first.key) == (0.25, False, ("ai-9", "DATE", "law"))
    assert (second.value, second.alike, second.reason) == (None, True, "empty corpus")


@pytest.mark.parametrize("value", ["nan", "inf", "much"])
def test_a_value_that_is_no_number_is_refused_with_its_line(tmp_path: Path, value: str) -> None:
    path = tmp_path / "drift.csv"
    path.write_text(f"{DRIFT_HEAD}ai-9,ai,9,DATE,law,mmd,semantic,higher_is_more_drift,{value},\n")
    with pytest.raises(PhidriftError, match=r"drift\.csv:2"):
        read_drift(path)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = tmp_path / "drift.csv"
    path.write_text("set,source,size,entity,target,metric,family,value\n")
    with pytest.raises(PhidriftError, match="column 'direction' is missing"):
        read_drift(path)


def test_the_shipped_ablation_table_has_the_columns() -> None:
    path = Path(__file__).parents[2] / "metrics/ablation.csv"
    assert path.read_text(encoding="utf-8").splitlines()[0] == ",".join(ABLATION_COLUMNS)
    read_ablation(path)


def test_the_ablation_table_survives_a_round_trip(tmp_path: Path) -> None:
    made = Score("ablation", "ablation", 80, "DATE", "i2b2", 0.25, None, None, 9, False, True, None)
    undefined = Score("ablation", "ablation", 80, "DATE", "syn", None, None, None, 0, True, True, "no spans")
    rows = ablation_rows([made, undefined, score("ai", "i2b2", 0.9)], 0.4, 3.0, "all", "multileg")
    path = tmp_path / "ablation.csv"
    write_csv(
        path, ABLATION_COLUMNS, ({name: getattr(row, name) for name in ABLATION_COLUMNS} for row in rows)
    )
    assert read_ablation(path) == rows
    assert [(row.judge_threshold, row.f1) for row in rows] == [("3.0", 0.25), ("3.0", None)]


def test_ablation_means_leave_out_what_was_mixed() -> None:
    # Mean of ai 0.2 and i2b2 0.4 only: multileg and syn are mixed in, at every mixture alike.
    f1 = {"ai": 0.2, "i2b2": 0.4, "multileg": 0.9, "syn": 0.8}
    rows = [
        AblationRow(m, "q0", "all", "multileg", 80, "DATE", t, v, 9, False)
        for m in (1.0, 0.0)
        for t, v in f1.items()
    ]
    rows.append(AblationRow(1.0, "q0", "all", "multileg", 80, "PERSON", "ai", None, 0, False))
    points = ablation_points(rows)
    assert [(p.mixture, p.entity, p.targets) for p in points] == [
        (0.0, "DATE", ("ai", "i2b2")),
        (1.0, "DATE", ("ai", "i2b2")),
    ]
    assert [p.ood_f1 for p in points] == pytest.approx([0.3, 0.3])


def test_means_and_pairs_learnt() -> None:
    scores = [
        score("ai", "ai", 0.8),
        score("ai", "law", 0.1),
        score("ai", "syn", None),
        score("syn", "syn", 0.2),
        score("syn", "law", 0.3),
        score("ai", "ai", 0.31, entity="PERSON"),
        score("ai", "law", 0.5, entity="PERSON"),
    ]
    means = mean_f1(scores, ["CONTACT", "DATE", "PERSON"])
    # In: DATE (0.8 + 0.2) / 2, PERSON 0.31, all (0.8 + 0.2 + 0.31) / 3. Out: DATE (0.1 + 0.3) / 2, PERSON 0.5.
    assert means["in_distribution"] == pytest.approx(
        {"CONTACT": None, "DATE": 0.5, "PERSON": 0.31, "all": 1.31 / 3}
    )
    assert means["out_of_distribution"] == pytest.approx(
        {"CONTACT": None, "DATE": 0.2, "PERSON": 0.5, "all": 0.3}
    )
    assert pairs_learnt(scores) == (2, 3)  # ai DATE and ai PERSON, not syn DATE

    summary = summarize(scores, [], correlate([], ["mmd"], Resampling(5, 5, 0)), ["DATE", "PERSON"])
    assert (summary["in_distribution_pairs_above_0_3"], summary["in_distribution_pairs"]) == (2, 3)
    assert (summary["best_metric"], summary["best_metric_pearson"]) == (None, None)

"""Strict entity-level F1 on character spans, for Hugging Face evaluate; rules of phidrift.tagging.scores."""

# evaluate reads the imports line by line: one a line.
import datasets
import evaluate

from phidrift.tagging import scores

_DESCRIPTION = """
Precision, recall and F1 of predicted character spans, each 0 to 1, higher is better. A span is right if a gold span of
the same document has the same start and end; counts are summed over documents. Undefined scores are None.
"""
_INPUTS = """
Args:
    predictions: for each document, a list of [start, end] in code points, end exclusive.
    references: the gold spans, in the same form.
Returns:
    precision, recall, f1 (each a number or None), tp, fp, fn, support.
Example:
    >>> metric.compute(predictions=[[[0, 4], [10, 12], [20, 24]]], references=[[[0, 4], [10, 14]]])["f1"]
    0.4
"""


class StrictSpanF1(evaluate.Metric):  # type: ignore[misc]
    """See the module's text."""

    def _info(self) -> evaluate.MetricInfo:
        spans = datasets.List(datasets.List(datasets.Value("int64")))
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": spans, "references": spans}),
        )

    def _compute(
        self, predictions: list[list[list[int]]], references: list[list[list[int]]]
    ) -> dict[str, float | int | None]:
        tp = fp = fn = 0
        for said, wanted in zip(predictions, references, strict=True):
            hits, false, missed = scores.strict_counts(_bounds(wanted), _bounds(said))
            tp, fp, fn = tp + hits, fp + false, fn + missed
        return {
            "precision": scores.precision(tp, fp),
            "recall": scores.recall(tp, fn),
            "f1": scores.f1(tp, fp, fn),
            "tp": tp,
            "fp": fp,
            "fn": fn,
            "support": tp + fn,
        }


def _bounds(spans: list[list[int]]) -> list[tuple[int, int]]:
    return [(start, end) for start, end in spans]
